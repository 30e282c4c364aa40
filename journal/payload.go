package journal

import "encoding/json"

// The payloads, one per event type. Fields are only ever added, optional, with
// a golden of the old bytes; a change of meaning is a new schema version and an
// upcaster. Secrets never enter a payload.

// Initialized is the payload of journal.initialized.
type Initialized struct {
	JournalID string `json:"journal"`
	Format    int    `json:"format"`
}

// Opened is the payload of epoch.opened.
type Opened struct {
	Instance string `json:"instance"`       // operator instance, by default namespace/name
	Host     string `json:"host,omitempty"` // pod or host name
	PID      int    `json:"pid,omitempty"`
	Clean    bool   `json:"clean"` // the epoch before this one was closed in good order
}

// Fence is the payload of fence.raised. A scope is the unit with one writer
// and one mutating lane: for Anthill a Gluster pool.
type Fence struct {
	Scope string `json:"scope"`
	Fence uint64 `json:"fence"`
}

// Plan is the payload of op.planned. It is never changed afterwards.
type Plan struct {
	Kind       string   `json:"kind"`   // for example "add-brick"
	Scope      string   `json:"scope"`  // lane and fence, see Fence
	Object     string   `json:"object"` // the resource it is for: "GlusterVolume/ns/name"
	Target     string   `json:"target"` // what it changes, as people say it: "volume/v1", "node/n4"
	Reason     Reason   `json:"reason"`
	Intent     string   `json:"intent"` // same inputs, same key: hex of a SHA-256
	Steps      []Step   `json:"steps"`
	Locks      []string `json:"locks,omitempty"`      // sorted; taken all at once by op.started
	After      []OpID   `json:"after,omitempty"`      // must have ended first
	Supersedes []OpID   `json:"supersedes,omitempty"` // ended by the same append

	// EndState is what the planner may assume of this operation while it is
	// open. Opaque here.
	EndState json.RawMessage `json:"end,omitempty"`
}

// Reason says why an operation exists.
type Reason struct {
	Action     string `json:"action"`               // the planner's action that asked for it
	Difference string `json:"difference"`           // one line, for people: what is, what should be
	Generation int64  `json:"generation,omitempty"` // of the resource it was planned from
}

// A Step of a plan. Its behaviour belongs to Name ("add-brick@1"): a name keeps
// its meaning for ever, a changed meaning is a new major.
type Step struct {
	ID    string `json:"id"` // unique in the plan; receipts are referred to by it
	Name  string `json:"name"`
	Stage Stage  `json:"stage"`
	// Params are constants, or references to the receipt of an earlier step: a
	// JSON string of the form "$<step id>.<field>".
	Params json.RawMessage `json:"params,omitempty"`
}

// A Stage says what may still be undone at a step.
type Stage string

// The stages. A plan reads: compensatable*, pivot, retriable*; waits anywhere.
// Several pivots are allowed: after the first one there is only forward.
const (
	Compensatable Stage = "compensatable" // can be undone, or leaves nothing
	Pivot         Stage = "pivot"         // from its start on only forward
	Retriable     Stage = "retriable"     // after the pivot, repeated until done
	Waiting       Stage = "waiting"       // looks only, changes nothing
)

// Started is the payload of step.started.
type Started struct {
	AttemptID  string          `json:"attempt"`              // tells attempts of all epochs apart
	Originator string          `json:"originator,omitempty"` // node whose glusterd gets the command
	Argv       []string        `json:"argv,omitempty"`
	Baseline   json.RawMessage `json:"baseline,omitempty"` // what the probe saw that later probes compare with
	Fence      uint64          `json:"fence,omitempty"`
	Deadline   int64           `json:"deadline,omitempty"` // unix ns; for waits written once
}

// Receipt is the payload of step.receipt and, optionally, part of step.succeeded.
type Receipt struct {
	Receipt json.RawMessage `json:"receipt"`
}

// Progress is the payload of step.progress.
type Progress struct {
	Percent int    `json:"percent,omitempty"`
	Message string `json:"message"`
}

// Succeeded is the payload of step.succeeded.
type Succeeded struct {
	Adopted bool            `json:"adopted,omitempty"` // it was so before we acted in this attempt
	Receipt json.RawMessage `json:"receipt,omitempty"`
	Message string          `json:"message,omitempty"`
}

// Failure is the payload of step.failed, step.unknown, op.failed.
type Failure struct {
	Class   string `json:"class"` // transient, busy, permanent, unknown, fenced
	Error   string `json:"error"`
	Output  string `json:"output,omitempty"`  // bounded tail of what the command said
	RetryAt int64  `json:"retryAt,omitempty"` // unix ns; a delay, never an order
}

// Suspended is the payload of op.suspended.
type Suspended struct {
	Cause    string `json:"cause"` // CamelCase, for example "Conflict", "Permanent", "Poison"
	Message  string `json:"message"`
	First    string `json:"first,omitempty"` // first error of the step
	Last     string `json:"last,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Next     string `json:"next,omitempty"` // the exact command that would unblock it
}

// Decision is the payload of everything a person decides, and of
// op.cancelling, op.cancelled, op.superseded.
type Decision struct {
	Reason  string `json:"reason"`
	Outcome string `json:"outcome,omitempty"` // step.resolved: OutcomeDone or OutcomeNotDone
	By      OpID   `json:"op,omitzero"`       // the operation that took its place
	Intent  string `json:"intent,omitempty"`  // intent.released
}

// Outcomes of step.resolved.
const (
	OutcomeDone    = "done"
	OutcomeNotDone = "not-done"
)

// Completed is the payload of op.completed. Warning is set when the goal was
// reached with a reservation a person should know of.
type Completed struct {
	Message string `json:"message,omitempty"`
	Warning string `json:"warning,omitempty"` // CamelCase, for example "RebalanceIncomplete"
}
