package view

import (
	"encoding/json"
	"time"

	"github.com/gluster/anthill/journal"
)

// An OpState is where an operation stands.
type OpState string

// The states of an operation.
const (
	Planned    OpState = "planned"    // nothing has happened
	Running    OpState = "running"    // holds its locks
	Suspended  OpState = "suspended"  // parked with a cause, holds its locks
	Cancelling OpState = "cancelling" // stops at the next point where it may
	Completed  OpState = "completed"
	Failed     OpState = "failed"
	Cancelled  OpState = "cancelled"
	Superseded OpState = "superseded"
	Abandoned  OpState = "abandoned"
)

// Terminal reports whether the operation has ended.
func (s OpState) Terminal() bool {
	switch s {
	case Completed, Failed, Cancelled, Superseded, Abandoned:
		return true
	}
	return false
}

// A StepState is where a step stands.
type StepState string

// The states of a step.
const (
	Pending     StepState = "pending" // not tried, or the last attempt is known to have had no effect
	Started     StepState = "started" // intent durable, outcome not known yet
	Unknown     StepState = "unknown" // may have had, or may yet have, its effect
	Succeeded   StepState = "succeeded"
	Compensated StepState = "compensated"
)

// An Op is one operation, folded from its events.
type Op struct {
	ID    journal.OpID `json:"id"`
	Plan  journal.Plan `json:"plan"`
	State OpState      `json:"state"`
	Ver   uint64       `json:"version"` // of the stream, for guards

	First, Last journal.Seq   `json:"-"`
	Epoch       journal.Epoch `json:"epoch"` // that planned it
	Planned     time.Time     `json:"planned"`
	Started     time.Time     `json:"started,omitzero"`
	Resumed     time.Time     `json:"resumed,omitzero"` // when it was last let go on after it had been parked
	Ended       time.Time     `json:"ended,omitzero"`
	EndedIn     journal.Epoch `json:"endedEpoch,omitempty"`
	PlannedBy   string        `json:"plannedBy,omitempty"`

	Steps     []Step             `json:"steps"`
	Suspended *journal.Suspended `json:"suspended,omitempty"`
	Failure   *journal.Failure   `json:"failure,omitempty"`
	Decision  *journal.Decision  `json:"decision,omitempty"` // the last one by a person or a supersede
	// CancelAsked is set once op.cancelling was seen; a suspension does not undo it.
	CancelAsked bool   `json:"cancelAsked,omitempty"`
	Message     string `json:"message,omitempty"`
	Warning     string `json:"warning,omitempty"`

	// Alien is set when the stream holds a critical event this binary does not
	// know: the operation may be shown but never executed.
	Alien string `json:"alien,omitempty"`
}

// A Step is one step of an operation, folded from its events.
type Step struct {
	journal.Step
	State   StepState `json:"state"`
	Attempt int       `json:"attempt,omitempty"` // attempts started

	Start      *journal.Started  `json:"start,omitempty"` // of the last attempt
	StartedIn  journal.Epoch     `json:"startedEpoch,omitempty"`
	StartedAt  time.Time         `json:"startedAt,omitzero"`
	Receipt    json.RawMessage   `json:"receipt,omitempty"`
	Progress   *journal.Progress `json:"progress,omitempty"`
	ProgressAt time.Time         `json:"progressAt,omitzero"` // of Progress
	First      *journal.Failure  `json:"firstFailure,omitempty"`
	Failure    *journal.Failure  `json:"lastFailure,omitempty"`
	Failures   int               `json:"failures,omitempty"` // since the operation was last let go on
	Crashes    int               `json:"crashes,omitempty"`  // epochs that ended while it was started, since the same
	Adopted    bool              `json:"adopted,omitempty"`
	Message    string            `json:"message,omitempty"`
	EndedAt    time.Time         `json:"endedAt,omitzero"`
}

// Current is the index of the first step that has not succeeded; len(Steps)
// when all have.
func (o *Op) Current() int {
	for i := range o.Steps {
		if o.Steps[i].State != Succeeded {
			return i
		}
	}
	return len(o.Steps)
}

// PastPivot reports whether a pivot has been started, or was found done, so
// that there is only forward.
func (o *Op) PastPivot() bool {
	for i := range o.Steps {
		if o.Steps[i].Stage == journal.Pivot && o.Steps[i].State != Pending {
			return true
		}
	}
	return false
}

// OnlyWaits reports whether the operation has nothing left to do but to wait:
// another one may take its place, even past the pivot.
func (o *Op) OnlyWaits() bool {
	k := o.Current()
	for i := k; i < len(o.Steps); i++ {
		if o.Steps[i].Stage != journal.Waiting {
			return false
		}
	}
	return k < len(o.Steps)
}

// Unsettled reports whether the command of some step may still land (I31):
// nothing of the operation may then be undone, cancelled or let go. A step that
// waits has no command.
func (o *Op) Unsettled() bool {
	for i := range o.Steps {
		if o.Steps[i].Stage != journal.Waiting && (o.Steps[i].State == Started || o.Steps[i].State == Unknown) {
			return true
		}
	}
	return false
}

// HoldsLocks reports whether the operation holds the locks of its plan: from
// its start to its end, also while it is parked or being cancelled.
func (o *Op) HoldsLocks() bool { return !o.Started.IsZero() && !o.State.Terminal() }

// A Tombstone is the trace of an abandoned operation's intent.
type Tombstone = journal.Tombstone
