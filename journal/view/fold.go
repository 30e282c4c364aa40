package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/gluster/anthill/journal"
)

// plannedOp is the operation after its first event.
func plannedOp(ev *journal.Event, s *Schemas) *Op {
	o := &Op{
		ID: ev.Op, State: Planned, Ver: ev.OpVer, First: ev.Seq, Last: ev.Seq,
		Epoch: ev.Epoch, Planned: at(ev), PlannedBy: ev.Actor,
	}
	if err := s.decode(ev, &o.Plan); err != nil {
		o.alien(ev)
	}
	o.Steps = make([]Step, len(o.Plan.Steps))
	for i := range o.Plan.Steps {
		o.Steps[i] = Step{Step: o.Plan.Steps[i], State: Pending}
	}
	return o
}

func at(ev *journal.Event) time.Time { return time.Unix(0, ev.Time).UTC() }

// clone copies what apply changes. Pointers are replaced, never written through.
func (o *Op) clone() *Op {
	c := *o
	c.Steps = slices.Clone(o.Steps)
	return &c
}

// alien marks the operation as one this release must not carry out.
func (o *Op) alien(ev *journal.Event) {
	if ev.Crit && o.Alien == "" {
		o.Alien = string(ev.Type)
		if ev.SV > 1 {
			o.Alien = fmt.Sprintf("%s@%d", ev.Type, ev.SV)
		}
	}
}

// payload decodes an event's payload into a new T; nil marks the operation as
// alien.
func payload[T any](o *Op, ev *journal.Event, s *Schemas) *T {
	p := new(T)
	if err := s.decode(ev, p); err != nil {
		o.alien(ev)
		return nil
	}
	return p
}

// apply folds an event of the operation after op.planned.
func (o *Op) apply(ev *journal.Event, s *Schemas) {
	o.Ver, o.Last = ev.OpVer, ev.Seq
	if ev.Step != "" {
		o.applyStep(ev, s)
		return
	}
	switch ev.Type {
	case journal.OpStarted:
		if payload[struct{}](o, ev, s) != nil {
			o.State, o.Started = Running, at(ev)
		}
	case journal.OpSuspended:
		if p := payload[journal.Suspended](o, ev, s); p != nil {
			o.State, o.Suspended = Suspended, p
		}
	case journal.OpResumed:
		if p := payload[journal.Decision](o, ev, s); p != nil {
			o.State, o.Suspended = o.resumed(), nil
			o.decided(p)
			o.anew(at(ev))
		}
	case journal.OpCancelling:
		if p := payload[journal.Decision](o, ev, s); p != nil {
			o.State, o.Suspended, o.CancelAsked = Cancelling, nil, true
			o.decided(p)
		}
	case journal.OpCompleted:
		if p := payload[journal.Completed](o, ev, s); p != nil {
			o.end(Completed, ev)
			o.Message, o.Warning = p.Message, p.Warning
		}
	case journal.OpFailed:
		if p := payload[journal.Failure](o, ev, s); p != nil {
			o.end(Failed, ev)
			o.Failure = p
		}
	case journal.OpCancelled, journal.OpSuperseded, journal.OpAbandoned:
		if p := payload[journal.Decision](o, ev, s); p != nil {
			o.end(ended[ev.Type], ev)
			o.Decision = p
		}
	default:
		o.alien(ev)
	}
}

var ended = map[journal.Type]OpState{
	journal.OpCancelled: Cancelled, journal.OpSuperseded: Superseded, journal.OpAbandoned: Abandoned,
}

func (o *Op) end(state OpState, ev *journal.Event) {
	o.State, o.Ended, o.EndedIn, o.Suspended = state, at(ev), ev.Epoch, nil
}

// decided keeps the decision if the event carries one.
func (o *Op) decided(d *journal.Decision) {
	if *d != (journal.Decision{}) {
		o.Decision = d
	}
}

// resumed is the state a suspended operation goes back to.
func (o *Op) resumed() OpState {
	switch {
	case o.CancelAsked:
		return Cancelling
	case o.Started.IsZero():
		return Planned
	}
	return Running
}

// anew gives an operation that is let go on the whole of its patience again:
// otherwise it would be parked for the same reason at once.
func (o *Op) anew(now time.Time) {
	o.Resumed = now
	for i := range o.Steps {
		s := &o.Steps[i]
		s.Crashes, s.Failures = 0, 0
		if s.Failure != nil && s.Failure.RetryAt != 0 {
			f := *s.Failure
			f.RetryAt = 0
			s.Failure = &f
		}
	}
}

// applyStep folds an event of one step.
func (o *Op) applyStep(ev *journal.Event, s *Schemas) {
	i := slices.IndexFunc(o.Steps, func(st Step) bool { return st.ID == ev.Step })
	if i < 0 {
		o.alien(ev)
		return
	}
	st := &o.Steps[i]
	switch ev.Type {
	case journal.StepStarted:
		if p := payload[journal.Started](o, ev, s); p != nil {
			st.State, st.Attempt, st.Start, st.StartedIn, st.StartedAt = Started, ev.Attempt, p, ev.Epoch, at(ev)
			st.Progress, st.ProgressAt, st.Message, st.EndedAt = nil, time.Time{}, "", time.Time{}
		}
	case journal.StepReceipt:
		if p := payload[journal.Receipt](o, ev, s); p != nil {
			st.Receipt = p.Receipt
		}
	case journal.StepProgress:
		if p := payload[journal.Progress](o, ev, s); p != nil {
			st.Progress, st.ProgressAt = p, at(ev)
		}
	case journal.StepSucceeded:
		if p := payload[journal.Succeeded](o, ev, s); p != nil {
			st.State, st.Adopted, st.Message, st.EndedAt = Succeeded, p.Adopted, p.Message, at(ev)
			if len(p.Receipt) > 0 {
				st.Receipt = p.Receipt
			}
		}
	case journal.StepFailed, journal.StepUnknown:
		if p := payload[journal.Failure](o, ev, s); p != nil {
			st.failed(p, ev)
		}
	case journal.StepResolved:
		if p := payload[journal.Decision](o, ev, s); p != nil {
			o.decided(p)
			st.State = Pending
			if p.Outcome == journal.OutcomeDone {
				st.State, st.Message, st.EndedAt = Succeeded, p.Reason, at(ev)
			}
		}
	case journal.StepCompensated:
		if payload[struct{}](o, ev, s) != nil {
			st.State, st.EndedAt = Compensated, at(ev)
		}
	default:
		o.alien(ev)
	}
}

func (st *Step) failed(p *journal.Failure, ev *journal.Event) {
	st.State = Unknown
	if ev.Type == journal.StepFailed {
		st.State = Pending
		st.Failures++
	}
	st.Failure, st.EndedAt = p, at(ev)
	if st.First == nil {
		st.First = p
	}
}
