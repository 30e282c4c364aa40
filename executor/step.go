package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A Verdict is what a probe saw of a step's effect.
type Verdict string

// What a probe can see.
const (
	Done       Verdict = "done"        // the postcondition holds
	NotDone    Verdict = "not-done"    // it does not, and nothing is under way that we can see
	InProgress Verdict = "in-progress" // the effect is under way; Receipt says which
	Conflict   Verdict = "conflict"    // the world holds something that must not be acted upon
	Unseen     Verdict = "unknown"     // it cannot be told now
)

// An Observation is the answer of a probe.
type Observation struct {
	Verdict Verdict
	Message string          // one stable line for people: what is seen, or what is waited for
	Receipt json.RawMessage // Done, InProgress: handle of the effect, for later steps
	// Baseline is what a later probe of this attempt compares with; recorded in
	// step.started.
	Baseline json.RawMessage
	Percent  int  // InProgress: 0-100, 0 when not known
	Again    bool // NotDone: the last attempt had its effect, and another one is needed
}

// An Intent is what Act is about to do. It is durable before Act runs.
type Intent struct {
	Originator string   // node that gets the command
	Argv       []string // the command as the server will run it; empty for other effects
}

// A Step is one kind of step, registered under a name@major. Implementations
// hold no state of an operation: everything is in the Turn.
type Step interface {
	// Probe looks and changes nothing. An error means that it could not look;
	// its Class decides what happens.
	Probe(ctx context.Context, t *Turn) (Observation, error)
}

// An Actor is a step with an effect. A Step without it only waits.
type Actor interface {
	Step
	// Prepare evaluates the guards on a fresh observation and says what Act
	// will do. It changes nothing. An error of class Transient holds the step
	// back without counting as a failure.
	Prepare(ctx context.Context, t *Turn) (Intent, error)
	// Act makes the change described by t.Started. It may be interrupted
	// anywhere. Its answer proves nothing: only the probe that follows does.
	// The receipt, if any, is recorded with the outcome.
	Act(ctx context.Context, t *Turn) (json.RawMessage, error)
}

// A Settler can tell whether an attempt whose outcome is not known can still
// take effect. Without it an attempt is over when its process has ended.
type Settler interface {
	// Over reports whether the attempt in t.Started is known to be over. It
	// changes nothing. When it is not over, the message says what is missing.
	Over(ctx context.Context, t *Turn) (over bool, message string, err error)
}

// A Compensator can undo a step that is done. Idempotent; a nil error means
// that the step was seen to be undone.
type Compensator interface {
	Compensate(ctx context.Context, t *Turn) error
}

// A Turn is everything a step may know. It is valid for one call.
type Turn struct {
	Op     *view.Op
	Step   *view.Step
	Params json.RawMessage // references to earlier receipts resolved
	Fence  uint64

	// Started is the attempt in question: in Act the one just recorded, in
	// Probe and Over the last one, nil if there was none.
	Started *journal.Started

	// Unsettled is set in Prepare and Act when an earlier attempt may still take
	// effect: the command may be sent again, but nothing may be cleared away.
	Unsettled bool

	// Found is set in Prepare and read in the Act that follows at once: what a
	// guard saw and need not be looked for again. Not recorded.
	Found any

	// Record makes a receipt durable before the effect has ended, so that it can
	// be found again after a crash. Only in Act.
	Record func(ctx context.Context, receipt json.RawMessage) error

	Now time.Time
}

// Scope is the pool the operation belongs to.
func (t *Turn) Scope() string { return t.Op.Plan.Scope }

// Decode reads the step's parameters; unknown fields are refused, since a step
// that ignores a parameter does something else than was planned.
func (t *Turn) Decode(into any) error {
	if err := decodeStrict(t.Params, into); err != nil {
		return Errorf(Permanent, "BadParameters", "parameters of step %q (%s): %w", t.Step.ID, t.Step.Name, err)
	}
	return nil
}

// Safety says what may be done with an attempt whose outcome is not known.
type Safety string

// The classes of journal.md 0.2.
const (
	Idempotent     Safety = "idempotent"      // sending it again does no harm
	ProbeDecidable Safety = "probe-decidable" // a probe tells whether it happened; sent again only after NotDone
	AtMostOnce     Safety = "at-most-once"    // a person decides
)

// A Spec registers a step.
type Spec struct {
	Name    string // name@major
	Step    Step
	Safety  Safety
	Timeout time.Duration // of one Act, default 2 min
	Poll    time.Duration // between probes of a wait, default 2 s
	// MaxWait is how long the step may stay without success before its operation
	// is parked; default 30 min. The probe goes on: if it turns out done the
	// operation resumes by itself.
	MaxWait time.Duration
}

// A Registry holds the steps a binary knows.
type Registry struct{ specs map[string]Spec }

// NewRegistry checks and collects specs.
func NewRegistry(specs ...Spec) (*Registry, error) {
	r := &Registry{specs: make(map[string]Spec, len(specs))}
	for _, s := range specs {
		if s.Name == "" || s.Step == nil || s.Safety == "" {
			return nil, fmt.Errorf("registering step %q: name, step and safety are required", s.Name)
		}
		if _, dup := r.specs[s.Name]; dup {
			return nil, fmt.Errorf("registering step %q: registered twice", s.Name)
		}
		if s.Timeout == 0 {
			s.Timeout = 2 * time.Minute
		}
		if s.Poll == 0 {
			s.Poll = 2 * time.Second
		}
		if s.MaxWait == 0 {
			s.MaxWait = 30 * time.Minute
		}
		r.specs[s.Name] = s
	}
	return r, nil
}

// Lookup finds a step by name@major.
func (r *Registry) Lookup(name string) (Spec, bool) {
	s, ok := r.specs[name]
	return s, ok
}
