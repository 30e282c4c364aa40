package pods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/narration"
	"github.com/gluster/anthill/test/rig"
)

// other is the instance that another installation would be.
const other = "elsewhere/anthill-operator"

// Of several operators one acts. A second one waits, for the journal's lock or
// for the Lease, and says so. It takes over when the first one's host is cut off
// in the middle of an operation, and finishes what is wanted; the first one ends
// by itself, and what it might still send is refused by the servers. Another
// installation's operator touches nothing and says what would let it.
func TestOneOfSeveralOperatorsActs(t *testing.T) {
	ns := mine("several")
	s := killable(t, ns)
	// Nothing of the pool is on the host that is cut off.
	disks, err := s.disks(t.Context(), ns, 0, 2, 2)
	must(t, err)
	p := try(t, s, ns, disks, s.Env.Node(3))
	must(t, p.sound(t.Context()))
	head := s.head(t, operatorPod)

	b := s.second(t, ns)
	b.waitsForTheLock(t)
	must(t, b.start(t.Context()))
	b.waits(t, "waiting for the lease")
	if now := s.head(t, operatorPod); now != head {
		t.Errorf("the journal of the one that acts went from event %d to %d because another one waits", head, now)
	}
	if n := s.head(t, b.ref); n > 1 {
		t.Errorf("the one that waits has %d events in its journal, want no more than that it was made", n)
	}

	first := p.anchor(t)
	p.takenOver(t, b)
	second := p.anchor(t)
	if second.Fence <= first.Fence || second.JournalID == first.JournalID || second.Instance != first.Instance {
		t.Errorf("after %+v the pool belongs to %+v; want a higher fence, of another journal of the same instance", first, second)
	}
	p.refusesLower(t, first)

	lease, err := s.Env.Client().CoordinationV1().Leases(operatorPod.Namespace).Get(t.Context(), "anthill-operator", metav1.GetOptions{})
	must(t, err)
	must(t, s.Env.Node(1).Restore(t.Context()))
	s.saysItLost(t)
	acting, err := s.Operator.Pod(t.Context())
	must(t, err)
	if ended := acting.Status.ContainerStatuses[0].LastTerminationState.Terminated; ended == nil || ended.FinishedAt.After(lease.Spec.AcquireTime.Time) {
		t.Errorf("the first operator ended as %+v, the second one began at %v", ended, lease.Spec.AcquireTime)
	}
	p.calm(t, "another operator taking over")
	p.backToTheFirst(t, b)
	p.refusesOther(t, b)
	must(t, p.sound(t.Context()))
	p.end(t)
	if _, err := s.Operator.CLI(t.Context(), "journal", "verify"); err != nil {
		t.Error(err)
	}
	must(t, p.Client.Delete(t.Context(), Volume(ns, pool, "meanwhile", 1)))
	p.clear(t)
	must(t, s.forget(t.Context(), ns))
}

// anchor says who owns the pool.
func (p *trial) anchor(t *testing.T) v1alpha1.Anchor {
	t.Helper()
	must(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(p.c), p.c))
	if p.c.Status.Anchor == nil {
		t.Fatal("nobody owns the pool")
	}
	return *p.c.Status.Anchor
}

// takenOver cuts the first operator off in the middle of a growth, and waits
// until the second one has finished it and what was declared meanwhile.
func (p *trial) takenOver(t *testing.T, b *copycat) {
	t.Helper()
	follow := narration.After(p.head(t, operatorPod)).Again(t.Context(), narration.New(t.Output()), p.Operator.Follow)
	defer follow.Stop()
	middle := follow.When("step.started", "rebalance")
	must(t, p.Change(t.Context(), p.v, func() { p.v.Spec.Layout.Replicate.Sets = 2 }))
	must(t, middle(t.Context(), slow))
	must(t, p.Env.Node(1).Cut(t.Context()))
	t.Log("the first operator's host is off the network")
	pod := b.pod(t, b.ref)
	must(t, p.Await(t.Context(), slow, pod, func() string { return notReady(pod) }))
	must(t, p.Client.Create(t.Context(), Volume(p.ns, pool, "meanwhile", 1)))
	must(t, p.AwaitConverged(t.Context(), slow, Volume(p.ns, pool, "meanwhile", 1)))
	p.grown(t)
}

// grown waits until the volume has its second set, and fails if it was added
// more than once.
func (p *trial) grown(t *testing.T) {
	t.Helper()
	must(t, p.AwaitConverged(t.Context(), slow, p.v))
	must(t, p.Await(t.Context(), slow, p.v, func() string {
		if up := p.v.Status.BricksUp; up == nil || *up != 6 {
			return fmt.Sprintf("bricks up: %v", up)
		}
		return ""
	}))
	added := 0
	for _, commands := range p.changes(t) {
		for _, c := range commands {
			if c.Success && strings.HasPrefix(c.Text, "volume add-brick "+volume) {
				added++
			}
		}
	}
	if added != 1 {
		t.Errorf("bricks were added %d times, want once", added)
	}
	apart(t, p.Site, p.ns)
}

// refusesLower sends every server what an operator with an earlier fence would
// send, the way it would.
func (p *trial) refusesLower(t *testing.T, a v1alpha1.Anchor) {
	t.Helper()
	nodes, err := p.nodes(t.Context())
	must(t, err)
	for i := range nodes {
		request, err := json.Marshal(gate.Request{
			Version: gate.ProtocolVersion, Verb: gate.Run, Pool: p.c.Status.PoolID, Instance: a.Instance, Fence: uint64(a.Fence), //nolint:gosec // never negative
			Attempt: uuid.NewString(), Deadline: time.Minute, Argv: []string{"gluster", "--xml", "--mode=script", "volume", "set", volume, "user.late", "yes"},
		})
		must(t, err)
		out, err := p.Env.ExecWith(t.Context(), p.container(nodes[i].Name), bytes.NewReader(request), gate.BinaryPath)
		var exit *cluster.ExitError
		if !errors.As(err, &exit) || exit.Code != gate.ExitFenced {
			t.Errorf("%s took a command with fence %d: %v", nodes[i].Name, a.Fence, err)
			continue
		}
		reply, err := gate.Decode(bytes.NewReader(out))
		must(t, err)
		if reply.Reason != gate.ReasonLowerFence {
			t.Errorf("%s refused a command with fence %d as %s: %s", nodes[i].Name, a.Fence, reply.Reason, reply.Error)
		}
	}
}

// saysItLost waits until the first operator is back, waits for the Lease, and
// its log has why it ended.
func (s *Site) saysItLost(t *testing.T) {
	t.Helper()
	must(t, (&trial{Site: s}).until(t.Context(), "the first operator says that it lost its Lease", func(ctx context.Context) error {
		last, err := s.Env.Client().CoreV1().Pods(operatorPod.Namespace).GetLogs(operatorPod.Pod,
			&corev1.PodLogOptions{Container: operatorPod.Container, Previous: true}).DoRaw(ctx)
		if err != nil {
			return err
		}
		if !bytes.Contains(last, []byte("leader election lost")) {
			said := lines(last)
			return fmt.Errorf("the one before said at last: %s", strings.Join(said[max(0, len(said)-3):], "\n"))
		}
		return nil
	}))
	(&copycat{site: s}).podWaits(t, operatorPod, "waiting for the lease")
}

// backToTheFirst stops the second operator. The first one, whose journal has an
// operation open that the other one has finished, goes on.
func (p *trial) backToTheFirst(t *testing.T, b *copycat) {
	t.Helper()
	open := 0
	for _, op := range p.operations(t) {
		if op.Kind == "add-brick" && op.State == "running" {
			open++
		}
	}
	if open != 1 {
		t.Errorf("the first operator's journal has %d add-brick operations that run, want the one it was cut off in", open)
	}
	must(t, b.stop(t.Context()))
	must(t, p.Operator.AwaitReady(t.Context(), slow, ""))
	must(t, p.until(t.Context(), "the first operator's journal has nothing open", func(context.Context) error {
		for _, op := range p.operations(t) {
			if op.State != "completed" && op.State != "superseded" {
				return fmt.Errorf("%s %s is %s", op.Kind, op.Target, op.State)
			}
		}
		return nil
	}))
	p.grown(t)
}

// refusesOther lets an operator of another instance run in the place of the
// first one.
func (p *trial) refusesOther(t *testing.T, b *copycat) {
	t.Helper()
	must(t, p.scale(t.Context(), 0))
	changes, anchor := p.changes(t), p.anchor(t)
	must(t, b.start(t.Context(), "--instance="+other))
	must(t, p.Await(t.Context(), slow, p.c, func() string {
		if s := rig.Is(p.c, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonOwnedByOtherInstance); s != "" {
			return s
		}
		if m := rig.Message(p.c, v1alpha1.ConditionBlocked); !strings.Contains(m, v1alpha1.AnnotationTakeOver+"="+anchor.Instance) || !strings.Contains(m, other) {
			return "blocked: " + m
		}
		return ""
	}))
	t.Logf("another instance's operator says: %s", rig.Message(p.c, v1alpha1.ConditionBlocked))
	// Not even what is declared while it is the only one.
	must(t, p.Change(t.Context(), p.v, func() { p.v.Spec.Options["user.note"] = "later" }))
	must(t, p.Await(t.Context(), slow, p.v, func() string {
		if p.v.Status.ObservedGeneration != p.v.Generation {
			return "it has not looked at the volume"
		}
		return ""
	}))
	if now := p.anchor(t); now != anchor {
		t.Errorf("the pool belongs to %+v, it belonged to %+v", now, anchor)
	}
	p.untouched(t, changes)
	must(t, b.stop(t.Context()))
	must(t, p.scale(t.Context(), 1))
	must(t, p.AwaitConverged(t.Context(), slow, p.v))
	must(t, p.until(t.Context(), "what was declared meanwhile is so", func(ctx context.Context) error {
		v, err := p.gluster(NodeName(pool, 0)).VolumeInfo(ctx, volume)
		if err == nil && (len(v) != 1 || v[0].Options["user.note"] != "later") {
			err = fmt.Errorf("the volume is %+v", v)
		}
		return err
	}))
	must(t, p.Await(t.Context(), slow, p.c, func() string {
		return rig.Is(p.c, v1alpha1.ConditionBlocked, metav1.ConditionFalse, "")
	}))
}
