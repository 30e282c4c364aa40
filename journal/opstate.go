package journal

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// States of operations and steps as OpHead tells them. journal/view has the
// same words as types.
const (
	opPlanned    = "planned"
	opRunning    = "running"
	opSuspended  = "suspended"
	opCancelling = "cancelling"
	opCompleted  = "completed"
	opFailed     = "failed"
	opCancelled  = "cancelled"
	opSuperseded = "superseded"
	opAbandoned  = "abandoned"

	stepPending     = "pending"
	stepStarted     = "started"
	stepUnknown     = "unknown"
	stepSucceeded   = "succeeded"
	stepCompensated = "compensated"
)

const differenceMax = 160 // bytes of Reason.Difference kept in an OpHead

// An opState is the state machine of one operation: its summary and what of
// its plan the rules need.
type opState struct {
	OpHead
	locks     []string
	after     []OpID
	steps     []stepState
	cancelled bool // op.cancelling was seen
}

type stepState struct {
	id      string
	stage   Stage
	state   string
	attempt int
}

// newOpState is the state after op.planned.
func newOpState(f fact) *opState {
	p := &f.plan
	o := &opState{
		OpHead: OpHead{
			ID: f.Op, Kind: p.Kind, Scope: p.Scope, Object: p.Object, Target: p.Target, Intent: p.Intent,
			Action: p.Reason.Action, Difference: clip(p.Reason.Difference, differenceMax), Generation: p.Reason.Generation,
			Supersedes: p.Supersedes,
			State:      opPlanned, Ver: f.OpVer, Epoch: f.Epoch, First: f.Seq, Last: f.Seq,
			Planned: f.Time, Updated: f.Time, Steps: len(p.Steps),
		},
		locks: p.Locks,
		after: p.After,
		steps: make([]stepState, len(p.Steps)),
	}
	for i := range p.Steps {
		o.steps[i] = stepState{id: p.Steps[i].ID, stage: p.Steps[i].Stage, state: stepPending}
	}
	if f.Crit {
		o.Alien = alienType(f.Event)
	}
	o.summarize()
	return o
}

func (o *opState) clone() *opState {
	c := *o
	c.steps = slices.Clone(o.steps)
	return &c
}

// schemaMax is the newest schema version of payloads this release knows.
const schemaMax = 1

// alienType names an event's type if this release does not know its meaning.
func alienType(ev *Event) string {
	switch {
	case known[string(ev.Type)] == "":
		return string(ev.Type)
	case ev.SV > schemaMax:
		return fmt.Sprintf("%s@%d", ev.Type, ev.SV)
	}
	return ""
}

// current is the index of the first step that has not succeeded.
func (o *opState) current() int {
	i := slices.IndexFunc(o.steps, func(s stepState) bool { return s.state != stepSucceeded })
	if i < 0 {
		return len(o.steps)
	}
	return i
}

// pastPivot reports whether a pivot began or was found done: only forward.
func (o *opState) pastPivot() bool {
	return slices.ContainsFunc(o.steps, func(s stepState) bool { return s.stage == Pivot && s.state != stepPending })
}

// unsettled reports whether a command of some step may still land. A step that
// waits has none.
func (o *opState) unsettled() bool {
	return slices.ContainsFunc(o.steps, func(s stepState) bool {
		return s.stage != Waiting && (s.state == stepStarted || s.state == stepUnknown)
	})
}

// onlyWaits reports whether the operation has nothing left to do but to wait.
func (o *opState) onlyWaits() bool {
	left := o.steps[o.current():]
	return len(left) > 0 && !slices.ContainsFunc(left, func(s stepState) bool { return s.stage != Waiting })
}

// summarize brings the summary's step fields up to date.
func (o *opState) summarize() {
	o.Done = o.current()
	o.Step, o.StepIs, o.Attempt = "", "", 0
	if o.Done < len(o.steps) {
		s := &o.steps[o.Done]
		o.Step, o.StepIs, o.Attempt = s.id, s.state, s.attempt
	}
}

// apply folds one event of the operation after op.planned. It always does what
// the event says as far as it can, so that a journal written under other rules
// still folds, and returns what is illegal about it. A caller that refuses
// illegal events applies to a clone.
func (o *opState) apply(f fact) error {
	bad := o.envelope(f)
	if alien := alienType(f.Event); alien != "" {
		if f.Crit && o.Alien == "" {
			o.Alien = alien
		}
		return bad
	}
	var err error
	if f.Step != "" {
		err = o.applyStep(f)
	} else {
		err = o.applyOp(f)
	}
	o.summarize()
	if bad == nil && err != nil {
		bad = fmt.Errorf("%s of operation %s (%s): %w: %w", f.Type, o.ID, o.State, err, ErrIllegal)
	}
	return bad
}

func (o *opState) envelope(f fact) error {
	var err error
	switch {
	case o.Terminal():
		err = fmt.Errorf("%s: operation %s has ended (%s): %w", f.Type, o.ID, o.State, ErrIllegal)
	case o.Alien != "":
		err = fmt.Errorf("%s: operation %s holds %q, which this release does not know: %w", f.Type, o.ID, o.Alien, ErrIllegal)
	case f.OpVer != o.Ver+1 || f.Prev != o.Last:
		err = fmt.Errorf("%s: version %d of operation %s after event %d follows version %d, event %d: %w", f.Type, f.OpVer, o.ID, f.Prev, o.Ver, o.Last, ErrIllegal)
	}
	o.Ver, o.Last, o.Updated = f.OpVer, f.Seq, f.Time
	return err
}

// applyOp folds an op.* event.
func (o *opState) applyOp(f fact) error {
	var err error
	switch f.Type {
	case OpStarted:
		err = o.from(opPlanned)
		o.State, o.Started = opRunning, f.Time
	case OpSuspended:
		err = o.from(opPlanned, opRunning, opCancelling, opSuspended)
		o.State, o.Cause = opSuspended, f.cause
	case OpResumed:
		err = o.from(opSuspended)
		o.State, o.Cause = o.resumed(), ""
	case OpCancelling:
		err = o.from(opPlanned, opRunning, opSuspended)
		if err == nil && o.pastPivot() {
			err = fmt.Errorf("it is past its pivot")
		}
		o.State, o.Cause, o.cancelled = opCancelling, "", true
	case OpCompleted:
		err = o.from(opRunning)
		if err == nil && o.current() != len(o.steps) {
			err = fmt.Errorf("step %q has not succeeded", o.steps[o.current()].id)
		}
		o.end(opCompleted, f)
		o.Warning = f.warning
	case OpFailed:
		err = o.settled()
		o.end(opFailed, f)
	case OpCancelled:
		err = o.settled()
		if err == nil && !o.cancelled && o.Started != 0 {
			err = fmt.Errorf("it is not being cancelled")
		}
		o.end(opCancelled, f)
	case OpSuperseded:
		if err = o.settled(); err == nil && o.Started != 0 {
			err = o.mayYield()
		}
		o.end(opSuperseded, f)
	case OpAbandoned:
		err = o.settled()
		o.end(opAbandoned, f)
	case OpPlanned:
		err = fmt.Errorf("it exists")
	default:
		err = fmt.Errorf("the event needs a step")
	}
	return err
}

func (o *opState) from(states ...string) error {
	if slices.Contains(states, o.State) {
		return nil
	}
	return fmt.Errorf("allowed from %v only", states)
}

// settled refuses to end an operation whose command may still land (I31).
func (o *opState) settled() error {
	if o.unsettled() {
		return fmt.Errorf("the outcome of step %q is not known", o.Step)
	}
	return nil
}

// mayYield refuses to let another operation take the place of one that has
// started, unless all that is left of it is to wait.
func (o *opState) mayYield() error {
	if err := o.from(opRunning, opSuspended); err != nil {
		return err
	}
	switch {
	case o.cancelled:
		return fmt.Errorf("it is being cancelled")
	case !o.onlyWaits():
		return fmt.Errorf("it has started, and does not only wait")
	}
	return nil
}

// resumed is the state a suspended operation goes back to.
func (o *opState) resumed() string {
	switch {
	case o.cancelled:
		return opCancelling
	case o.Started == 0:
		return opPlanned
	}
	return opRunning
}

func (o *opState) end(state string, f fact) {
	o.State, o.Ended = state, max(f.Time, 1)
}

// applyStep folds a step.* event.
func (o *opState) applyStep(f fact) error {
	i := slices.IndexFunc(o.steps, func(s stepState) bool { return s.id == f.Step })
	if i < 0 {
		return fmt.Errorf("the plan has no step %q", f.Step)
	}
	s := &o.steps[i]
	err := o.checkStep(f, i)
	switch f.Type {
	case StepStarted:
		s.state, s.attempt = stepStarted, f.Attempt
	case StepReceipt, StepProgress:
	case StepSucceeded:
		s.state = stepSucceeded
	case StepFailed:
		s.state = stepPending
	case StepUnknown:
		s.state = stepUnknown
	case StepResolved:
		s.state = stepPending
		if f.decision.Outcome == OutcomeDone {
			s.state = stepSucceeded
		}
	case StepCompensated:
		s.state = stepCompensated
	}
	return err
}

// checkStep says what is illegal about a step.* event before it is folded.
func (o *opState) checkStep(f fact, i int) error {
	s := &o.steps[i]
	in := func(states ...string) error {
		if slices.Contains(states, s.state) {
			return nil
		}
		return fmt.Errorf("step %q is %s, not one of %v", s.id, s.state, states)
	}
	switch {
	case o.Started == 0:
		return fmt.Errorf("it has not started")
	case f.Type == StepCompensated:
		return o.checkCompensated(s)
	case i != o.current():
		return fmt.Errorf("step %q is not its turn", s.id)
	case f.Type == StepStarted:
		if f.Attempt != s.attempt+1 {
			return fmt.Errorf("attempt %d of step %q follows %d", f.Attempt, s.id, s.attempt)
		}
		if o.State == opCancelling {
			return in(stepUnknown) // only to learn what became of the earlier command
		}
		if err := o.from(opRunning); err != nil {
			return err
		}
		return in(stepPending, stepUnknown)
	case f.Attempt != 0 && f.Attempt != s.attempt:
		return fmt.Errorf("attempt %d of step %q: the last is %d", f.Attempt, s.id, s.attempt)
	}
	switch f.Type {
	case StepReceipt, StepProgress, StepSucceeded, StepFailed:
		return in(stepPending, stepStarted, stepUnknown)
	case StepUnknown:
		return in(stepStarted, stepUnknown)
	case StepResolved:
		if f.decision.Outcome != OutcomeDone && f.decision.Outcome != OutcomeNotDone {
			return fmt.Errorf("outcome %q is neither %q nor %q", f.decision.Outcome, OutcomeDone, OutcomeNotDone)
		}
		return in(stepUnknown)
	}
	return fmt.Errorf("the event belongs to no step")
}

func (o *opState) checkCompensated(s *stepState) error {
	if !o.cancelled {
		return fmt.Errorf("it is not being cancelled")
	}
	if err := o.settled(); err != nil {
		return err
	}
	if s.state != stepSucceeded && (s.state != stepPending || s.attempt == 0) {
		return fmt.Errorf("step %q is %s: nothing to undo", s.id, s.state)
	}
	return nil
}

// clip cuts s to at most n bytes at a character's boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
