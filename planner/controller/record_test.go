package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

func TestPlanIsRecorded(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	first := plan("prepare-node", "GlusterNode/ns/n1", "node/n1", "i1")
	second := plan("join-node", "GlusterNode/ns/n1", "node/n1", "i2")
	second.After = []string{"i1"}
	second.Plan.Locks = []string{"pool"}
	w.plan = once(planner.Decision{Plan: []planner.Planned{first, second}})
	w.cycle()
	ops := w.open()
	if len(ops) != 2 {
		t.Fatalf("%d operations are open, want 2", len(ops))
	}
	same(t, "plans are appended in order, with the ids of those they come after", "after", ops[1].Plan.After, []journal.OpID{ops[0].ID})
	same(t, "the journal says who decided", "actor", ops[0].PlannedBy, "planner")
	cur := w.cluster().Status.CurrentOperation
	if cur == nil || cur.ID != ops[0].ID.String() || cur.State != v1alpha1.OperationPlanned {
		t.Errorf("the operation planned in this cycle is shown already: %+v", cur)
	}
}

func TestIdentityIsDurableBeforeThePlan(t *testing.T) {
	w := newWorld(t, clusterObject(), volumeObject("v1"))
	w.plan = once(planner.Decision{PoolID: testPool, VolumeIDs: map[string]string{"v1": testVolume},
		Plan: []planner.Planned{plan("bootstrap-pool", "GlusterCluster/ns/c1", "cluster/c1", "i1")}})
	var order []string
	w.refuse = func(verb string, _ object) error {
		order = append(order, fmt.Sprintf("%s with %d operations", verb, len(w.open())))
		return nil
	}
	w.cycle()
	got := strings.Join(order, "\n")
	for _, want := range []string{"apply(anthill-identity) GlusterCluster/c1 with 0 operations", "apply(anthill-identity) GlusterVolume/v1 with 0 operations"} {
		if !strings.Contains(got, want) {
			t.Errorf("an identity must be in status before the plan is in the journal; want %q in:\n%s", want, got)
		}
	}
	same(t, "then the plan is appended", "operations", len(w.open()), 1)
	same(t, "the pool is identified", "pool id", w.cluster().Status.PoolID, testPool)
	same(t, "the volume is identified", "volume id", get(w, &v1alpha1.GlusterVolume{}, "v1").Status.VolumeID, testVolume)
	w.plan = func(s planner.Snapshot) planner.Decision {
		same(t, "an identity that is there is not made anew", "new pool id", s.NewPoolID, "")
		same(t, "an identity that is there is not made anew", "new volume ids", s.NewVolumeIDs, map[string]string{})
		same(t, "operations of the pool are seen", "open", len(s.Open), 1)
		return planner.Decision{}
	}
	w.cycle()
	same(t, "later applies of the status keep the identity", "pool id", w.cluster().Status.PoolID, testPool)
	same(t, "later applies of the status keep the identity", "volume id", get(w, &v1alpha1.GlusterVolume{}, "v1").Status.VolumeID, testVolume)
}

func TestIdentityConflictPlansNothing(t *testing.T) {
	w := newWorld(t, clusterObject())
	w.plan = once(planner.Decision{PoolID: testPool, Plan: []planner.Planned{plan("bootstrap-pool", "GlusterCluster/ns/c1", "cluster/c1", "i1")}})
	w.refuse = func(verb string, _ object) error {
		if strings.HasPrefix(verb, "apply(anthill-identity)") {
			return conflict("c1")
		}
		return nil
	}
	res, _ := w.cycle()
	same(t, "a conflict starts a new cycle", "result", res, ctrl.Result{RequeueAfter: again})
	same(t, "nothing is planned with an identity that is not durable", "operations", len(w.open()), 0)
}

func TestIdentityIsWrittenWithAPrecondition(t *testing.T) {
	w := newWorld(t, clusterObject(func(c *v1alpha1.GlusterCluster) { c.Finalizers = []string{v1alpha1.Finalizer} }))
	old := w.cluster()
	c := w.cluster()
	c.Labels = map[string]string{"changed": "meanwhile"}
	if err := w.client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.r.client = oldReads{Client: w.client, cluster: old}
	w.plan = once(planner.Decision{PoolID: testPool, Plan: []planner.Planned{plan("bootstrap-pool", "GlusterCluster/ns/c1", "cluster/c1", "i1")}})
	res, _ := w.cycle()
	same(t, "an old picture starts a new cycle", "result", res, ctrl.Result{RequeueAfter: again})
	same(t, "and identifies nothing", "pool id", w.cluster().Status.PoolID, "")
	same(t, "and plans nothing", "operations", len(w.open()), 0)
}

func TestIdentityNeverChanges(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{PoolID: testVolume})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey}); err == nil {
		t.Error("planning with another identity is a fault and must be reported")
	}
	same(t, "the identity stays", "pool id", w.cluster().Status.PoolID, testPool)
}

func TestPlanOfAnotherPoolIsRefused(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	p := plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")
	p.Plan.Scope = testVolume
	w.plan = once(planner.Decision{Plan: []planner.Planned{p}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey}); err == nil {
		t.Error("a plan for another pool is a fault and must be reported")
	}
	same(t, "nothing of it is appended", "operations", len(w.open()), 0)
}

func TestSupersedeAndCancel(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{Plan: []planner.Planned{
		plan("set-options", "GlusterVolume/ns/v1", "volume/v1", "i1"), plan("join-node", "GlusterNode/ns/n1", "node/n1", "i2"),
	}})
	w.cycle()
	waiting, running := w.open()[0].ID, w.open()[1].ID
	w.append(running, fact(t, journal.OpStarted, "", nil))

	next := plan("set-options", "GlusterVolume/ns/v1", "volume/v1", "i3")
	next.Plan.Supersedes = []journal.OpID{waiting}
	w.plan = once(planner.Decision{
		Supersede: []planner.Ending{{Op: waiting, Reason: "the options changed"}},
		Cancel:    []planner.Ending{{Op: running, Reason: "the node is no longer wanted"}},
		Plan:      []planner.Planned{next},
	})
	before := w.journal.Head().Seq
	w.cycle()
	same(t, "a decision is one append", "events", w.journal.Head().Seq-before, journal.Seq(3))
	old, err := w.view.Op(waiting)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what had not started is superseded", "state", old.State, view.Superseded)
	same(t, "and says by what and why", "decision", *old.Decision, journal.Decision{Reason: "the options changed", By: w.open()[1].ID})
	same(t, "what runs is asked to stop", "state", w.open()[0].State, view.Cancelling)
	same(t, "the new plan is there", "intent", w.open()[1].Plan.Intent, "i3")
}

// An operation that has started ends in the append that plans what takes its
// place, however large the decision is.
func TestTakingOverIsOneAppend(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	first := plan("restart-node", "GlusterNode/ns/n1", "node/n1", "i1")
	first.Plan.Steps = []journal.Step{{ID: "restart", Name: "restart@1", Stage: journal.Pivot}, {ID: "ready", Name: "ready@1", Stage: journal.Waiting}}
	w.plan = once(planner.Decision{Plan: []planner.Planned{first}})
	w.cycle()
	old := w.open()[0].ID
	w.append(old, fact(t, journal.OpStarted, "", nil), fact(t, journal.StepStarted, "restart", journal.Started{}), fact(t, journal.StepSucceeded, "restart", journal.Succeeded{}))

	d := planner.Decision{Supersede: []planner.Ending{{Op: old, Reason: "another pod is declared now"}}}
	for i := range appendMax - 1 {
		d.Plan = append(d.Plan, plan("prepare-node", fmt.Sprintf("GlusterNode/ns/m%d", i), fmt.Sprintf("node/m%d", i), fmt.Sprintf("m%d", i)))
	}
	for _, intent := range []string{"i2", "i3"} { // one ends it, for both
		next := plan("restart-node", "GlusterNode/ns/n1", "node/n1", intent)
		next.Plan.Supersedes = []journal.OpID{old}
		d.Plan = append(d.Plan, next)
	}
	w.r.opts.IDs = RandomIDs{}
	w.plan = once(d)
	w.cycle()
	op, err := w.view.Op(old)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "it has ended", "state", op.State, view.Superseded)
	same(t, "the rest is planned", "operations", len(w.open()), len(d.Plan))
}

func TestStaleGuardsConflict(t *testing.T) {
	cases := map[string]struct {
		reason string
		decide func(s planner.Snapshot) planner.Decision
	}{
		"OperationMoved": {
			reason: "an operation that moved on since it was looked at is not ended",
			decide: func(s planner.Snapshot) planner.Decision {
				return planner.Decision{Supersede: []planner.Ending{{Op: s.Open[0].ID, Reason: "test"}}}
			},
		},
		"IntentTaken": {
			reason: "an intent that an open operation has is not planned again",
			decide: func(planner.Snapshot) planner.Decision {
				return planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n2", "i1")}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, clusterObject(withPool))
			w.plan = once(planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")}})
			w.cycle()
			id := w.open()[0].ID
			w.plan = func(s planner.Snapshot) planner.Decision {
				d := tc.decide(s)
				w.append(id, fact(t, journal.OpStarted, "", nil)) // meanwhile
				return d
			}
			res, _ := w.cycle()
			same(t, tc.reason, "result", res, ctrl.Result{RequeueAfter: again})
			same(t, tc.reason, "operations", len(w.open()), 1)
			same(t, tc.reason, "state", w.open()[0].State, view.Running)
		})
	}
}

func TestLargeDecisionsAreAppendedInParts(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	var d planner.Decision
	for i := range 2*appendMax + 10 {
		p := plan("prepare-node", fmt.Sprintf("GlusterNode/ns/n%d", i), fmt.Sprintf("node/n%d", i), fmt.Sprintf("i%d", i))
		if i > 0 {
			p.After = []string{fmt.Sprintf("i%d", i-1)}
		}
		d.Plan = append(d.Plan, p)
	}
	w.r.opts.IDs = RandomIDs{}
	w.plan = once(d)
	w.cycle()
	ops := w.open()
	same(t, "nothing is lost between the parts", "operations", len(ops), len(d.Plan))
	for i := 1; i < len(ops); i++ {
		if len(ops[i].Plan.After) != 1 || ops[i].Plan.After[0] != ops[i-1].ID {
			t.Fatalf("operation %d comes after %v, want %s", i, ops[i].Plan.After, ops[i-1].ID)
		}
	}
}

func TestFullJournalIsReported(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.r.journal = fullJournal{w.journal}
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: converged("GlusterCluster/c1"), Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")}}
	}
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey})
	if !errors.Is(err, journal.ErrFull) {
		t.Errorf("the cycle fails, so that it is tried again with back-off: %v", err)
	}
	if b := conditionOf(w.cluster().Status.Conditions, v1alpha1.ConditionBlocked); b.Reason != v1alpha1.ReasonJournalFull {
		t.Errorf("a person must be able to see it: %+v", b)
	}
}

func TestUnknownEndingIsAFault(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{Cancel: []planner.Ending{{Op: journal.OpID{1}, Reason: "test"}}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey}); err == nil {
		t.Error("ending an operation that is not open must be reported")
	}
}
