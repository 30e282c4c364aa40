package crash

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/rig"
)

// kindsAll are the kinds of operations, each with its first step that acts.
var kindsAll = map[string]string{
	planner.KindInstallGate: planner.StepInstallGate, planner.KindBootstrapPool: planner.StepClaimServer,
	planner.KindPrepareNode: planner.StepRegisterDirs, planner.KindJoinNode: planner.StepPeerProbe,
	planner.KindReleaseNode: planner.StepReleaseServer, planner.KindCreateVolume: planner.StepCreateVolume,
	planner.KindAddBrick: planner.StepAddBrick, planner.KindSetOptions: planner.StepSetOption,
	planner.KindDeleteVolume: planner.StepDeleteVolume, "paint-brick": "paint-brick@7", // of a newer release
}

// A state is how an operation got where it is.
type state struct {
	name string
	is   view.OpState
	then []func(op journal.OpID) (journal.Event, error)
}

// opEvent and stepEvent make an event of an operation, and of its only step.
func opEvent(typ journal.Type, data any) func(journal.OpID) (journal.Event, error) {
	return func(op journal.OpID) (journal.Event, error) { return journal.New(typ, op, data) }
}

func stepEvent(typ journal.Type, data any) func(journal.OpID) (journal.Event, error) {
	return func(op journal.OpID) (journal.Event, error) {
		ev, err := journal.New(typ, op, data)
		ev.Step, ev.Attempt = "do", 1
		return ev, err
	}
}

func states() []state {
	started := opEvent(journal.OpStarted, nil)
	acting := stepEvent(journal.StepStarted, journal.Started{AttemptID: "a", Originator: "node-1", Argv: []string{"gluster", "volume", "set", "v", "k", "1"}})
	failed := stepEvent(journal.StepFailed, journal.Failure{Class: "permanent", Error: "it cannot be"})
	because := journal.Decision{Reason: "somebody said so"}
	type list = []func(journal.OpID) (journal.Event, error)
	return []state{
		{"Planned", view.Planned, nil},
		{"Running", view.Running, list{started}},
		{"Acting", view.Running, list{started, acting}},
		{"InDoubt", view.Running, list{started, acting, stepEvent(journal.StepUnknown, journal.Failure{Class: "unknown", Error: "no answer"})}},
		{"Failing", view.Running, list{started, acting, failed}},
		{"Suspended", view.Suspended, list{started, acting, failed, opEvent(journal.OpSuspended, journal.Suspended{Cause: "Conflict", Message: "parked"})}},
		{"Cancelling", view.Cancelling, list{started, opEvent(journal.OpCancelling, because)}},
		{"Completed", view.Completed, list{started, acting, stepEvent(journal.StepSucceeded, journal.Succeeded{}), opEvent(journal.OpCompleted, journal.Completed{})}},
		{"Failed", view.Failed, list{started, acting, failed, opEvent(journal.OpFailed, journal.Failure{Class: "permanent", Error: "it cannot be"})}},
		{"Cancelled", view.Cancelled, list{opEvent(journal.OpCancelled, because)}},
		{"Superseded", view.Superseded, list{opEvent(journal.OpSuperseded, because)}},
		{"Abandoned", view.Abandoned, list{opEvent(journal.OpAbandoned, because)}},
	}
}

// TestPendingOperations starts the operator on a journal with an operation of
// every kind in every state, of a pool nobody knows. It is ready, lists them
// all, and looks after another pool as if they were not there.
func TestPendingOperations(t *testing.T) {
	r := api(t)
	s, err := newSimulation(t.Context(), r, environment.binary, 2, nil)
	if s != nil {
		t.Cleanup(s.close)
	}
	must(t, err)
	explain(t, s.op)
	want, err := pending(t.Context(), s.op.Journal())
	must(t, err)
	must(t, s.declare(t.Context(), append(nodes(1, 2), rig.Cluster(s.ns, cluster))...))
	must(t, s.op.Start())
	must(t, s.op.AwaitReady(within(t, soon)))
	listed, err := s.op.CLI(t.Context(), "journal", "ls", "--all", "--limit", "1000")
	must(t, err)
	for id := range want {
		if !strings.Contains(listed, id.String()) {
			t.Errorf("operation %s is not listed", id)
		}
	}
	must(t, r.AwaitConverged(t.Context(), convergeMax, rig.Cluster(s.ns, cluster)))
	v, err := s.op.View(t.Context())
	must(t, err)
	for id, is := range want {
		op := v.Op(id)
		switch {
		case op == nil:
			t.Errorf("operation %s is lost", id)
		case is.Terminal() && op.State != is:
			t.Errorf("operation %s had ended as %s and is %s", id, is, op.State)
		case op.State != is && (op.State == view.Failed || op.State == view.Completed):
			t.Errorf("operation %s of a pool nobody knows was %s and is %s", id, is, op.State)
		}
	}
	must(t, s.op.Verify(t.Context()))
}

// pending makes the journal and returns its operations with their states.
func pending(ctx context.Context, file string) (map[journal.OpID]view.OpState, error) {
	j, err := journal.Open(ctx, file, journal.Options{})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	if _, err := j.OpenEpoch(ctx, journal.Opened{Instance: "sim/anthill"}); err != nil {
		return nil, err
	}
	out := map[journal.OpID]view.OpState{}
	for kind, step := range kindsAll {
		for _, st := range states() {
			id, err := uuid.NewV7()
			if err != nil {
				return nil, err
			}
			ev, err := journal.New(journal.OpPlanned, id, journal.Plan{
				Kind: kind, Scope: "00000000-0000-4000-8000-00000000dead", Object: "GlusterVolume/nowhere/" + kind,
				Target: kind + "/" + st.name, Intent: fmt.Sprintf("%064x", len(out)), Reason: journal.Reason{Action: "test", Difference: "none"},
				Steps: []journal.Step{{ID: "do", Name: step, Stage: journal.Retriable, Params: []byte(`{}`)}},
			})
			if err != nil {
				return nil, err
			}
			events := []journal.Event{ev}
			for _, f := range st.then {
				ev, err := f(id)
				if err != nil {
					return nil, err
				}
				events = append(events, ev)
			}
			if _, err := j.Append(ctx, journal.Guard{}, events...); err != nil {
				return nil, fmt.Errorf("%s of %s: %w", st.name, kind, err)
			}
			out[id] = st.is
		}
	}
	return out, nil
}
