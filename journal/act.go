package journal

import "context"

// An Act is something a person asks of an operation. The journal only carries
// it: whoever owns the journal decides, and writes the event.
type Act struct {
	Verb      string `json:"verb"` // VerbRetry, ...
	Op        OpID   `json:"op"`
	Step      string `json:"step,omitempty"`    // VerbResolve
	Outcome   string `json:"outcome,omitempty"` // VerbResolve: OutcomeDone or OutcomeNotDone
	Reason    string `json:"reason"`
	Person    string `json:"person"`
	IfVersion uint64 `json:"ifVersion,omitempty"` // version the operation must have; 0: any
}

// What a person may ask.
const (
	VerbRetry   = "retry"
	VerbResolve = "resolve"
	VerbCancel  = "cancel"
	VerbAbandon = "abandon"
)

// Acted is the answer to an Act.
type Acted struct {
	Seq     Seq    `json:"seq,omitempty"` // of the event that records it
	Message string `json:"message,omitempty"`
}

// An Actor carries out what people ask. Act is called concurrently and must
// return soon after ctx ends. Its error keeps its meaning over the socket if it
// is one of ErrNotFound, ErrConflict, ErrIllegal, ErrUsage, ErrFull, ErrRefused
// or ErrUnavailable.
type Actor interface {
	Act(ctx context.Context, a Act) (Acted, error)
}

// An ActorFunc is a function that is an Actor.
type ActorFunc func(ctx context.Context, a Act) (Acted, error)

// Act calls f.
func (f ActorFunc) Act(ctx context.Context, a Act) (Acted, error) { return f(ctx, a) }
