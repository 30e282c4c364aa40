package view

import (
	"cmp"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
)

// A View is the fold of events: operations, locks, tombstones, fences. Not safe
// for concurrent use.
type View struct {
	schemas *Schemas

	seq    journal.Seq
	epoch  journal.Epoch
	ops    map[journal.OpID]*Op
	tombs  map[string]Tombstone
	fences map[string]uint64
}

// New returns the view of a journal without events. schemas may be nil: those
// of this release.
func New(schemas *Schemas) *View {
	if schemas == nil {
		schemas = &released
	}
	return &View{schemas: schemas, ops: map[journal.OpID]*Op{}, tombs: map[string]Tombstone{}, fences: map[string]uint64{}}
}

// Fold folds events, in order and without gap, from the first on.
func Fold(events []journal.Event) *View {
	v := New(nil)
	for _, ev := range events {
		v.Apply(ev)
	}
	return v
}

// FoldOp folds the whole stream of one operation. epochs are those of the
// journal, for the crash counters. Nil if the stream does not begin with
// op.planned.
func FoldOp(events []journal.Event, epochs []journal.Tenure) *Op {
	if len(events) == 0 {
		return nil
	}
	v := New(nil)
	v.stream(events, epochs)
	return v.ops[events[0].Op]
}

// stream folds one operation's events between the epochs they were written in.
func (v *View) stream(events []journal.Event, epochs []journal.Tenure) {
	i := 0
	for _, ev := range events {
		for ; i < len(epochs) && epochs[i].Opened < ev.Seq; i++ {
			v.reopened(epochs[i].By.Clean)
		}
		v.Apply(ev)
	}
	for ; i < len(epochs); i++ {
		v.reopened(epochs[i].By.Clean)
	}
}

// Apply folds one more event.
func (v *View) Apply(ev journal.Event) {
	v.seq, v.epoch = ev.Seq, max(v.epoch, ev.Epoch)
	switch ev.Type {
	case journal.EpochOpened:
		var o journal.Opened
		if err := v.schemas.decode(&ev, &o); err != nil {
			o.Clean = false // the worse of the two
		}
		v.reopened(o.Clean)
		return
	case journal.FenceRaised:
		var f journal.Fence
		if v.schemas.decode(&ev, &f) == nil {
			v.fences[f.Scope] = max(v.fences[f.Scope], f.Fence)
		}
		return
	case journal.IntentReleased:
		var d journal.Decision
		if v.schemas.decode(&ev, &d) == nil {
			delete(v.tombs, d.Intent)
		}
		return
	}
	if ev.Op == uuid.Nil {
		return
	}
	old := v.ops[ev.Op]
	if ev.Type == journal.OpPlanned && old == nil {
		o := plannedOp(&ev, v.schemas)
		v.ops[ev.Op] = o
		delete(v.tombs, o.Plan.Intent) // planned again: the tombstone has served
		return
	}
	if old == nil {
		return // a stream without its beginning
	}
	o := old.clone()
	o.apply(&ev, v.schemas)
	v.ops[ev.Op] = o
	if o.State == Abandoned && old.State != Abandoned && o.Plan.Intent != "" {
		v.tombs[o.Plan.Intent] = Tombstone{Intent: o.Plan.Intent, Op: o.ID, Generation: o.Plan.Reason.Generation, Reason: o.Decision.Reason}
	}
}

// reopened counts the crash of every step that was under way when an epoch
// ended without being closed.
func (v *View) reopened(clean bool) {
	if clean {
		return
	}
	for id, o := range v.ops {
		if o.State.Terminal() || !slices.ContainsFunc(o.Steps, started) {
			continue
		}
		o = o.clone()
		for i := range o.Steps {
			if started(o.Steps[i]) {
				o.Steps[i].Crashes++
			}
		}
		v.ops[id] = o
	}
}

func started(s Step) bool { return s.State == Started }

// Op returns an operation, or nil.
func (v *View) Op(id journal.OpID) *Op { return v.ops[id] }

// Epoch is the epoch of the last event.
func (v *View) Epoch() journal.Epoch { return v.epoch }

// Open lists the operations that have not ended, in the order they were planned.
func (v *View) Open() []*Op {
	var open []*Op
	for _, o := range v.ops {
		if !o.State.Terminal() {
			open = append(open, o)
		}
	}
	slices.SortFunc(open, func(a, b *Op) int { return cmp.Compare(a.First, b.First) })
	return open
}

// Locks maps each lock that is held (journal.LockKey of scope and lock) to the
// operation that holds it.
func (v *View) Locks() map[string]journal.OpID {
	locks := map[string]journal.OpID{}
	for id, o := range v.ops {
		if o.HoldsLocks() {
			for _, name := range o.Plan.Locks {
				locks[journal.LockKey(o.Plan.Scope, name)] = id
			}
		}
	}
	return locks
}

// Tombstones maps the intents of abandoned operations to their traces.
func (v *View) Tombstones() map[string]Tombstone { return maps.Clone(v.tombs) }

// Fences maps each scope to the highest fence raised for it.
func (v *View) Fences() map[string]uint64 { return maps.Clone(v.fences) }
