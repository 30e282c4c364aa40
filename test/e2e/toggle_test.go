package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
	"github.com/gluster/anthill/test/seed"
)

// How many turns TestToggledNodeLeavesNothing takes.
const (
	turnsNormal = 5
	turnsFull   = 20
)

// eventsOfJoin is about how many events it takes from a GlusterNode's creation
// until its server has joined.
const eventsOfJoin = 18

// eventsAfter is about how many follow when the node is deleted again.
const eventsAfter = 8

// R27: 3 -> 4 -> 3 servers before the fourth has joined, with the operator
// killed in between. Either nothing of it is left, on the server or in the pool,
// or the server had been probed and says that it stays.
//
// ANTHILL_TEST_SEED=N replays one turn.
func TestToggledNodeLeavesNothing(t *testing.T) {
	r := begin(t)
	s := take(t, r, 4)[0]
	p := base(t, r)
	fresh := trees(t, []*local.Server{s})
	turns, first := turnsNormal, rand.Uint64N(1<<32)
	if seed.Full() {
		turns = turnsFull
	}
	if given, ok := seed.Given(t); ok {
		turns, first = 1, given
	}
	joined := 0
	for n := first; n < first+uint64(turns); n++ {
		if t.Failed() {
			break
		}
		t.Run(fmt.Sprintf("seed=%d", n), func(t *testing.T) {
			begin(t)
			if toggle(t, r, p, rand.New(rand.NewPCG(n, 27)), s) {
				joined++
			}
			untouched(t, []*local.Server{s}, fresh)
			for _, m := range p.servers(r) {
				if peers := connectedPeers(t, m); len(peers) != 2 {
					t.Errorf("%s sees %d connected peers, want 2", m.Name(), len(peers))
				}
			}
			p.converged(t, r)
			for _, o := range p.ops(t, r) {
				if !o.State.Terminal() {
					t.Errorf("operation %s (%s of %s) is still %s", o.ID, o.Plan.Kind, o.Plan.Target, o.State)
				}
			}
			must(t, r.Operator.Verify(t.Context()))
		})
	}
	t.Logf("%d of %d turns with seeds from %d on had joined", joined, turns, first)
}

// toggle adds a node, takes it away at some moment, kills the operator at two
// others, and waits for the end. It tells whether the server had joined, and
// then detaches it by hand.
func toggle(t *testing.T, r *rig.Rig, p *pool, rng *rand.Rand, s *local.Server) bool {
	t.Helper()
	node := p.node(t, r, 4)
	deleteAt := rng.IntN(eventsOfJoin)
	kills := []int{rng.IntN(deleteAt + 1), deleteAt + rng.IntN(eventsAfter)} // before and after
	t.Logf("the node is deleted after %d events, the operator killed after %d and %d", deleteAt, kills[0], kills[1])
	head, err := r.Operator.Head(t.Context())
	must(t, err)
	must(t, r.Client.Create(t.Context(), node))
	deadline := time.Now().Add(slow)
	for deleted := false; !deleted || len(kills) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("waiting for the events of a join: deleted %v, kills to come %v", deleted, kills)
		}
		seen, over := follow(t, r, head.Seq, node)
		switch {
		case !deleted && (seen >= deleteAt || over):
			must(t, r.Client.Delete(t.Context(), node))
			deleted = true
		case len(kills) > 0 && (seen >= kills[0] || over):
			kills = kills[1:]
			r.Operator.Kill()
			restart(t, r)
		default:
			time.Sleep(5 * time.Millisecond) // between two looks at the journal
		}
	}
	stays := false
	await(t, "the node is gone, or says that it stays", func() string {
		switch err := r.Client.Get(t.Context(), objectKey(node), node); {
		case notFound(err):
			return ""
		case err != nil:
			return err.Error()
		}
		missing := rig.Is(node, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonRemoveNodeNotSupported)
		stays = missing == ""
		return missing
	})
	if !stays {
		return false
	}
	if !probed(p.ops(t, r), node.Name) {
		t.Errorf("the node is said to have joined, and no probe of it is on record")
	}
	for _, m := range append(p.servers(r), s) {
		await(t, m.Name()+" sees three others", func() string {
			if n := len(connectedPeers(t, m)); n != 3 {
				return fmt.Sprintf("it sees %d", n)
			}
			return ""
		})
	}
	await(t, "nothing is open any more", func() string {
		for _, o := range p.ops(t, r) {
			if !o.State.Terminal() {
				return fmt.Sprintf("%s of %s", o.Plan.Kind, o.Plan.Target)
			}
		}
		return ""
	})
	byHand(t, p.servers(r)[0], "peer", "detach", s.Name())
	gone(t, r, node)
	return true
}

// follow counts the events of operations after one, and tells whether there will
// be no more of them.
func follow(t *testing.T, r *rig.Rig, from journal.Seq, node *v1alpha1.GlusterNode) (events int, over bool) {
	t.Helper()
	all, err := r.Operator.Events(t.Context(), from+1)
	must(t, err)
	for _, ev := range all {
		if ev.Op != (journal.OpID{}) {
			events++
		}
	}
	err = r.Client.Get(t.Context(), objectKey(node), node)
	return events, notFound(err) || node.DeletionTimestamp != nil && rig.Is(node, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonRemoveNodeNotSupported) == "" ||
		rig.Is(node, v1alpha1.ConditionAvailable, metav1.ConditionTrue, "") == ""
}

// probed tells whether an operation began to probe a node.
func probed(ops []*view.Op, node string) bool {
	return slices.ContainsFunc(ops, func(o *view.Op) bool {
		return o.Plan.Kind == planner.KindJoinNode && o.Plan.Target == "node/"+node &&
			slices.ContainsFunc(o.Steps, func(s view.Step) bool { return s.Name == planner.StepPeerProbe && s.Attempt > 0 })
	})
}
