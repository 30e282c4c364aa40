package journal

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// A Seq numbers the events of one journal, dense from 1. It is the only order
// there is: neither clocks nor ids order anything.
type Seq uint64

// An Epoch is one tenure of one process over the journal. Every event carries
// the epoch that wrote it; an epoch is opened exactly once.
type Epoch uint64

// An OpID names an operation (a version 7 UUID, made by the planner).
type OpID = uuid.UUID

// An Event is one immutable, past-tense fact.
//
// Seq, Epoch, OpVer, Prev, Time and Build are filled in by Append; a caller
// leaves them zero. Data is the JSON of the payload type that belongs to Type
// (see payload.go) and is kept byte for byte, unknown fields included.
type Event struct {
	Seq   Seq   `json:"-"`           // the key in the store
	Time  int64 `json:"ts"`          // unix nanoseconds; informational, never used for ordering
	Epoch Epoch `json:"e"`           // tenure that wrote it
	Type  Type  `json:"t"`           // for example "step.started"
	SV    int   `json:"v"`           // schema version of Data, from 1
	Crit  bool  `json:"c,omitempty"` // a reader that does not know Type must not execute the operation

	Op      OpID   `json:"op,omitzero"`  // zero for events of the journal itself
	OpVer   uint64 `json:"ov,omitempty"` // place in the operation's stream, dense from 1
	Prev    Seq    `json:"pv,omitempty"` // the operation's event before this one; 0 for its first
	Step    string `json:"s,omitempty"`  // step id within the operation's plan
	Attempt int    `json:"n,omitempty"`  // attempt of the step, from 1

	Actor string `json:"by,omitempty"`  // who: a component ("planner", "executor") or "person:<name>"
	Build string `json:"bld,omitempty"` // only on epoch.opened

	Data json.RawMessage `json:"d,omitempty"`
}

// A Type is the kind of an event. Strings, so that nothing is ever renumbered.
type Type string

// The vocabulary of the journal. Payloads are in payload.go.
const (
	JournalInitialized Type = "journal.initialized" // first event of a file
	EpochOpened        Type = "epoch.opened"        // a process took the journal over
	EpochClosed        Type = "epoch.closed"        // it let go in good order
	FenceRaised        Type = "fence.raised"        // a scope's fence, before any server learns it

	OpPlanned    Type = "op.planned"    // the whole plan; nothing has happened yet
	OpStarted    Type = "op.started"    // locks taken
	OpSuspended  Type = "op.suspended"  // parked with a cause; others go on
	OpResumed    Type = "op.resumed"    // a person, or a changed world, let it go on
	OpCancelling Type = "op.cancelling" // asked to stop before its pivot; compensation may follow
	OpCompleted  Type = "op.completed"
	OpFailed     Type = "op.failed"     // ended without its goal; terminal
	OpCancelled  Type = "op.cancelled"  // ended before its pivot, compensated; terminal
	OpSuperseded Type = "op.superseded" // never started, or only waited: a newer plan took its place; terminal
	OpAbandoned  Type = "op.abandoned"  // a person let go of it; leaves a tombstone; terminal

	StepStarted     Type = "step.started"     // intent: durable before the effect
	StepReceipt     Type = "step.receipt"     // the external handle of an effect that is under way
	StepProgress    Type = "step.progress"    // of a long wait, at most one per 30 s or 5 %
	StepSucceeded   Type = "step.succeeded"   // the postcondition was seen
	StepFailed      Type = "step.failed"      // this attempt is over and had no effect
	StepUnknown     Type = "step.unknown"     // may have had, or may yet have, its effect
	StepResolved    Type = "step.resolved"    // a person settled an unknown
	StepCompensated Type = "step.compensated" // undone, seen to be undone

	IntentReleased Type = "intent.released" // a person retries: the tombstone of an intent goes
)

// Terminal reports whether t ends an operation.
func (t Type) Terminal() bool {
	switch t {
	case OpCompleted, OpFailed, OpCancelled, OpSuperseded, OpAbandoned:
		return true
	}
	return false
}

// New makes an event of an operation with payload data, which must marshal.
func New(t Type, op OpID, data any) (Event, error) {
	ev := Event{Type: t, SV: 1, Op: op, Crit: critical[t]}
	if data == nil {
		return ev, nil
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("encoding %s: %w", t, err)
	}
	ev.Data = raw
	return ev, nil
}

// critical lists the types whose meaning a reader needs before it may execute
// the operation they belong to: all that change what happens next.
var critical = map[Type]bool{
	OpPlanned: true, OpStarted: true, OpSuspended: true, OpResumed: true, OpCancelling: true,
	OpCompleted: true, OpFailed: true, OpCancelled: true, OpSuperseded: true, OpAbandoned: true,
	StepStarted: true, StepReceipt: true, StepSucceeded: true, StepFailed: true, StepUnknown: true,
	StepResolved: true, StepCompensated: true,
}
