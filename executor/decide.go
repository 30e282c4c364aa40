package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// What follows from what was seen. Retry, back-off and parking are decided
// here and nowhere else.

// failuresMax is how often a step may fail for a passing reason before a person
// is asked; with the back-off that is about half an hour.
const failuresMax = 40

func outputOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Output
	}
	return ""
}

// judge decides about an attempt whose effect was not seen right after Act.
// resent: an earlier attempt may still land, and be the reason for the error.
func (t *turn) judge(ctx context.Context, k int, spec Spec, resent bool, obs Observation, probeErr, actErr error, receipt []byte) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	class, reason := Class(""), ""
	if actErr != nil {
		class, reason = ClassOf(actErr, true)
	}
	switch {
	case probeErr != nil:
		if c, _ := ClassOf(probeErr, false); c == Fenced {
			return 0, false, t.fencedOff(ctx, k, probeErr)
		}
		return spec.Poll, false, t.unknown(ctx, k, fmt.Errorf("after the step: %w", errors.Join(actErr, probeErr)))
	case obs.Verdict == Conflict:
		if noEffect(class) && !resent { // what is in the way is not of this attempt: it can be cancelled
			if err := t.failed(ctx, k, class, reason, actErr, 0); err != nil {
				return 0, false, err
			}
		}
		return 0, false, t.park(ctx, k, "Conflict", obs.Message, actErr)
	case obs.Verdict == InProgress:
		if len(obs.Receipt) == 0 {
			obs.Receipt = receipt
		}
		return t.inProgress(ctx, k, spec, obs)
	case obs.Verdict == NotDone && (class == Transient || class == Busy):
		lo, hi := time.Second, time.Minute
		if class == Busy { // the lock of another transaction: it is short-lived and no failure
			lo, hi = 500*time.Millisecond, 10*time.Second
		}
		wait := e.backoff(s.Failures, lo, hi)
		if err := t.failed(ctx, k, class, reason, actErr, wait); err != nil {
			return 0, false, err
		}
		if class == Transient && t.op.Steps[k].Failures >= failuresMax {
			return 0, false, t.park(ctx, k, "KeepsFailing", actErr.Error(), actErr)
		}
		e.note(t.op, s.ID, reason, actErr.Error(), e.opts.Clock.Now().Add(wait))
		return wait, false, nil
	case obs.Verdict == NotDone && class == Permanent && !resent:
		if err := t.failed(ctx, k, class, reason, actErr, 0); err != nil {
			return 0, false, err
		}
		return 0, false, t.park(ctx, k, reason, actErr.Error(), actErr)
	case actErr == nil:
		return spec.Poll, false, t.unknown(ctx, k, errors.New("the command succeeded but its effect is not seen: "+obs.Message))
	default:
		return spec.Poll, false, t.unknown(ctx, k, actErr)
	}
}

// noEffect reports whether an error of this class says that nothing was changed,
// nor will be.
func noEffect(c Class) bool { return c == Transient || c == Busy || c == Permanent }

// settle decides whether a new attempt may be made of a step whose last one has
// no known outcome and whose effect is not seen.
func (t *turn) settle(ctx context.Context, k int, spec Spec, in *Turn) (settlement, time.Duration, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	if spec.Safety == AtMostOnce {
		return holdBack, 0, t.park(ctx, k, "NeedsDecision", "step "+s.ID+" may have happened and cannot be told by looking", nil)
	}
	over, message := true, ""
	if settler, ok := spec.Step.(Settler); ok {
		var err error
		if over, message, err = settler.Over(ctx, in); err != nil {
			if c, _ := ClassOf(err, false); c == Fenced {
				return holdBack, 0, t.fencedOff(ctx, k, err)
			}
			over, message = false, err.Error()
		}
	}
	if over {
		return settled, 0, nil
	}
	// The same command may be sent again; wait first, it may still be under way.
	wait := e.backoff(t.n, spec.Poll, 30*time.Second)
	if t.n < resendAfter {
		e.note(t.op, s.ID, "OutcomeUnknown", message, in.Now.Add(wait))
		return holdBack, wait, t.flush(ctx)
	}
	return sendAgain, 0, nil
}

// A settlement is what is known of an attempt that had no outcome.
type settlement int

const (
	holdBack  settlement = iota // wait and look again
	settled                     // it is over: it has had its effect, or never will
	sendAgain                   // it may still land; the same command may be sent again
)

// resendAfter is how many looks in a row must find an attempt neither done nor
// over before its command is sent again.
const resendAfter = 3

// inProgress keeps a wait going: the deadline is written once, receipts when
// they change, progress when it is worth it.
func (t *turn) inProgress(ctx context.Context, k int, spec Spec, obs Observation) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	now := e.opts.Clock.Now()
	if s.Stage == journal.Waiting && s.State == view.Pending && t.op.State != view.Suspended {
		started := journal.Started{AttemptID: fmt.Sprintf("%s.%s.%d", t.op.ID, s.ID, s.Attempt+1),
			Deadline: now.Add(spec.MaxWait).UnixNano(), Baseline: obs.Baseline}
		if err := t.begin(ctx, k, started); err != nil {
			return 0, false, err
		}
		s = &t.op.Steps[k]
	}
	if len(obs.Receipt) > 0 && string(obs.Receipt) != string(s.Receipt) && s.State != view.Pending {
		if err := t.record(ctx, k, obs.Receipt); err != nil {
			return 0, false, err
		}
		s = &t.op.Steps[k]
	}
	if err := t.progress(ctx, k, obs, now); err != nil {
		return 0, false, err
	}
	wait := t.again(spec)
	e.note(t.op, s.ID, "Waiting", obs.Message, now.Add(wait))
	if t.late(k, spec, now) {
		return 0, false, t.park(ctx, k, "DeadlineExceeded", "after "+spec.MaxWait.String()+": "+obs.Message, nil)
	}
	if t.op.State == view.Suspended {
		return e.backoff(t.n, 10*time.Second, idle), false, nil
	}
	return wait, false, t.flush(ctx)
}

// again is when to look again at what is under way: soon at first, since most of
// it is over soon, and every spec.Poll after some looks.
func (t *turn) again(spec Spec) time.Duration {
	return t.lane.e.backoff(t.n, max(spec.Poll/8, pollMin), spec.Poll)
}

// pollMin is what a look may cost the servers at most.
const pollMin = 100 * time.Millisecond

// progress writes at most one event per 30 seconds, and only when something
// moved.
func (t *turn) progress(ctx context.Context, k int, obs Observation, now time.Time) error {
	s := &t.op.Steps[k]
	if s.State == view.Pending || obs.Message == "" || t.op.State == view.Suspended {
		return nil
	}
	if s.Progress != nil && (s.Progress.Message == obs.Message || now.Sub(s.ProgressAt) < 30*time.Second) {
		return nil
	}
	if s.Progress == nil && now.Sub(s.StartedAt) < 30*time.Second {
		return nil
	}
	ev, err := t.event(journal.StepProgress, k, journal.Progress{Percent: obs.Percent, Message: obs.Message})
	if err != nil {
		return err
	}
	return t.commit(ctx, ev)
}

// late reports whether a step has been waited for too long. Who lets a parked
// operation go on lets it wait once more.
func (t *turn) late(k int, spec Spec, now time.Time) bool {
	s := &t.op.Steps[k]
	if t.op.State == view.Suspended || s.Start == nil || s.State == view.Pending {
		return false
	}
	if t.op.Resumed.After(s.StartedAt) {
		return now.Sub(t.op.Resumed) > spec.MaxWait
	}
	if s.Start.Deadline != 0 {
		return now.UnixNano() > s.Start.Deadline
	}
	return now.Sub(s.StartedAt) > spec.MaxWait
}

// unseen: it cannot be told now.
func (t *turn) unseen(ctx context.Context, k int, spec Spec, obs Observation) (time.Duration, bool, error) {
	return t.cannotLook(ctx, k, spec, Errorf(Transient, "Unseen", "%s", obs.Message))
}

// cannotLook: nothing is decided without looking. Waits are bounded by the
// step's deadline if it has started; else the operation just waits.
func (t *turn) cannotLook(ctx context.Context, k int, spec Spec, cause error) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	class, reason := ClassOf(cause, false)
	switch class {
	case Fenced:
		return 0, false, t.fencedOff(ctx, k, cause)
	case Permanent:
		return 0, false, t.park(ctx, k, reason, cause.Error(), cause)
	}
	now := e.opts.Clock.Now()
	wait := e.backoff(t.n, spec.Poll, 30*time.Second)
	e.note(t.op, s.ID, reason, cause.Error(), now.Add(wait))
	if t.late(k, spec, now) {
		return 0, false, t.park(ctx, k, "DeadlineExceeded", "after "+spec.MaxWait.String()+": "+cause.Error(), cause)
	}
	return wait, false, t.flush(ctx)
}

// refused: a guard, or the fence, holds the step back. Nothing was done.
func (t *turn) refused(ctx context.Context, k int, cause error) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	class, reason := ClassOf(cause, false)
	switch class {
	case Fenced:
		return 0, false, t.fencedOff(ctx, k, cause)
	case Permanent:
		return 0, false, t.park(ctx, k, reason, cause.Error(), cause)
	}
	if reason == ReasonFenceIncomplete {
		t.lane.fenced(t.lane.fence, reason, cause.Error())
	}
	wait := e.backoff(t.n, 2*time.Second, 30*time.Second)
	e.note(t.op, s.ID, reason, cause.Error(), e.opts.Clock.Now().Add(wait))
	return wait, false, t.flush(ctx)
}

// fencedOff: somebody else owns the pool. What is known is written, the lane
// stops, and nothing is tried again in this epoch.
func (t *turn) fencedOff(ctx context.Context, k int, cause error) error {
	e := t.lane.e
	_, reason := ClassOf(cause, false)
	e.opts.Metrics.Fenced.Inc()
	t.lane.stop(reason, cause.Error())
	err := t.unknown(ctx, k, cause)
	e.opts.Log.Error(cause, "fenced: another operator owns the pool; this one stops acting on it", "scope", t.lane.scope)
	if reason == ReasonSucceeded {
		e.opts.Fatal(cause)
	}
	return err
}

func (l *lane) fenced(fence uint64, reason, text string) {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	l.fence, l.fenceReason, l.fenceText = fence, reason, text
}

func (l *lane) stop(reason, text string) {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	l.stopped, l.fenceReason, l.fenceText = true, reason, text
}

// Reasons of fencing.
const (
	ReasonFenceIncomplete = "FenceIncomplete"      // a connected member could not be fenced yet
	ReasonOtherInstance   = "OwnedByOtherInstance" // another operator instance owns the pool
	ReasonSucceeded       = "TakenOver"            // another process of this instance has a higher fence
)
