package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// An Engine carries out the open operations of a journal. Create it with New,
// let it run with Run.
type Engine struct {
	log   Log
	state State
	steps *Registry
	epoch journal.Epoch
	opts  Options

	mu    sync.Mutex
	lanes map[string]*lane
	notes map[journal.OpID]Note
	wg    sync.WaitGroup
}

// A Note is why an operation is not moving right now. It is not journaled: it
// is true of this moment only.
type Note struct {
	Step   string
	Reason string // CamelCase: WaitingForLock, WaitingForOperation, BackingOff, GuardClosed ...
	Text   string
	Since  time.Time
	Next   time.Time // when the executor looks again
}

// New makes an engine for the epoch that is open. Steps that were running when
// the epoch before ended must have been marked by Recover first.
func New(l Log, s State, steps *Registry, epoch journal.Epoch, opts Options) *Engine {
	opts.defaults()
	return &Engine{log: l, state: s, steps: steps, epoch: epoch, opts: opts,
		lanes: map[string]*lane{}, notes: map[journal.OpID]Note{}}
}

// Run works until ctx ends and then waits for what is under way to return. It
// gives each scope a lane of its own.
func (e *Engine) Run(ctx context.Context) error {
	changed, stop := e.log.Watch()
	defer stop()
	defer e.wg.Wait()
	for {
		e.open(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// open starts a lane for each scope that has open operations and wakes all.
func (e *Engine) open(ctx context.Context) {
	counts := map[view.OpState]int{}
	unknown := 0
	e.mu.Lock()
	defer e.mu.Unlock()
	live := map[journal.OpID]bool{}
	open, err := e.state.Snapshot()
	if err != nil {
		e.opts.Log.Error(err, "reading the journal failed")
		return
	}
	for _, op := range open.Open {
		counts[op.State]++
		live[op.ID] = true
		if k := op.Current(); k < len(op.Steps) && op.Steps[k].State == view.Unknown {
			unknown++
		}
		scope := op.Plan.Scope
		if _, ok := e.lanes[scope]; ok {
			continue
		}
		l := &lane{e: e, scope: scope, wake: make(chan struct{}, 1), due: map[journal.OpID]due{}}
		e.lanes[scope] = l
		e.wg.Go(func() {
			l.run(ctx)
		})
	}
	for id := range e.notes {
		if !live[id] {
			delete(e.notes, id)
		}
	}
	for _, l := range e.lanes {
		l.poke()
	}
	for _, s := range []view.OpState{view.Planned, view.Running, view.Suspended, view.Cancelling} {
		e.opts.Metrics.OpsOpen.WithLabelValues(string(s)).Set(float64(counts[s]))
	}
	e.opts.Metrics.Unknown.Set(float64(unknown))
}

// Notes says, of the open operations, why they are not moving.
func (e *Engine) Notes() map[journal.OpID]Note {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[journal.OpID]Note, len(e.notes))
	maps.Copy(out, e.notes)
	return out
}

// FenceProblem says why a scope must not be changed; empty when nothing is
// known against it.
func (e *Engine) FenceProblem(scope string) (reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l, ok := e.lanes[scope]; ok {
		return l.fenceReason, l.fenceText
	}
	return "", ""
}

// Forget lets the lane of a scope go on that was fenced off, after a person
// allowed this instance to take over.
func (e *Engine) Forget(scope string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l, ok := e.lanes[scope]; ok {
		l.stopped, l.fenceReason, l.fenceText = false, "", ""
		l.poke()
	}
}

func (e *Engine) note(op *view.Op, step, reason, text string, next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if reason == "" {
		delete(e.notes, op.ID)
		return
	}
	n := Note{Step: step, Reason: reason, Text: text, Since: e.opts.Clock.Now(), Next: next}
	if old, ok := e.notes[op.ID]; ok && old.Step == step && old.Reason == reason && old.Text == text {
		n.Since = old.Since
	} else {
		e.opts.Log.Info("operation waits", "operation", op.ID, "kind", op.Plan.Kind, "target", op.Plan.Target,
			"step", step, "reason", reason, "message", text)
	}
	e.notes[op.ID] = n
}

// append writes events of one operation, guarded by its version: whoever else
// wrote to it in between wins, and this turn starts anew.
func (e *Engine) append(ctx context.Context, op *view.Op, events ...journal.Event) error {
	for i := range events {
		events[i].Actor = actor
	}
	_, err := e.log.Append(ctx, journal.Guard{Epoch: e.epoch, OpVer: map[journal.OpID]uint64{op.ID: op.Ver}}, events...)
	if err != nil {
		return fmt.Errorf("recording %s of operation %s: %w", events[len(events)-1].Type, op.ID, err)
	}
	return nil
}

const actor = "executor"

// Recover marks each step that was acting when its process ended: from here on
// its outcome is unknown until a probe has looked (I8). It causes no effect.
// Call it once, after the epoch is open and before Run.
func Recover(ctx context.Context, l Log, s State, epoch journal.Epoch) (marked int, err error) {
	var errs error
	now, err := s.Snapshot()
	if err != nil {
		return 0, fmt.Errorf("reading open operations: %w", err)
	}
	for _, op := range now.Open {
		k := op.Current()
		if k == len(op.Steps) || op.Steps[k].State != view.Started || op.Steps[k].Stage == journal.Waiting {
			continue
		}
		ev, err := journal.New(journal.StepUnknown, op.ID, journal.Failure{Class: string(Uncertain),
			Error: "the operator ended while this step was under way"})
		if err != nil {
			return marked, err
		}
		ev.Step, ev.Attempt, ev.Actor = op.Steps[k].ID, op.Steps[k].Attempt, actor
		if _, err := l.Append(ctx, journal.Guard{Epoch: epoch, OpVer: map[journal.OpID]uint64{op.ID: op.Ver}}, ev); err != nil {
			errs = errors.Join(errs, fmt.Errorf("marking operation %s: %w", op.ID, err))
			continue
		}
		marked++
	}
	return marked, errs
}

// conflicts finds an operation that holds, or was planned earlier and waits
// for, one of the locks op needs. Every scope has locks of its own: nodes and
// volumes of other pools may have the same names.
func conflicts(op *view.Op, open []*view.Op) *view.Op {
	for _, o := range open {
		if o.ID == op.ID || o.Plan.Scope != op.Plan.Scope || !(o.HoldsLocks() || (o.State == view.Planned && o.First < op.First)) {
			continue
		}
		for _, l := range o.Plan.Locks {
			if slices.Contains(op.Plan.Locks, l) {
				return o
			}
		}
	}
	return nil
}
