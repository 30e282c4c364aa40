package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// cancel ends an operation that was asked to stop before its pivot: what is
// done is undone in reverse order, then it ends. Nothing is undone while a
// command of it can still land (I31).
func (l *lane) cancel(ctx context.Context, op *view.Op, n int) time.Duration {
	t := &turn{lane: l, op: op, n: n}
	wait, err := t.cancel(ctx)
	if err != nil {
		if journal.IsConflict(err) || ctx.Err() != nil {
			return 0
		}
		l.e.opts.Log.Error(err, "cancelling failed", "operation", op.ID, "kind", op.Plan.Kind)
		return l.e.backoff(n, time.Second, time.Minute)
	}
	return wait
}

func (t *turn) cancel(ctx context.Context) (time.Duration, error) {
	e := t.lane.e
	if k := t.op.Current(); k < len(t.op.Steps) && inDoubt(&t.op.Steps[k]) {
		if t.op.Steps[k].Stage == journal.Waiting {
			// It only looked: nothing of it can land.
			if err := t.failed(ctx, k, Transient, "Cancelled", errors.New("it is not waited for any more"), 0); err != nil {
				return 0, err
			}
		} else if settled, wait, err := t.overOrDone(ctx, k); err != nil || !settled {
			return wait, err
		}
	}
	for k := len(t.op.Steps) - 1; k >= 0; k-- {
		s := &t.op.Steps[k]
		if s.State != view.Succeeded {
			continue
		}
		spec, ok := e.steps.Lookup(s.Name)
		if !ok {
			return 0, t.park(ctx, k, "VersionUnavailable", "this version of Anthill does not know step "+s.Name, nil)
		}
		undo, ok := spec.Step.(Compensator)
		if !ok {
			continue // leaves nothing
		}
		fence, err := e.opts.Fencer.Ensure(ctx, t.lane.scope)
		if err != nil {
			wait, _, err := t.refused(ctx, k, err)
			return wait, err
		}
		params, err := resolve(t.op, k)
		if err != nil {
			return 0, err
		}
		crash.Here("executor.before-compensate", t.op.Plan.Kind, s.Name)
		c, cancel := context.WithTimeout(ctx, spec.Timeout)
		err = undo.Compensate(c, &Turn{Op: t.op, Step: s, Params: params, Fence: fence, Started: s.Start, Now: e.opts.Clock.Now()})
		cancel()
		if err != nil {
			wait, _, err := t.refused(ctx, k, err)
			return wait, err
		}
		ev, err := t.event(journal.StepCompensated, k, nil)
		if err != nil {
			return 0, err
		}
		if err := t.commit(ctx, ev); err != nil {
			return 0, err
		}
	}
	reason := "cancelled"
	if t.op.Decision != nil {
		reason = t.op.Decision.Reason
	}
	ev, err := journal.New(journal.OpCancelled, t.op.ID, journal.Decision{Reason: reason})
	if err != nil {
		return 0, err
	}
	if err := t.commit(ctx, ev); err != nil {
		return 0, err
	}
	e.note(t.op, "", "", "", time.Time{})
	e.ended(ctx, t.op, view.Cancelled)
	return 0, nil
}

func inDoubt(s *view.Step) bool { return s.State == view.Started || s.State == view.Unknown }

// overOrDone settles the current step of an operation that is being cancelled:
// it is either seen done, and will be undone, or known to be over.
func (t *turn) overOrDone(ctx context.Context, k int) (bool, time.Duration, error) {
	s := &t.op.Steps[k]
	spec, ok := t.lane.e.steps.Lookup(s.Name)
	if !ok {
		return false, 0, t.park(ctx, k, "VersionUnavailable", "this version of Anthill does not know step "+s.Name, nil)
	}
	params, err := resolve(t.op, k)
	if err != nil {
		return false, 0, err
	}
	in := &Turn{Op: t.op, Step: s, Params: params, Started: s.Start, Now: t.lane.e.opts.Clock.Now()}
	obs, err := t.look(ctx, spec, in)
	if err != nil {
		wait, _, err := t.cannotLook(ctx, k, spec, err)
		return false, wait, err
	}
	if obs.Verdict == Done {
		if err := t.succeeded(ctx, k, obs, false, nil); err != nil {
			return false, 0, err
		}
		return true, 0, t.flush(ctx)
	}
	if in.Fence, err = t.lane.e.opts.Fencer.Ensure(ctx, t.lane.scope); err != nil {
		wait, _, err := t.refused(ctx, k, err)
		return false, wait, err
	}
	over, message := true, ""
	if settler, ok := spec.Step.(Settler); ok {
		if over, message, err = settler.Over(ctx, in); err != nil {
			over, message = false, err.Error()
		}
	}
	if !over {
		wait := t.lane.e.backoff(t.n, spec.Poll, 30*time.Second)
		t.lane.e.note(t.op, s.ID, "OutcomeUnknown", "cancelling waits: "+message, in.Now.Add(wait))
		return false, wait, nil
	}
	// What was seen is older than that.
	if obs, err = t.look(ctx, spec, in); err != nil {
		wait, _, err := t.cannotLook(ctx, k, spec, err)
		return false, wait, err
	}
	switch obs.Verdict {
	case Done:
		if err := t.succeeded(ctx, k, obs, false, nil); err != nil {
			return false, 0, err
		}
		return true, 0, t.flush(ctx)
	case NotDone:
		return true, 0, t.failed(ctx, k, Transient, "Cancelled", errors.New("over without effect"), 0)
	}
	wait := t.lane.e.backoff(t.n, spec.Poll, 30*time.Second)
	t.lane.e.note(t.op, s.ID, "OutcomeUnknown", "cancelling waits: "+obs.Message, in.Now.Add(wait))
	return false, wait, nil
}

// Refused says why a decision of a person, or of the planner, was not taken.
type Refused struct{ Text string }

func (r *Refused) Error() string { return r.Text }

func refusef(format string, args ...any) error { return &Refused{Text: fmt.Sprintf(format, args...)} }

// IsRefused reports whether err is a Refused.
func IsRefused(err error) bool {
	var r *Refused
	return errors.As(err, &r)
}
