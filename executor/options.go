package executor

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A Log is where the executor writes what it intends and what it saw.
// *journal.Journal is one. Append returns only after the events are durable.
type Log interface {
	Append(ctx context.Context, g journal.Guard, events ...journal.Event) (journal.Seq, error)
	Watch() (changed <-chan struct{}, stop func())
}

// State is what the events so far add up to. It includes every append that has
// returned. *view.Tracker is one. Safe for concurrent use; the operations are
// shared and are copied before they are changed.
type State interface {
	Snapshot() (view.Picture, error)
	Op(id journal.OpID) (*view.Op, error) // any operation
}

var _ State = (*view.Tracker)(nil)

// clone is a copy of op whose steps may be changed.
func clone(op *view.Op) *view.Op {
	c := *op
	c.Steps = slices.Clone(op.Steps)
	return &c
}

// A Clock tells time and waits.
type Clock interface {
	Now() time.Time
	// Wait returns after d, when wake is signalled, or when ctx ends.
	Wait(ctx context.Context, d time.Duration, wake <-chan struct{})
}

// WallClock is the real one.
type WallClock struct{}

// Now is the time of day.
func (WallClock) Now() time.Time { return time.Now() }

// Wait waits.
func (WallClock) Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// Options of an Engine. The zero value of each field has a working default.
type Options struct {
	Clock Clock          // default WallClock
	Rand  func() float64 // in [0,1), for jitter; default math/rand
	Log   logr.Logger    // default: discards
	// Fencer guards every scope; required unless the steps change nothing that
	// another process could change too (tests).
	Fencer Fencer
	// Fatal is called once when another process of the same operator instance
	// has taken over: this one must end. Default: nothing.
	Fatal func(error)
	// Settled is called after an operation ended, with its scope; the anchor is
	// published then. Default: nothing.
	Settled func(ctx context.Context, scope string)
	// CrashBudget is in how many epochs a step may have been running when the
	// operator died before its operation is parked, and again after somebody let
	// it go on; default 5.
	CrashBudget int
	// Grace is how long an attempt under way is waited for after the engine was
	// told to stop; default 10 s.
	Grace   time.Duration
	Metrics *Metrics // default: a set that is not registered
}

const graceDefault = 10 * time.Second

func (o *Options) defaults() {
	if o.Clock == nil {
		o.Clock = WallClock{}
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	if o.Settled == nil {
		o.Settled = func(context.Context, string) {}
	}
	if o.CrashBudget == 0 {
		o.CrashBudget = 5
	}
	if o.Grace == 0 {
		o.Grace = graceDefault
	}
	if o.Fencer == nil {
		o.Fencer = noFence{}
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
}

// A Fencer makes sure that this process is the only one that can change a
// scope. Ensure is called before each effect and is cheap when nothing
// changed. Its error is of class Transient (not every server could be fenced
// yet: reason FenceIncomplete) or Fenced (somebody else owns the scope).
type Fencer interface {
	Ensure(ctx context.Context, scope string) (fence uint64, err error)
}

type noFence struct{}

func (noFence) Ensure(context.Context, string) (uint64, error) { return 0, nil }
