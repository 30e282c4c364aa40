package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// turn is one operation's turn in its lane. Outcomes that are known but not
// written yet wait in pending, so that the outcome of step k and the intent of
// step k+1 are one commit when the act follows at once.
type turn struct {
	lane    *lane
	op      *view.Op // folded up to and including pending
	n       int
	pending []journal.Event
	began   time.Time // of the oldest pending outcome
	slow    bool      // the last look took long, and so may the next one
}

// hold is how long a known outcome may wait for the next step's intent. Where
// looking takes a good part of that it does not wait for another look: who dies
// during one has got a step further all the same.
const (
	hold     = time.Second
	slowLook = hold / 2
)

// run goes from step to step until one has to wait.
func (t *turn) run(ctx context.Context) (time.Duration, error) {
	for range len(t.op.Steps) + 1 {
		if ctx.Err() != nil { // nothing new is begun
			soft, release := t.lane.e.graced(ctx)
			defer release()
			return 0, t.flush(soft)
		}
		k := t.op.Current()
		if k == len(t.op.Steps) {
			return 0, t.complete(ctx)
		}
		wait, done, err := t.step(ctx, k)
		if err != nil || !done {
			return wait, err
		}
	}
	return 0, nil
}

// step looks at step k and does what follows from that. done: k has succeeded.
func (t *turn) step(ctx context.Context, k int) (wait time.Duration, done bool, err error) {
	if t.slow && len(t.pending) > 0 {
		if err := t.flush(ctx); err != nil {
			return 0, false, err
		}
	}
	e, s := t.lane.e, &t.op.Steps[k]
	spec, ok := e.steps.Lookup(s.Name)
	if !ok {
		return 0, false, t.park(ctx, k, "VersionUnavailable",
			fmt.Sprintf("this version of Anthill does not know step %s; install one that does", s.Name), nil)
	}
	if s.Crashes >= e.opts.CrashBudget && s.State == view.Unknown && t.op.State == view.Running {
		return 0, false, t.park(ctx, k, "Poison",
			fmt.Sprintf("the operator died %d times while step %s was under way", s.Crashes, s.ID), nil)
	}
	params, err := resolve(t.op, k)
	if err != nil {
		return 0, false, t.park(ctx, k, "BadParameters", err.Error(), nil)
	}
	in := &Turn{Op: t.op, Step: s, Params: params, Started: s.Start, Now: e.opts.Clock.Now(), Fence: t.lane.fence}

	crash.Here("executor.before-probe", t.op.Plan.Kind, s.Name)
	obs, err := t.look(ctx, spec, in)
	// Unless k is done or can start at once, what follows takes a while or ends
	// the turn.
	acts, ok := spec.Step.(Actor)
	if err == nil && obs.Verdict == NotDone && ok && s.Stage != journal.Waiting {
		return t.start(ctx, k, spec, acts, in, obs)
	}
	return t.notStarted(ctx, k, spec, obs, err)
}

// look probes a step.
func (t *turn) look(ctx context.Context, spec Spec, in *Turn) (Observation, error) {
	clock := t.lane.e.opts.Clock
	begun := clock.Now()
	defer func() { t.slow = clock.Now().Sub(begun) > slowLook }()
	ctx, cancel := context.WithTimeout(ctx, spec.Timeout)
	defer cancel()
	return spec.Step.Probe(ctx, in)
}

// start begins an attempt of step k, which was seen not to be done.
func (t *turn) start(ctx context.Context, k int, spec Spec, act Actor, in *Turn, obs Observation) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	unsettled := s.State == view.Started || s.State == view.Unknown
	if t.op.State == view.Suspended {
		return e.backoff(t.n, 10*time.Second, idle), false, nil
	}
	if s.Failure != nil && s.Failure.RetryAt > in.Now.UnixNano() && s.Failure.Class != string(Uncertain) {
		wait := time.Unix(0, s.Failure.RetryAt).Sub(in.Now)
		e.note(t.op, s.ID, "BackingOff", s.Failure.Error, in.Now.Add(wait))
		return wait, false, t.flush(ctx)
	}
	// The fence comes before the question whether an earlier attempt is over:
	// with it, what an earlier tenure sent and has not arrived never will.
	fence, err := e.opts.Fencer.Ensure(ctx, t.lane.scope)
	if err != nil {
		return t.refused(ctx, k, err)
	}
	t.lane.fenced(fence, "", "")
	in.Fence = fence
	switch {
	case unsettled && obs.Again:
		if err := t.failed(ctx, k, Transient, "Again", errors.New(obs.Message), 0); err != nil {
			return 0, false, err
		}
	case unsettled:
		next, wait, err := t.settle(ctx, k, spec, in)
		if err != nil || next == holdBack {
			return wait, false, err
		}
		if in.Unsettled = next == sendAgain; in.Unsettled {
			break
		}
		// What was seen is older than the news that the attempt is over: it may
		// have had its effect in between.
		obs, err = t.look(ctx, spec, in)
		if err != nil || obs.Verdict != NotDone {
			return t.notStarted(ctx, k, spec, obs, err)
		}
		lost := Errorf(Uncertain, "Lost", "the attempt is over and had no effect")
		if err := t.failed(ctx, k, Transient, "Lost", lost, 0); err != nil {
			return 0, false, err
		}
	}
	intent, err := act.Prepare(ctx, in)
	if err != nil {
		return t.refused(ctx, k, err)
	}
	e.note(t.op, "", "", "", time.Time{})
	started := journal.Started{
		AttemptID: fmt.Sprintf("%s.%s.%d", t.op.ID, s.ID, s.Attempt+1), Fence: fence,
		Originator: intent.Originator, Argv: intent.Argv, Baseline: obs.Baseline,
	}
	if err := t.begin(ctx, k, started); err != nil {
		return 0, false, err
	}
	return t.act(ctx, k, spec, act, in)
}

// notStarted goes on after a probe that found something else than a step to
// start.
func (t *turn) notStarted(ctx context.Context, k int, spec Spec, obs Observation, err error) (time.Duration, bool, error) {
	if err != nil {
		return t.cannotLook(ctx, k, spec, err)
	}
	switch obs.Verdict {
	case Done:
		return 0, true, t.succeeded(ctx, k, obs, t.op.Steps[k].State == view.Pending, nil)
	case Conflict:
		return 0, false, t.park(ctx, k, "Conflict", obs.Message, nil)
	case InProgress, NotDone: // not done, of a step that only waits
		return t.inProgress(ctx, k, spec, obs)
	}
	return t.unseen(ctx, k, spec, obs)
}

// act carries the attempt out and judges it by what is seen afterwards.
func (t *turn) act(ctx context.Context, k int, spec Spec, act Actor, in *Turn) (time.Duration, bool, error) {
	e, s := t.lane.e, &t.op.Steps[k]
	ctx, release := e.graced(ctx)
	defer release()
	in.Op, in.Step, in.Started, in.Now = t.op, s, s.Start, e.opts.Clock.Now()
	in.Record = func(ctx context.Context, receipt json.RawMessage) error {
		return t.record(ctx, k, receipt)
	}
	e.opts.Log.Info("step starts", "operation", t.op.ID, "kind", t.op.Plan.Kind, "target", t.op.Plan.Target, "step", s.ID,
		"attempt", s.Attempt, "originator", s.Start.Originator, "argv", s.Start.Argv, "reason", t.op.Plan.Reason.Difference)
	crash.Here("executor.after-intent", t.op.Plan.Kind, s.Name)
	actCtx, cancel := context.WithTimeout(ctx, spec.Timeout)
	receipt, actErr := act.Act(actCtx, in)
	cancel()
	in.Record = nil
	crash.Here("executor.after-act", t.op.Plan.Kind, s.Name)
	s = &t.op.Steps[k] // Record may have replaced the copy
	in.Op, in.Step, in.Started = t.op, s, s.Start
	if c, _ := ClassOf(actErr, true); actErr != nil && c == Fenced {
		return 0, false, t.fencedOff(ctx, k, actErr)
	}
	if actErr == nil && len(receipt) > 0 {
		s.Receipt = receipt // for the probe; durable with the outcome
	}
	in.Now = e.opts.Clock.Now()
	obs, err := t.look(ctx, spec, in)
	e.opts.Metrics.StepSeconds.WithLabelValues(s.Name).Observe(e.opts.Clock.Now().Sub(s.StartedAt).Seconds())
	if err == nil && obs.Verdict == Done {
		crash.Here("executor.before-outcome", t.op.Plan.Kind, s.Name)
		return 0, true, t.succeeded(ctx, k, obs, false, receipt)
	}
	return t.judge(ctx, k, spec, in.Unsettled, obs, err, actErr, receipt)
}

// complete ends an operation whose steps have all succeeded.
func (t *turn) complete(ctx context.Context) error {
	e := t.lane.e
	last := &t.op.Steps[len(t.op.Steps)-1]
	done := journal.Completed{Message: last.Message}
	for i := range t.op.Steps {
		if w := warning(t.op.Steps[i].Receipt); w != "" {
			done.Warning = w
		}
	}
	ev, err := journal.New(journal.OpCompleted, t.op.ID, done)
	if err != nil {
		return err
	}
	if err := t.commit(ctx, ev); err != nil {
		return err
	}
	crash.Here("executor.after-completed", t.op.Plan.Kind)
	e.note(t.op, "", "", "", time.Time{})
	e.ended(ctx, t.op, view.Completed)
	return nil
}

// warning is the field of that name in a receipt: what a step reached its goal
// with, but a person should know.
func warning(receipt json.RawMessage) string {
	var r struct {
		Warning string `json:"warning"`
	}
	if len(receipt) == 0 || json.Unmarshal(receipt, &r) != nil {
		return ""
	}
	return r.Warning
}

func (e *Engine) ended(ctx context.Context, op *view.Op, state view.OpState) {
	e.opts.Metrics.OpsEnded.WithLabelValues(op.Plan.Kind, string(state)).Inc()
	e.opts.Metrics.OpSeconds.WithLabelValues(op.Plan.Kind).Observe(e.opts.Clock.Now().Sub(op.Planned).Seconds())
	e.opts.Log.Info("operation ended", "operation", op.ID, "kind", op.Plan.Kind, "target", op.Plan.Target, "state", state)
	e.opts.Settled(ctx, op.Plan.Scope)
}
