package journal

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// A ledger is the state that appends are checked against: the open operations,
// who holds which intent and lock, fences, the epoch. Ledgers stack: one layer
// per append over one per transaction over the committed one, so that a refused
// append or a failed commit is undone by dropping its layer.
type ledger struct {
	parent *ledger

	head    Head
	epoch   Epoch
	opened  bool // an epoch of this process is open
	ops     map[OpID]*opState
	intents map[string]intentRow // zero Op: none
	locks   map[string]OpID      // "scope/lock" -> holder; zero: none
	fences  map[string]uint64
	byType  map[Type]uint64
	tenures []Tenure // in an upper layer: those it adds
	closed  Seq      // in an upper layer: epoch.closed of the last tenure

	keepEnded bool // a bottom layer that keeps operations that ended
	// ended looks up an operation that is not open: its row, or nil.
	ended func(OpID) (*opRow, error)
}

func newLedger() *ledger {
	return &ledger{
		ops: map[OpID]*opState{}, intents: map[string]intentRow{}, locks: map[string]OpID{},
		fences: map[string]uint64{}, byType: map[Type]uint64{},
	}
}

// over returns an empty layer over l.
func (l *ledger) over() *ledger {
	return &ledger{parent: l, head: l.head, epoch: l.epoch, opened: l.opened, ended: l.ended}
}

// merge folds a layer into the one below it.
func (l *ledger) merge() {
	p := l.parent
	p.head, p.epoch, p.opened = l.head, l.epoch, l.opened
	bottom := p.parent == nil
	for id, o := range l.ops {
		if bottom && o.Terminal() && !p.keepEnded {
			delete(p.ops, id)
			continue
		}
		put(&p.ops, id, o)
	}
	mergeMap(&p.intents, l.intents, bottom, func(r intentRow) bool { return r.Op == uuid.Nil })
	mergeMap(&p.locks, l.locks, bottom, func(id OpID) bool { return id == uuid.Nil })
	for scope, f := range l.fences {
		put(&p.fences, scope, f)
	}
	for t, n := range l.byType {
		put(&p.byType, t, p.byType[t]+n)
	}
	if l.closed != 0 {
		p.close(l.closed)
	}
	p.tenures = append(p.tenures, l.tenures...)
}

func mergeMap[K comparable, V any](dst *map[K]V, src map[K]V, drop bool, none func(V) bool) {
	for k, v := range src {
		if drop && none(v) {
			delete(*dst, k)
			continue
		}
		put(dst, k, v)
	}
}

// put stores into a map that is made when it is needed: a layer mostly needs
// one or two of its maps.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func (l *ledger) close(seq Seq) {
	if n := len(l.tenures); n > 0 {
		l.tenures[n-1].Closed = seq
	} else {
		l.closed = seq
	}
}

// op returns an operation for reading; nil if it is not open in any layer. One
// that ended in an upper layer is returned as ended.
func (l *ledger) op(id OpID) *opState {
	for ; l != nil; l = l.parent {
		if o, ok := l.ops[id]; ok {
			return o
		}
	}
	return nil
}

// own returns an operation for changing in this layer.
func (l *ledger) own(id OpID) *opState {
	if o, ok := l.ops[id]; ok {
		return o
	}
	if o := l.op(id); o != nil {
		o = o.clone()
		put(&l.ops, id, o)
		return o
	}
	return nil
}

func (l *ledger) intent(key string) intentRow {
	for ; l != nil; l = l.parent {
		if r, ok := l.intents[key]; ok {
			return r
		}
	}
	return intentRow{}
}

func (l *ledger) lock(key string) OpID {
	for ; l != nil; l = l.parent {
		if id, ok := l.locks[key]; ok {
			return id
		}
	}
	return uuid.Nil
}

func (l *ledger) fence(scope string) uint64 {
	for ; l != nil; l = l.parent {
		if f, ok := l.fences[scope]; ok {
			return f
		}
	}
	return 0
}

// version is the version of an operation, ended ones included, and its last
// event; 0: there is none.
func (l *ledger) version(id OpID) (ver uint64, last Seq, err error) {
	if o := l.op(id); o != nil {
		return o.Ver, o.Last, nil
	}
	h, err := l.ended(id)
	if err != nil || h == nil {
		return 0, 0, err
	}
	return h.Ver, h.Last, nil
}

// accept folds one event and returns what is illegal about it. Like
// opState.apply it folds even then; an append drops its layer.
func (l *ledger) accept(f fact) error {
	put(&l.byType, f.Type, l.byType[f.Type]+1)
	switch f.Type {
	case JournalInitialized:
		if f.Seq != 1 {
			return fmt.Errorf("%s at %d: %w", f.Type, f.Seq, ErrIllegal)
		}
		return nil
	case EpochOpened:
		return l.acceptEpoch(f)
	case EpochClosed:
		l.opened = false
		l.close(f.Seq)
		return nil
	case FenceRaised:
		return l.acceptFence(f)
	case IntentReleased:
		return l.acceptReleased(f)
	case OpPlanned:
		return l.acceptPlan(f)
	}
	if f.Op == uuid.Nil {
		if known[string(f.Type)] == "" {
			return nil
		}
		return fmt.Errorf("%s names no operation: %w", f.Type, ErrIllegal)
	}
	return l.acceptOp(f)
}

func (l *ledger) acceptEpoch(f fact) error {
	var err error
	if f.Epoch != l.epoch+1 {
		err = fmt.Errorf("epoch %d follows %d: %w", f.Epoch, l.epoch, ErrIllegal)
	}
	l.epoch, l.opened = f.Epoch, true
	l.tenures = append(l.tenures, Tenure{Epoch: f.Epoch, Opened: f.Seq, Time: f.Time, Build: f.Build, By: f.opened})
	return err
}

func (l *ledger) acceptFence(f fact) error {
	var err error
	if have := l.fence(f.fence.Scope); f.fence.Scope == "" || f.fence.Fence <= have {
		err = fmt.Errorf("fence %d of scope %q does not exceed %d: %w", f.fence.Fence, f.fence.Scope, have, ErrConflict)
	}
	put(&l.fences, f.fence.Scope, f.fence.Fence)
	return err
}

func (l *ledger) acceptReleased(f fact) error {
	key := f.decision.Intent
	if f.Op != uuid.Nil {
		return fmt.Errorf("%s belongs to no operation: its payload names the intent: %w", f.Type, ErrIllegal)
	}
	if r := l.intent(key); key == "" || !r.Dead {
		return fmt.Errorf("%s: intent %q has no tombstone: %w", f.Type, key, ErrIllegal)
	}
	put(&l.intents, key, intentRow{})
	return nil
}

func (l *ledger) acceptPlan(f fact) error {
	var bad error
	switch ver, _, err := l.version(f.Op); {
	case err != nil:
		return err
	case f.Op == uuid.Nil:
		return fmt.Errorf("%s names no operation: %w", f.Type, ErrIllegal)
	case ver != 0 || f.OpVer != 1:
		return fmt.Errorf("operation %s is planned already: %w", f.Op, ErrIllegal)
	}
	if err := checkPlan(&f.plan); err != nil {
		bad = fmt.Errorf("planning operation %s: %w", f.Op, err)
	}
	if key := f.plan.Intent; key != "" {
		if r := l.intent(key); r.Op != uuid.Nil && !r.Dead && bad == nil {
			bad = fmt.Errorf("intent %q is planned already by operation %s: %w", key, r.Op, ErrConflict)
		}
		put(&l.intents, key, intentRow{Op: f.Op})
	}
	put(&l.ops, f.Op, newOpState(f))
	return bad
}

// acceptOp folds the other events of an operation and what follows from them
// for locks and intents.
func (l *ledger) acceptOp(f fact) error {
	o := l.own(f.Op)
	if o == nil {
		h, err := l.ended(f.Op)
		switch {
		case err != nil:
			return err
		case h == nil:
			return fmt.Errorf("%s: there is no operation %s: %w", f.Type, f.Op, ErrIllegal)
		}
		return fmt.Errorf("%s: operation %s has ended (%s): %w", f.Type, f.Op, h.State, ErrIllegal)
	}
	bad := o.apply(f)
	switch {
	case f.Type == OpStarted:
		if err := l.take(o); bad == nil {
			bad = err
		}
	case f.Type.Terminal():
		l.release(o, f)
	}
	return bad
}

// take gives an operation the locks of its plan, all at once.
func (l *ledger) take(o *opState) error {
	var bad error
	for _, id := range o.after {
		if p := l.op(id); p != nil && !p.Terminal() && bad == nil {
			bad = fmt.Errorf("operation %s must wait for %s: %w", o.ID, id, ErrIllegal)
		}
	}
	for _, name := range o.locks {
		key := LockKey(o.Scope, name)
		if holder := l.lock(key); holder != uuid.Nil && holder != o.ID && bad == nil {
			bad = fmt.Errorf("lock %q is held by operation %s: %w", key, holder, ErrConflict)
		}
		put(&l.locks, key, o.ID)
	}
	return bad
}

func (l *ledger) release(o *opState, f fact) {
	for _, name := range o.locks {
		if key := LockKey(o.Scope, name); l.lock(key) == o.ID {
			put(&l.locks, key, uuid.Nil)
		}
	}
	if o.Intent == "" || l.intent(o.Intent).Op != o.ID {
		return
	}
	row := intentRow{}
	if f.Type == OpAbandoned {
		row = intentRow{Op: o.ID, Dead: true, Generation: o.Generation, Reason: clip(f.decision.Reason, 1024)}
	}
	put(&l.intents, o.Intent, row)
}

// LockKey is the name of a plan's lock among those of all scopes.
func LockKey(scope, lock string) string { return scope + "/" + lock }

// settle checks what must hold once all events of an append are folded: what a
// plan supersedes has ended, what it waits for exists, and what was superseded
// after it had started has found who goes on with what it was for.
func (l *ledger) settle() error {
	taken := map[OpID]bool{}
	for _, o := range l.ops {
		if o.First > l.parent.head.Seq {
			for _, old := range o.Supersedes {
				taken[old] = true
			}
		}
	}
	for id, o := range l.ops {
		if o.State == opSuperseded && o.Started != 0 && !taken[id] {
			return fmt.Errorf("operation %s has started: it is superseded only by one that the append plans: %w", id, ErrIllegal)
		}
		if o.First <= l.parent.head.Seq {
			continue // not planned by this append
		}
		for _, old := range o.Supersedes {
			if p := l.op(old); p != nil && !p.Terminal() {
				return fmt.Errorf("operation %s supersedes %s, which the append does not end: %w", id, old, ErrIllegal)
			}
		}
		for _, dep := range o.after {
			if ver, _, err := l.version(dep); err != nil {
				return err
			} else if ver == 0 {
				return fmt.Errorf("operation %s waits for %s, which does not exist: %w", id, dep, ErrIllegal)
			}
		}
	}
	return nil
}

// open lists the open operations in the order they were planned.
func (l *ledger) open() []*opState {
	var list []*opState
	for _, o := range l.ops {
		if !o.Terminal() {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *opState) int { return cmp.Compare(a.First, b.First) })
	return list
}

// tombstones lists the dead intents, sorted.
func (l *ledger) tombstones() []Tombstone {
	var list []Tombstone
	for key, r := range l.intents {
		if r.Dead {
			list = append(list, Tombstone{Intent: key, Op: r.Op, Generation: r.Generation, Reason: r.Reason})
		}
	}
	slices.SortFunc(list, func(a, b Tombstone) int { return cmp.Compare(a.Intent, b.Intent) })
	return list
}
