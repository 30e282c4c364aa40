package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

func TestConditions(t *testing.T) {
	id := journal.OpID{1}
	op := func(state view.OpState) *view.Op {
		p := plan("add-brick", "GlusterVolume/ns/v1", "volume/v1", "i").Plan
		return &view.Op{ID: id, Plan: p, State: state, Steps: []view.Step{{Step: p.Steps[0], State: view.Pending}},
			Suspended: &journal.Suspended{Cause: "Conflict", Message: "somebody was there", Next: "anthill journal retry X"}}
	}
	findings := []planner.Finding{
		{Object: "GlusterVolume/v1", Type: v1alpha1.ConditionProgressing, Status: "True", Reason: v1alpha1.ReasonPlanning, Message: "soon"},
		{Object: "GlusterVolume/v1", Type: v1alpha1.ConditionBlocked, Status: "False", Reason: v1alpha1.ReasonNothingBlocks},
		{Object: "GlusterVolume/v2", Type: v1alpha1.ConditionBlocked, Status: "True", Reason: "Other"},
	}
	type short struct{ Status, Reason, Message string }
	cases := map[string]struct {
		reason   string
		op       *view.Op
		note     *Note
		findings []planner.Finding
		full     bool
		want     map[string]short
	}{
		"NothingSaid": {
			reason: "all five are there from the first cycle on",
			want: map[string]short{v1alpha1.ConditionAvailable: {"Unknown", "NotYetObserved", ""}, v1alpha1.ConditionBlocked: {"Unknown", "NotYetObserved", ""},
				v1alpha1.ConditionDegraded: {"Unknown", "NotYetObserved", ""}, v1alpha1.ConditionProgressing: {"Unknown", "NotYetObserved", ""},
				v1alpha1.ConditionSpecAccepted: {"Unknown", "NotYetObserved", ""}},
		},
		"Planned": {
			reason: "what was planned in this cycle is more than what planning could say", findings: findings, op: op(view.Planned),
			want: map[string]short{v1alpha1.ConditionProgressing: {"True", "OperationRunning", "add-brick of volume/v1"}},
		},
		"Queued": {
			reason: "waiting for a lock is told apart", findings: findings, op: op(view.Planned), note: &Note{"WaitingForLock", "waits for join-node of node/n4"},
			want: map[string]short{v1alpha1.ConditionProgressing: {"True", "OperationQueued", "add-brick of volume/v1: waits for join-node of node/n4"}},
		},
		"Running": {
			reason: "the step is named, and what it waits for", findings: findings, op: op(view.Running), note: &Note{"Waiting", "2 of 3 servers"},
			want: map[string]short{v1alpha1.ConditionProgressing: {"True", "OperationRunning", "add-brick of volume/v1, step do: 2 of 3 servers"},
				v1alpha1.ConditionBlocked: {"False", "NothingBlocks", ""}},
		},
		"Suspended": {
			reason: "a parked operation says why and what to type", findings: findings, op: op(view.Suspended),
			want: map[string]short{v1alpha1.ConditionProgressing: {"False", "Blocked", ""},
				v1alpha1.ConditionBlocked: {"True", "OperationSuspended", "add-brick of volume/v1 is suspended (Conflict): somebody was there; to go on: anthill journal retry X"}},
		},
		"JournalFull": {
			reason: "what cannot be planned says so", findings: findings, full: true,
			want: map[string]short{v1alpha1.ConditionBlocked: {"True", "JournalFull", "the journal has no space for new operations; what is open is finished; free disk space or raise the journal's maximum size"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cycle{decision: planner.Decision{Findings: tc.findings}, notes: map[journal.OpID]Note{}, full: tc.full}
			if tc.full {
				c.decision.Plan = make([]planner.Planned, 1)
			}
			if tc.note != nil {
				c.notes[id] = *tc.note
			}
			got := c.conditions(volumeObject("v1"), tc.op, nil, metav1.Now())
			same(t, tc.reason, "number of conditions", len(got), 5)
			for kind, want := range tc.want {
				x := conditionOf(got, kind)
				same(t, tc.reason, kind, short{string(x.Status), x.Reason, x.Message}, want)
				if x.ObservedGeneration != 1 {
					t.Errorf("%s: observedGeneration %d, want 1", kind, x.ObservedGeneration)
				}
			}
		})
	}
}

func TestStuckVolumeDoesNotBlockItsCluster(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), volumeObject("v1"))
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: converged("GlusterCluster/c1", "GlusterVolume/v1")}
	}
	first := once(planner.Decision{Plan: []planner.Planned{plan("add-brick", "GlusterVolume/ns/v1", "volume/v1", "i1")}})
	rest := w.plan
	w.plan = func(s planner.Snapshot) planner.Decision {
		d := first(s)
		d.Findings = rest(s).Findings
		return d
	}
	w.cycle()
	w.append(w.open()[0].ID, fact(t, journal.OpStarted, "", nil), fact(t, journal.OpSuspended, "", journal.Suspended{Cause: "Conflict", Message: "m"}))
	w.cycle()
	v := get(w, &v1alpha1.GlusterVolume{}, "v1")
	same(t, "the volume is blocked", "reason", conditionOf(v.Status.Conditions, v1alpha1.ConditionBlocked).Reason, v1alpha1.ReasonOperationSuspended)
	if v.Status.CurrentOperation == nil || v.Status.CurrentOperation.State != v1alpha1.OperationSuspended || !strings.Contains(v.Status.CurrentOperation.Message, "Conflict") {
		t.Errorf("the volume shows its operation and why it is parked: %+v", v.Status.CurrentOperation)
	}
	c := w.cluster()
	same(t, "its cluster is not", "blocked", conditionOf(c.Status.Conditions, v1alpha1.ConditionBlocked).Status, metav1.ConditionFalse)
	if c.Status.CurrentOperation == nil {
		t.Error("but the cluster shows the operation")
	}
}

func TestOperationToShow(t *testing.T) {
	op := func(n byte, state view.OpState, object string) *view.Op {
		return &view.Op{ID: journal.OpID{n}, State: state, First: journal.Seq(n), Plan: journal.Plan{Object: object}}
	}
	cases := map[string]struct {
		reason string
		open   []*view.Op
		all    bool
		want   byte
	}{
		"None":               {reason: "nothing is open"},
		"OtherObject":        {reason: "an operation on another object is not this one's", open: []*view.Op{op(1, view.Running, "GlusterNode/ns/n1")}},
		"AllOfThePool":       {reason: "a cluster shows those of all its objects", open: []*view.Op{op(1, view.Running, "GlusterNode/ns/n1")}, all: true, want: 1},
		"RunningBeforeQueue": {reason: "what runs comes before what waits", open: []*view.Op{op(1, view.Planned, "x"), op(2, view.Running, "x")}, all: true, want: 2},
		"FirstOfQueue":       {reason: "of those that wait the first is next", open: []*view.Op{op(2, view.Planned, "x"), op(1, view.Planned, "x")}, all: true, want: 1},
		"SuspendedLast":      {reason: "a parked one does not hide one that moves", open: []*view.Op{op(1, view.Suspended, "x"), op(2, view.Planned, "x")}, all: true, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cycle{open: tc.open}
			got := c.operationOf(clusterObject(), tc.all)
			if tc.want == 0 {
				if got != nil {
					t.Errorf("%s: got %v", tc.reason, got.ID)
				}
				return
			}
			if got == nil || got.ID != (journal.OpID{tc.want}) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
