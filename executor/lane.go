package executor

import (
	"context"
	"errors"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A lane works on the operations of one scope, one turn at a time, in one
// goroutine: so there is never more than one mutating command per pool (R21),
// and a long wait, which is a series of short looks, does not hold up others.
type lane struct {
	e     *Engine
	scope string
	wake  chan struct{}
	due   map[journal.OpID]due

	fence                  uint64
	fenceReason, fenceText string // guarded by e.mu
	stopped                bool   // somebody else owns the scope; guarded by e.mu
}

// due says when to look at an operation again, and how often that went on.
type due struct {
	at  time.Time
	ver uint64 // of the operation; any event makes it due at once
	n   int    // consecutive looks that led nowhere
	// waits: for another operation, whose end is no event of this one. Looking
	// costs nothing then, and is done in every pass.
	waits bool
}

// idle is how long a lane sleeps when nothing is due; events wake it.
const idle = time.Minute

func (l *lane) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lane) run(ctx context.Context) {
	for ctx.Err() == nil {
		d := l.pass(ctx)
		l.e.opts.Clock.Wait(ctx, d, l.wake)
	}
}

// pass gives each operation that is due a turn and says how long to sleep.
func (l *lane) pass(ctx context.Context) time.Duration {
	sleep := idle
	seen := map[journal.OpID]bool{}
	now, err := l.e.state.Snapshot()
	if err != nil {
		l.e.opts.Log.Error(err, "reading the journal failed", "scope", l.scope)
		return time.Second
	}
	for _, op := range now.Open {
		if op.Plan.Scope != l.scope {
			continue
		}
		seen[op.ID] = true
		if ctx.Err() != nil || l.isStopped() {
			return idle
		}
		now := l.e.opts.Clock.Now()
		d, known := l.due[op.ID]
		if known && !d.waits && d.ver == op.Ver && now.Before(d.at) {
			sleep = min(sleep, d.at.Sub(now))
			continue
		}
		// An operation that ended since Open was read, or that moved, shows in a
		// fresh copy only.
		fresh, err := l.e.state.Op(op.ID)
		if err != nil || fresh.State.Terminal() {
			continue
		}
		if known && d.ver != fresh.Ver {
			d.n = 0
		}
		wait, waits := l.turn(ctx, clone(fresh), d.n)
		after, err := l.e.state.Op(op.ID)
		if err != nil || after.State.Terminal() {
			delete(l.due, op.ID)
			sleep = 0 // others may be waiting for its locks
			continue
		}
		n := d.n + 1
		if after.Ver != fresh.Ver {
			n = 0
		} else if wait == 0 {
			// Nothing moved and nobody said when to look again: whatever the
			// reason, a lane never spins.
			wait = l.e.backoff(d.n, 10*time.Second, idle)
		}
		l.due[op.ID] = due{at: l.e.opts.Clock.Now().Add(wait), ver: after.Ver, n: n, waits: waits}
		sleep = min(sleep, wait)
	}
	for id := range l.due {
		if !seen[id] {
			delete(l.due, id)
		}
	}
	return sleep
}

func (l *lane) isStopped() bool {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	return l.stopped
}

// turn moves one operation as far as it goes without waiting, and says when to
// look again. n counts the turns before this one that changed nothing. waits:
// it had none, another operation comes first.
func (l *lane) turn(ctx context.Context, op *view.Op, n int) (wait time.Duration, waits bool) {
	if wait, ok := l.admissible(op, n); !ok {
		return wait, true
	}
	return l.move(ctx, op, n), false
}

func (l *lane) move(ctx context.Context, op *view.Op, n int) time.Duration {
	e := l.e
	if op.State == view.Cancelling {
		return l.cancel(ctx, op, n)
	}
	t := &turn{lane: l, op: op, n: n}
	wait, err := t.run(ctx)
	switch {
	case err == nil:
		return wait
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return 0
	case journal.IsConflict(err):
		return 0 // somebody else wrote to the operation: look again
	default:
		e.opts.Log.Error(err, "operation turn failed", "operation", op.ID, "kind", op.Plan.Kind)
		return e.backoff(n, time.Second, time.Minute)
	}
}

// admissible reports whether op may have a turn now, and if not, when to ask
// again.
func (l *lane) admissible(op *view.Op, n int) (time.Duration, bool) {
	e := l.e
	if op.Alien != "" {
		e.note(op, "", "NotUnderstood", "its journal has events this version does not know: "+op.Alien, time.Time{})
		return idle, false
	}
	if op.State != view.Planned {
		return 0, true
	}
	for _, id := range op.Plan.After {
		before, err := e.state.Op(id)
		if err == nil && !before.State.Terminal() {
			e.note(op, "", "WaitingForOperation", "waits for "+before.Plan.Kind+" of "+before.Plan.Target, time.Time{})
			return idle, false
		}
	}
	now, err := e.state.Snapshot()
	if err != nil {
		return time.Second, false
	}
	if o := conflicts(op, now.Open); o != nil {
		e.note(op, "", "WaitingForLock", "waits for "+o.Plan.Kind+" of "+o.Plan.Target, time.Time{})
		return idle, false
	}
	return 0, true
}

// backoff is min, 2 min, 4 min ... up to max, with jitter of a fifth.
func (e *Engine) backoff(n int, lo, hi time.Duration) time.Duration {
	d := lo
	for range min(n, 16) {
		if d *= 2; d >= hi {
			d = hi
			break
		}
	}
	return d - time.Duration(e.opts.Rand()*0.2*float64(d))
}
