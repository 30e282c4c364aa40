package executor

import (
	"context"
	"fmt"
	"strings"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A Decision is what a person asks of an operation. Every one is an event with
// a name and a reason; none edits anything.
type Decision struct {
	Verb    string // retry, resolve, cancel, abandon
	Op      journal.OpID
	Step    string // resolve
	Outcome string // resolve: done, not-done
	Person  string
	Reason  string
	Version uint64 // of the operation as the person saw it; 0: do not check
}

// Decide takes a decision or says why not (Refused).
func (e *Engine) Decide(ctx context.Context, d Decision) (string, error) {
	return Decide(ctx, e.log, e.state, e.epoch, d)
}

// Decide is Engine.Decide without an engine, for a journal nobody works on.
func Decide(ctx context.Context, l Log, s State, epoch journal.Epoch, d Decision) (string, error) {
	if strings.TrimSpace(d.Reason) == "" {
		return "", refusef("a reason is required")
	}
	op, err := s.Op(d.Op)
	if err != nil {
		return "", err
	}
	if d.Version != 0 && d.Version != op.Ver {
		return "", refusef("operation %s is at version %d by now, not %d: look again", op.ID, op.Ver, d.Version)
	}
	now, err := s.Snapshot()
	if err != nil {
		return "", err
	}
	ev, said, err := decide(op, now.Open, d)
	if err != nil {
		return "", err
	}
	ev.Actor = "person:" + d.Person
	_, err = l.Append(ctx, journal.Guard{Epoch: epoch, OpVer: map[journal.OpID]uint64{op.ID: op.Ver}}, ev)
	return said, err
}

func decide(op *view.Op, open []*view.Op, d Decision) (journal.Event, string, error) {
	why := journal.Decision{Reason: d.Reason}
	switch d.Verb {
	case "retry":
		return retry(op, open, why)
	case "resolve":
		return resolveStep(op, d, why)
	case "cancel":
		return cancelOp(op, why)
	case "abandon":
		return abandon(op, why)
	}
	return journal.Event{}, "", refusef("unknown decision %q: retry, resolve, cancel or abandon is accepted", d.Verb)
}

func retry(op *view.Op, open []*view.Op, why journal.Decision) (journal.Event, string, error) {
	switch {
	case op.State == view.Suspended:
		if o := conflicts(op, open); o != nil {
			return journal.Event{}, "", refusef("%s of %s holds a lock this operation needs; retry when it has ended (operation %s)",
				o.Plan.Kind, o.Plan.Target, o.ID)
		}
		ev, err := journal.New(journal.OpResumed, op.ID, why)
		return ev, "resumed", err
	case op.State == view.Abandoned:
		why.Intent, why.By = op.Plan.Intent, op.ID
		ev, err := journal.New(journal.IntentReleased, journal.OpID{}, why)
		return ev, "the planner may plan it again", err
	case op.State.Terminal():
		return journal.Event{}, "", refusef("operation %s has ended (%s); if something is still to be done the planner plans a new one", op.ID, op.State)
	}
	return journal.Event{}, "", refusef("operation %s is %s: only a suspended or abandoned one can be retried", op.ID, op.State)
}

func resolveStep(op *view.Op, d Decision, why journal.Decision) (journal.Event, string, error) {
	if d.Outcome != "done" && d.Outcome != "not-done" {
		return journal.Event{}, "", refusef("outcome %q: done or not-done is accepted", d.Outcome)
	}
	k := op.Current()
	if op.State.Terminal() || k == len(op.Steps) || op.Steps[k].ID != d.Step {
		return journal.Event{}, "", refusef("step %q of operation %s is not the one that is open", d.Step, op.ID)
	}
	if !inDoubt(&op.Steps[k]) || op.Steps[k].Stage == journal.Waiting {
		return journal.Event{}, "", refusef("the outcome of step %q is not in doubt", d.Step)
	}
	why.Outcome = d.Outcome
	ev, err := journal.New(journal.StepResolved, op.ID, why)
	ev.Step, ev.Attempt = d.Step, op.Steps[k].Attempt
	return ev, "step " + d.Step + " settled as " + d.Outcome, err
}

// Cancellable says why an operation cannot be cancelled; nil if it can.
func Cancellable(op *view.Op) error {
	switch {
	case op.State.Terminal():
		return refusef("operation %s has ended (%s)", op.ID, op.State)
	case op.State == view.Cancelling:
		return refusef("operation %s is being cancelled already", op.ID)
	case op.PastPivot():
		return refusef("operation %s has passed the point from which it can only go forward", op.ID)
	}
	return nil
}

func cancelOp(op *view.Op, why journal.Decision) (journal.Event, string, error) {
	if err := Cancellable(op); err != nil {
		return journal.Event{}, "", err
	}
	if op.State == view.Planned {
		ev, err := journal.New(journal.OpCancelled, op.ID, why)
		return ev, "cancelled; nothing had been done", err
	}
	ev, err := journal.New(journal.OpCancelling, op.ID, why)
	return ev, "is being cancelled: what was done is undone first", err
}

func abandon(op *view.Op, why journal.Decision) (journal.Event, string, error) {
	if op.State != view.Suspended && op.State != view.Planned {
		return journal.Event{}, "", refusef("operation %s is %s: only a planned or suspended one can be abandoned; cancel it, or wait until it is parked", op.ID, op.State)
	}
	if k := op.Current(); k < len(op.Steps) && inDoubt(&op.Steps[k]) && op.Steps[k].Stage != journal.Waiting {
		return journal.Event{}, "", refusef("a command of step %q may still take effect: settle it first with: anthill journal resolve %s/%s --done|--not-done --reason '...'",
			op.Steps[k].ID, op.ID, op.Steps[k].ID)
	}
	ev, err := journal.New(journal.OpAbandoned, op.ID, why)
	return ev, fmt.Sprintf("abandoned; the same difference is not planned again until it changes or: anthill journal retry %s --reason '...'", op.ID), err
}
