package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A Journal is an open journal file and its one writer. All methods are safe
// for concurrent use.
type Journal struct {
	path string
	o    Options
	db   *bolt.DB
	meta metaState // identity and tail; head and epoch as Open found them

	queue queue // of appends; its leader is the writer

	mu       sync.RWMutex // guards what follows; only the writer changes led and full
	led      *ledger      // committed state
	full     bool
	watchers map[chan struct{}]struct{}
	stats    commitStats

	stop     chan struct{} // closed by Close
	closing  sync.Once
	closeErr error
	poison   atomic.Pointer[error]
	snapping sync.Mutex // one snapshot at a time

	repaired []Finding
}

// Open opens the journal at path for appending, making it if there is none, and
// verifies it before it is trusted: the file's structure, the chain over every
// event, the heads, the epochs, and the projections of open operations against
// their events. Projections that disagree are rebuilt, which Repaired tells.
// The directory must exist. Open waits at most Options.LockWait for another
// process to let go.
//
// Errors: ErrLocked, ErrCorrupt, ErrTooNew, ErrNetworkFS, ErrUsage, or the
// system's. No effect may follow from a journal before its Open returned nil.
func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening journal %q: %w", path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("opening journal: %w", err)
	}
	f, err := acquire(ctx, path, &o)
	if err != nil {
		return nil, err
	}
	if _, err := checkPages(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	db, err := openBolt(f, false, o.MaxSize)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		path: path, o: o, db: db, watchers: map[chan struct{}]struct{}{}, stop: make(chan struct{}),
	}
	j.queue.idle.L = &j.queue.mu
	if err := contain(func() error { return j.recover(ctx) }); err != nil {
		return nil, errors.Join(withPath(err, path), db.Close())
	}
	return j, nil
}

// withPath names the file in an error that says it is damaged.
func withPath(err error, path string) error {
	var ce *CorruptError
	if errors.As(err, &ce) && ce.Path == "" {
		ce.Path = path
	}
	return err
}

// recover verifies what is stored and makes the ledger from it.
func (j *Journal) recover(ctx context.Context) error {
	var s *scan
	err := j.db.View(func(tx *bolt.Tx) (err error) {
		if j.meta, err = readMeta(tx, true); err != nil {
			return err
		}
		if s, err = scanEvents(ctx, tx, &j.meta); err != nil {
			return err
		}
		j.led, j.repaired, err = load(tx, s)
		j.full = !hasBallast(tx)
		return err
	})
	if err != nil {
		return err
	}
	if len(j.repaired) > 0 {
		if err := j.rebuild(ctx, s); err != nil {
			return err
		}
	}
	if j.full {
		j.restoreBallast()
	}
	return nil
}

// rebuild writes the projections anew from the events.
func (j *Journal) rebuild(ctx context.Context, s *scan) error {
	for _, f := range j.repaired {
		j.o.Logger.Warn("journal projection disagrees with the events, rebuilding all", "key", f.Key, "what", f.What)
	}
	err := j.db.Update(func(tx *bolt.Tx) error {
		r, err := foldAll(ctx, tx, &j.meta)
		if err != nil {
			return err
		}
		if err := r.rebuild(tx); err != nil {
			return err
		}
		var left []Finding
		if j.led, left, err = load(tx, s); err == nil && len(left) > 0 {
			err = &CorruptError{Key: left[0].Key, What: "it stays wrong after the projections were rebuilt: " + left[0].What}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("rebuilding the projections: %w", err)
	}
	return nil
}

// view runs fn in a short read transaction. fn must not keep what it sees and
// must not wait for anything.
func (j *Journal) view(fn func(*bolt.Tx) error) error {
	if err := j.poisoned(); err != nil {
		return err
	}
	err := contain(func() error { return j.db.View(fn) })
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return withPath(err, j.path)
}

func (j *Journal) poisoned() error {
	if p := j.poison.Load(); p != nil {
		return *p
	}
	return nil
}

// Close ends the epoch, if one is open, with epoch.closed, and lets go of the
// file. Appends that wait are still carried out; later ones get ErrClosed. Close
// is idempotent.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		close(j.stop)
		j.queue.close()
		if j.poisoned() == nil && j.epochOpen() {
			j.closeErr = j.closeEpoch()
		}
		j.mu.Lock()
		for ch := range j.watchers {
			delete(j.watchers, ch)
		}
		j.mu.Unlock()
		if err := j.db.Close(); j.closeErr == nil && err != nil {
			j.closeErr = fmt.Errorf("closing journal %q: %w", j.path, err)
		}
	})
	return j.closeErr
}

// Watch returns a channel that gets a value after commits, several merged into
// one if the receiver is slow, and a function that ends the watch. A receiver
// reads Head (or what it follows) once before it waits.
func (j *Journal) Watch() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	j.mu.Lock()
	j.watchers[ch] = struct{}{}
	j.mu.Unlock()
	return ch, func() {
		j.mu.Lock()
		delete(j.watchers, ch)
		j.mu.Unlock()
	}
}

// ID is the journal's id.
func (j *Journal) ID() string { return j.meta.id.String() }

// Path is the absolute path of the journal's file.
func (j *Journal) Path() string { return j.path }

// Repaired tells where Open found projections that disagreed with the events
// and rebuilt them. Empty almost always.
func (j *Journal) Repaired() []Finding { return j.repaired }

// Head is the last durable event. It includes every append that has returned.
func (j *Journal) Head() Head {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.led.head
}

// Epoch is the open epoch, or the last one before OpenEpoch.
func (j *Journal) Epoch() Epoch {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.led.epoch
}

func (j *Journal) epochOpen() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.led.opened
}

// Full reports whether events that begin something are refused for want of
// space.
func (j *Journal) Full() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.full
}

// OpenOps lists the operations that have not ended, in the order they were
// planned.
func (j *Journal) OpenOps() []OpID {
	j.mu.RLock()
	defer j.mu.RUnlock()
	open := j.led.open()
	ids := make([]OpID, len(open))
	for i, o := range open {
		ids[i] = o.ID
	}
	return ids
}

// MaxFence is the highest fence raised for a scope; 0 if none.
func (j *Journal) MaxFence(scope string) uint64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.led.fences[scope]
}

// Tombstones lists the intents of abandoned operations, sorted by intent.
func (j *Journal) Tombstones() []Tombstone {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.led.tombstones()
}

// Epochs lists all tenures, oldest first.
func (j *Journal) Epochs() []Tenure {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return append([]Tenure(nil), j.led.tenures...)
}
