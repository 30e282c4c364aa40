package controller

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

// wakes is a work queue that notes what was put in.
type wakes struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	mu   sync.Mutex
	list []string
}

func (q *wakes) Add(r reconcile.Request) { q.note("now " + r.String()) }
func (q *wakes) AddAfter(r reconcile.Request, d time.Duration) {
	q.note(d.String() + " " + r.String())
}

func (q *wakes) note(s string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, s)
}

func (q *wakes) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.list
	q.list = nil
	return out
}

// followed waits until the follower has seen everything.
func followed(t *testing.T, w *world, f *Follower) {
	t.Helper()
	head := w.journal.Head().Seq
	deadline := time.Now().Add(10 * time.Second)
	for f.Seen() < head {
		if time.Now().After(deadline) {
			t.Fatalf("the follower is at event %d, the journal at %d", f.Seen(), head)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestEventsTellOnceWhatHappened(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), nodeObject("n1"), volumeObject("v1"))
	w.cycle()
	f := NewFollower(w.r)
	q := &wakes{}
	if err := f.Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	w.plan = once(planner.Decision{Plan: []planner.Planned{
		plan(planner.KindJoinNode, "GlusterNode/ns/n1", "node/n1", "i1"),
		plan(planner.KindAddBrick, "GlusterVolume/ns/v1", "volume/v1", "i2"),
		plan(planner.KindSetOptions, "GlusterVolume/ns/gone", "volume/gone", "i3"),
	}})
	w.cycle()
	join, add, set := w.open()[0].ID, w.open()[1].ID, w.open()[2].ID
	followed(t, w, f)
	same(t, "what the planner wrote is no news to it", "wakes", q.take(), []string(nil))
	w.append(join, fact(t, journal.OpStarted, "", nil), fact(t, journal.StepStarted, "do", journal.Started{AttemptID: "a"}),
		fact(t, journal.StepSucceeded, "do", journal.Succeeded{}))
	followed(t, w, f)
	same(t, "an operation that goes on is no hurry", "wakes", q.take(), slices.Repeat([]string{"2s ns/c1"}, 3))
	w.append(join, fact(t, journal.OpCompleted, "", journal.Completed{Message: "all see it"}))
	followed(t, w, f)
	same(t, "one that ended is", "wakes", q.take(), []string{"now ns/c1"})
	w.append(add, fact(t, journal.OpStarted, "", nil), fact(t, journal.StepStarted, "do", journal.Started{AttemptID: "b"}),
		fact(t, journal.StepSucceeded, "do", journal.Succeeded{}), fact(t, journal.OpCompleted, "", journal.Completed{Warning: v1alpha1.EventRebalanceIncomplete}))
	w.append(set, fact(t, journal.OpStarted, "", nil), fact(t, journal.OpSuspended, "", journal.Suspended{Cause: "Conflict", Message: "m", Next: "type this"}))
	w.append(set, fact(t, journal.OpAbandoned, "", journal.Decision{Reason: "not needed"}))
	followed(t, w, f)

	var got []string
	for _, e := range w.events.all() {
		for id, name := range map[string]string{join.String(): "JOIN", add.String(): "ADD", set.String(): "SET"} {
			e = strings.ReplaceAll(e, id, name)
		}
		got = append(got, e)
	}
	same(t, "each thing that happened is told once, with the object it is about or its cluster", "events", got, []string{
		"GlusterNode/n1 Normal OperationPlanned: join-node of node/n1 (operation JOIN): node/n1 is missing",
		"GlusterVolume/v1 Normal OperationPlanned: add-brick of volume/v1 (operation ADD): volume/v1 is missing",
		"GlusterCluster/c1 Normal OperationPlanned: set-options of volume/gone (operation SET): volume/gone is missing",
		"GlusterNode/n1 Normal OperationCompleted: join-node of node/n1 (operation JOIN) completed: all see it",
		"GlusterNode/n1 Normal NodeJoined: node/n1: the server is a peer of the pool (operation JOIN)",
		"GlusterVolume/v1 Normal OperationCompleted: add-brick of volume/v1 (operation ADD) completed",
		"GlusterVolume/v1 Normal VolumeExpanded: volume/v1: the volume has more bricks (operation ADD)",
		"GlusterVolume/v1 Warning RebalanceIncomplete: add-brick of volume/v1 (operation ADD) completed",
		"GlusterCluster/c1 Warning OperationSuspended: set-options of volume/gone (operation SET) is suspended, Conflict: m; to go on: type this",
		"GlusterCluster/c1 Warning OperationEnded: set-options of volume/gone (operation SET) was abandoned: not needed",
	})
}

func TestFollowerStartsAtTheHead(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")}})
	w.cycle()
	f := NewFollower(w.r)
	q := &wakes{}
	if err := f.Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	w.append(w.open()[0].ID, fact(t, journal.OpAbandoned, "", journal.Decision{Reason: "r"}))
	followed(t, w, f)
	same(t, "what was in the journal before is not told again", "events", len(w.events.all()), 1)
	same(t, "nor does it wake anybody", "wakes", q.take(), []string{"now ns/c1"})
}
