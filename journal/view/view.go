package view

import (
	"context"

	"github.com/gluster/anthill/journal"
)

// A View is the fold of events: operations, locks, tombstones, fences. Not safe
// for concurrent use. The operations it hands out are never changed afterwards
// and must not be changed by the caller.
type View struct{}

// Fold folds events from the first on.
func Fold(events []journal.Event) *View { return &View{} }

// FoldOp folds the stream of one operation; epochs are the journal's, for the
// crash counters. Nil if the stream has no op.planned.
func FoldOp(events []journal.Event, epochs []journal.Tenure) *Op { return nil }

// Apply folds one more event.
func (v *View) Apply(ev journal.Event) {}

// Op returns an operation, or nil.
func (v *View) Op(id journal.OpID) *Op { return nil }

// Open lists the operations that have not ended, in the order they were planned.
func (v *View) Open() []*Op { return nil }

// Locks maps each lock that is held ("scope/lock") to its holder.
func (v *View) Locks() map[string]journal.OpID { return nil }

// A Picture is the state of a journal at one event, as planner and executor
// need it. The operations are shared and must not be changed.
type Picture struct {
	Head       journal.Head
	Epoch      journal.Epoch
	Open       []*Op // in the order they were planned
	Recent     []*Op // ended lately, oldest first, at most RecentMax
	Tombstones map[string]Tombstone
	Fences     map[string]uint64
	Locks      map[string]journal.OpID
}

// A Tracker is a view of a live journal that is as new as its head whenever it
// is asked. Safe for concurrent use. It has no goroutine and nothing to close.
type Tracker struct{}

// Track starts a Tracker from the journal's open operations.
func Track(ctx context.Context, j *journal.Journal) (*Tracker, error) { return &Tracker{}, nil }

// Snapshot returns the state as of the journal's head: it includes every
// append that returned before the call.
func (t *Tracker) Snapshot() (Picture, error) { return Picture{}, nil }

// Op returns an operation, ended ones included; journal.ErrNotFound if there is none.
func (t *Tracker) Op(id journal.OpID) (*Op, error) { return nil, nil }
