package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gluster/anthill/journal"
)

// RecentMax is how many operations that ended lately a Tracker keeps of each
// scope; of those that ended before it was made, of all scopes together.
const RecentMax = 32

// A Picture is the state of a journal at one event, as planner and executor
// need it. Operations are shared and never change; lists and maps are the
// caller's own.
type Picture struct {
	Head       journal.Head
	Epoch      journal.Epoch
	Open       []*Op // in the order they were planned
	Recent     []*Op // ended lately, by their end, see RecentMax
	Tombstones map[string]Tombstone
	Fences     map[string]uint64
	Locks      map[string]journal.OpID
}

// Op returns an operation of the picture, or nil.
func (p *Picture) Op(id journal.OpID) *Op {
	for _, list := range [][]*Op{p.Open, p.Recent} {
		if i := slices.IndexFunc(list, func(o *Op) bool { return o.ID == id }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// A Tracker is a view of a journal that is as new as its head whenever it is
// asked. It keeps open operations and the last that ended, not the others.
// Safe for concurrent use. It has no goroutine and nothing to close.
type Tracker struct {
	j *journal.Journal

	mu     sync.Mutex
	v      *View
	recent []*Op
}

// Track starts a Tracker from the journal's open operations: it costs nothing
// for those that ended long ago.
func Track(ctx context.Context, j *journal.Journal) (*Tracker, error) {
	im, err := j.Image()
	if err != nil {
		return nil, fmt.Errorf("tracking the journal: %w", err)
	}
	v := New(nil)
	v.seq, v.epoch, v.fences = im.Head.Seq, im.Epoch, im.Fences
	for _, events := range im.Open {
		if o := FoldOp(events, im.Epochs); o != nil {
			v.ops[o.ID] = o
		}
	}
	for _, t := range im.Tombstones {
		v.tombs[t.Intent] = t
	}
	t := &Tracker{j: j, v: v}
	if err := t.loadRecent(ctx, im.Head.Seq, im.Epochs); err != nil {
		return nil, fmt.Errorf("tracking the journal: %w", err)
	}
	return t, nil
}

func (t *Tracker) loadRecent(ctx context.Context, head journal.Seq, epochs []journal.Tenure) error {
	states := []string{string(Completed), string(Failed), string(Cancelled), string(Superseded), string(Abandoned)}
	heads, err := t.j.Ops(journal.OpID{}, RecentMax, journal.Filter{States: states})
	if err != nil {
		return err
	}
	for i := range heads {
		if err := ctx.Err(); err != nil {
			return err
		}
		if heads[i].Last > head {
			continue // its end is still to be read
		}
		events, err := t.j.ReadOp(heads[i].ID)
		if err != nil {
			return err
		}
		if o := FoldOp(events, epochs); o != nil {
			t.recent = append(t.recent, o)
		}
	}
	slices.SortFunc(t.recent, func(a, b *Op) int { return cmp.Compare(a.Last, b.Last) })
	return nil
}

// catchUp folds what was appended up to the journal's head, which it returns.
func (t *Tracker) catchUp() (journal.Head, error) {
	head := t.j.Head()
	for t.v.seq < head.Seq {
		events, err := t.j.Read(t.v.seq+1, int(min(head.Seq-t.v.seq, journal.PageMax)))
		if err != nil {
			return head, fmt.Errorf("following the journal: %w", err)
		}
		if len(events) == 0 {
			return head, fmt.Errorf("following the journal: event %d is missing: %w", t.v.seq+1, journal.ErrNotFound)
		}
		for _, ev := range events {
			t.v.Apply(ev)
			if o := t.v.ops[ev.Op]; o != nil && o.State.Terminal() {
				delete(t.v.ops, ev.Op)
				t.remember(o)
			}
		}
	}
	return head, nil
}

// remember keeps an operation that has ended, instead of the oldest of its scope
// when there are enough: what others do must not make a scope forget its own.
func (t *Tracker) remember(o *Op) {
	t.recent = append(t.recent, o)
	first, n := -1, 0
	for i, r := range t.recent {
		if r.Plan.Scope != o.Plan.Scope {
			continue
		}
		if first < 0 {
			first = i
		}
		n++
	}
	if n > RecentMax {
		t.recent = slices.Delete(t.recent, first, first+1)
	}
}

// Snapshot returns the state as of the journal's head: it includes every append
// that returned before the call. Errors are the journal's.
func (t *Tracker) Snapshot() (Picture, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head, err := t.catchUp()
	if err != nil {
		return Picture{}, err
	}
	return Picture{
		Head: head, Epoch: t.v.epoch, Open: t.v.Open(), Recent: slices.Clone(t.recent),
		Tombstones: t.v.Tombstones(), Fences: t.v.Fences(), Locks: t.v.Locks(),
	}, nil
}

// Op returns an operation as of the journal's head, folding it from its events
// if it ended long ago; journal.ErrNotFound if there is none.
func (t *Tracker) Op(id journal.OpID) (*Op, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.catchUp(); err != nil {
		return nil, err
	}
	if o := t.v.ops[id]; o != nil {
		return o, nil
	}
	if i := slices.IndexFunc(t.recent, func(o *Op) bool { return o.ID == id }); i >= 0 {
		return t.recent[i], nil
	}
	events, err := t.j.ReadOp(id)
	if err != nil {
		return nil, err
	}
	o := FoldOp(events, t.j.Epochs())
	if o == nil {
		return nil, fmt.Errorf("operation %s does not fold: %w", id, journal.ErrCorrupt)
	}
	return o, nil
}
