package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// What a turn writes. Everything that changes the journal in a turn is here.

// opening lets an operation go on that is parked and found to have moved, and
// start that has not yet.
func (t *turn) opening(why string) (events []journal.Event, err error) {
	if t.op.State == view.Suspended {
		ev, err := journal.New(journal.OpResumed, t.op.ID, journal.Decision{Reason: why})
		if err != nil {
			return nil, err
		}
		events = append(events, ev)
	}
	if t.op.Started.IsZero() {
		ev, err := journal.New(journal.OpStarted, t.op.ID, nil)
		if err != nil {
			return nil, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// commit writes pending and events in one transaction.
func (t *turn) commit(ctx context.Context, events ...journal.Event) error {
	all := append(t.pending, events...)
	if len(all) == 0 {
		return nil
	}
	if err := t.lane.e.append(ctx, t.op, all...); err != nil {
		return err
	}
	t.pending = nil
	fresh, err := t.lane.e.state.Op(t.op.ID)
	if err != nil {
		return err
	}
	*t.op = *clone(fresh)
	return nil
}

// flush writes what is pending.
func (t *turn) flush(ctx context.Context) error { return t.commit(ctx) }

func (t *turn) event(typ journal.Type, k int, data any) (journal.Event, error) {
	ev, err := journal.New(typ, t.op.ID, data)
	ev.Step, ev.Attempt = t.op.Steps[k].ID, t.op.Steps[k].Attempt
	return ev, err
}

// succeeded notes that step k is done. It is written with what follows, if
// that follows at once.
func (t *turn) succeeded(ctx context.Context, k int, obs Observation, adopted bool, receipt json.RawMessage) error {
	s := &t.op.Steps[k]
	if len(obs.Receipt) > 0 {
		receipt = obs.Receipt
	}
	if len(receipt) == 0 {
		receipt = s.Receipt
	}
	open, err := t.opening("step " + s.ID + " was found done")
	if err != nil {
		return err
	}
	ev, err := t.event(journal.StepSucceeded, k, journal.Succeeded{Adopted: adopted, Receipt: receipt, Message: obs.Message})
	if err != nil {
		return err
	}
	e := t.lane.e
	e.opts.Log.Info("step done", "operation", t.op.ID, "kind", t.op.Plan.Kind, "target", t.op.Plan.Target, "step", s.ID,
		"adopted", adopted, "message", obs.Message)
	if len(t.pending) == 0 {
		t.began = e.opts.Clock.Now()
	}
	t.pending = append(t.pending, append(open, ev)...)
	s.State, s.Receipt, s.Message, s.Adopted = view.Succeeded, receipt, obs.Message, adopted
	if len(open) > 0 {
		t.op.State, t.op.Started = view.Running, e.opts.Clock.Now()
	}
	return nil
}

// begin makes the intent of an attempt durable. An outcome that has been
// waiting too long for it is written first and alone.
func (t *turn) begin(ctx context.Context, k int, started journal.Started) error {
	if len(t.pending) > 0 && t.lane.e.opts.Clock.Now().Sub(t.began) > hold {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	open, err := t.opening("step " + t.op.Steps[k].ID + " goes on")
	if err != nil {
		return err
	}
	t.op.Steps[k].Attempt++
	ev, err := t.event(journal.StepStarted, k, started)
	if err != nil {
		return err
	}
	crash.Here("executor.before-intent", t.op.Plan.Kind, t.op.Steps[k].Name)
	return t.commit(ctx, append(open, ev)...)
}

// record makes a receipt durable while its effect is under way.
func (t *turn) record(ctx context.Context, k int, receipt json.RawMessage) error {
	ev, err := t.event(journal.StepReceipt, k, journal.Receipt{Receipt: receipt})
	if err != nil {
		return err
	}
	return t.commit(ctx, ev)
}

// failed notes that the attempt is over and had no effect.
func (t *turn) failed(ctx context.Context, k int, class Class, reason string, cause error, retry time.Duration) error {
	e := t.lane.e
	f := journal.Failure{Class: string(class), Error: cause.Error(), Output: outputOf(cause)}
	if retry > 0 {
		f.RetryAt = e.opts.Clock.Now().Add(retry).UnixNano()
	}
	e.opts.Metrics.StepErrors.WithLabelValues(t.op.Steps[k].Name, string(class)).Inc()
	e.opts.Log.Info("step failed", "operation", t.op.ID, "kind", t.op.Plan.Kind, "step", t.op.Steps[k].ID,
		"class", class, "reason", reason, "error", cause.Error())
	ev, err := t.event(journal.StepFailed, k, f)
	if err != nil {
		return err
	}
	return t.commit(ctx, ev)
}

// unknown notes, once, that the attempt may have had its effect.
func (t *turn) unknown(ctx context.Context, k int, cause error) error {
	s := &t.op.Steps[k]
	if s.State != view.Started {
		return t.flush(ctx)
	}
	t.lane.e.opts.Metrics.StepErrors.WithLabelValues(s.Name, string(Uncertain)).Inc()
	ev, err := t.event(journal.StepUnknown, k, journal.Failure{Class: string(Uncertain), Error: cause.Error(), Output: outputOf(cause)})
	if err != nil {
		return err
	}
	return t.commit(ctx, ev)
}

// park suspends the operation with its cause and the command that goes on.
func (t *turn) park(ctx context.Context, k int, cause, message string, errs error) error {
	if t.op.State == view.Suspended {
		return t.flush(ctx)
	}
	s := &t.op.Steps[k]
	susp := journal.Suspended{Cause: cause, Message: message, Attempts: s.Attempt, Next: nextCommand(t.op, s, cause)}
	if s.First != nil {
		susp.First = s.First.Error
	}
	if s.Failure != nil {
		susp.Last = s.Failure.Error
	}
	if errs != nil {
		susp.Last = errs.Error()
		if susp.First == "" {
			susp.First = susp.Last
		}
	}
	ev, err := journal.New(journal.OpSuspended, t.op.ID, susp)
	if err != nil {
		return err
	}
	t.lane.e.opts.Log.Info("operation suspended", "operation", t.op.ID, "kind", t.op.Plan.Kind, "target", t.op.Plan.Target,
		"step", s.ID, "reason", cause, "message", message, "next", susp.Next)
	return t.commit(ctx, ev)
}

func nextCommand(op *view.Op, s *view.Step, cause string) string {
	if cause == "NeedsDecision" {
		return "anthill journal resolve " + op.ID.String() + "/" + s.ID + " --done|--not-done --reason '...'"
	}
	return "anthill journal retry " + op.ID.String() + " --reason '...'"
}
