package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A Reader reads a journal: live through its server (Dial) or in process
// (Journal.Reader), or from a file nobody writes (OpenReader). Safe for
// concurrent use. No method leaves a transaction open while a callback or a
// writer of the caller runs.
type Reader interface {
	// Info identifies the journal and tells its head.
	Info(ctx context.Context) (Info, error)
	// Stats returns figures; those of a process are zero for a file.
	Stats(ctx context.Context) (Stats, error)
	// Ops lists operations as Journal.Ops does.
	Ops(ctx context.Context, cursor OpID, max int, f Filter) ([]OpHead, error)
	// Events reads events as Journal.Read does.
	Events(ctx context.Context, from Seq, max int) ([]Event, error)
	// OpEvents reads all events of an operation; ErrNotFound.
	OpEvents(ctx context.Context, id OpID) ([]Event, error)
	// Epochs lists all tenures, oldest first.
	Epochs(ctx context.Context) ([]Tenure, error)
	// Tombstones lists the intents of abandoned operations, sorted by intent.
	Tombstones(ctx context.Context) ([]Tombstone, error)
	// Follow calls fn for each event from a number on, in order, and, when the
	// journal is live, for each new one until ctx ends or fn fails. To resume,
	// begin one above the last event seen. A file ends at its head: nil.
	Follow(ctx context.Context, from Seq, fn func(Event) error) error
	// Verify verifies the journal as of now, as the function Verify does.
	Verify(ctx context.Context) (Report, error)
	// Snapshot writes a consistent copy to w, as Journal.Snapshot does.
	Snapshot(ctx context.Context, w io.Writer) (Manifest, error)
	// Close lets go of what the reader holds. The journal is not closed.
	Close() error
}

// Info identifies a journal.
type Info struct {
	Source    string `json:"source"` // SourceLive or SourceFile
	Path      string `json:"path"`
	JournalID string `json:"journalID"`
	Format    int    `json:"format"`
	Head      Head   `json:"head"`
	Tail      Seq    `json:"tail"`
	Epoch     Epoch  `json:"epoch"`
}

// Sources of a Reader.
const (
	SourceLive = "live"
	SourceFile = "file"
)

// A fileReader reads a file under a shared lock.
type fileReader struct {
	path string
	db   *bolt.DB
	meta metaState
}

var _ Reader = (*fileReader)(nil)

// OpenReader opens a file nobody writes, under a shared lock that keeps a
// writer away until Close. It waits a second for one to let go. The structure
// is checked, the chain is not (Verify does): what a damaged journal still
// holds can be looked at, and what cannot be read is ErrCorrupt.
// Errors: ErrLocked, ErrCorrupt, ErrTooNew, or the system's.
func OpenReader(ctx context.Context, path string) (Reader, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening journal: %w", err)
	}
	f, err := openShared(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := checkPages(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	db, err := openBolt(f, true, 0)
	if err != nil {
		return nil, err
	}
	r := &fileReader{path: path, db: db}
	err = r.view(func(tx *bolt.Tx) (err error) {
		r.meta, err = readMeta(tx, false)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

func (r *fileReader) view(fn func(*bolt.Tx) error) error {
	err := contain(func() error { return r.db.View(fn) })
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return withPath(err, r.path)
}

func (r *fileReader) Info(context.Context) (Info, error) {
	return Info{
		Source: SourceFile, Path: r.path, JournalID: r.meta.id.String(), Format: int(r.meta.format),
		Head: r.meta.head, Tail: r.meta.tail.Seq, Epoch: r.meta.epoch,
	}, nil
}

func (r *fileReader) Stats(ctx context.Context) (Stats, error) {
	st := Stats{
		Path: r.path, JournalID: r.meta.id.String(), Head: r.meta.head, Tail: r.meta.tail.Seq, Epoch: r.meta.epoch,
	}
	open := map[string]int{}
	err := r.view(func(tx *bolt.Tx) error {
		s, err := scanEvents(ctx, tx, &r.meta)
		if err != nil {
			return err
		}
		st.ByType, st.UsedBytes, st.Full = s.byType, tx.Size(), !hasBallast(tx)
		for id := range s.open {
			h, err := readRow(tx, id)
			if err != nil {
				return err
			}
			if h != nil {
				open[h.State]++
			}
		}
		return nil
	})
	if err != nil {
		return st, fmt.Errorf("reading statistics: %w", err)
	}
	st.complete(open)
	info, err := os.Stat(r.path)
	if err != nil {
		return st, fmt.Errorf("reading the size of the journal: %w", err)
	}
	st.FileBytes = info.Size()
	return st, nil
}

func (r *fileReader) Ops(_ context.Context, cursor OpID, max int, f Filter) ([]OpHead, error) {
	return pageOps(cursor, max, func(at OpID, n int) (list []OpHead, next OpID, err error) {
		err = r.view(func(tx *bolt.Tx) error {
			list, next, err = readOps(tx, at, n, &f)
			return err
		})
		return list, next, err
	})
}

func (r *fileReader) Events(_ context.Context, from Seq, max int) (list []Event, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		list, err = readEvents(tx, &r.meta, from, max)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading events from %d: %w", from, err)
	}
	return list, nil
}

func (r *fileReader) OpEvents(_ context.Context, id OpID) ([]Event, error) {
	return readWholeOp(id, func(id OpID, from Seq) (list []Event, err error) {
		err = r.view(func(tx *bolt.Tx) error {
			list, err = readOp(tx, id, from)
			return err
		})
		return list, err
	})
}

func (r *fileReader) Epochs(ctx context.Context) (list []Tenure, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		s, err := scanEvents(ctx, tx, &r.meta)
		if err == nil {
			list = s.tenures
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the epochs: %w", err)
	}
	return list, nil
}

func (r *fileReader) Tombstones(context.Context) (list []Tombstone, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bIntent).ForEach(func(k, v []byte) error {
			var row intentRow
			if err := decodeRow("intent", k, v, &row); err != nil {
				return err
			}
			if row.Dead {
				list = append(list, Tombstone{Intent: string(k), Op: row.Op, Generation: row.Generation, Reason: row.Reason})
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tombstones: %w", err)
	}
	return list, nil
}

func (r *fileReader) Follow(ctx context.Context, from Seq, fn func(Event) error) error {
	_, err := eachEvent(ctx, from, r.Events, fn)
	return err
}

// eachEvent calls fn for the events there are and returns the number after the
// last one.
func eachEvent(ctx context.Context, from Seq, read func(context.Context, Seq, int) ([]Event, error), fn func(Event) error) (Seq, error) {
	for {
		if err := ctx.Err(); err != nil {
			return from, err
		}
		list, err := read(ctx, from, PageMax)
		if err != nil || len(list) == 0 {
			return from, err
		}
		for _, ev := range list {
			if err := fn(ev); err != nil {
				return from, err
			}
			from = ev.Seq + 1
		}
	}
}

func (r *fileReader) Verify(ctx context.Context) (Report, error) { return Verify(ctx, r.path) }

func (r *fileReader) Snapshot(ctx context.Context, w io.Writer) (Manifest, error) {
	m := Manifest{JournalID: r.meta.id.String(), Format: int(r.meta.format), Epoch: r.meta.epoch, Head: r.meta.head}
	sum := newSummer(w)
	// The shared lock keeps writers away: a transaction holds nobody up here.
	err := r.view(func(tx *bolt.Tx) (err error) {
		m.Size, err = tx.WriteTo(&contextWriter{ctx, sum})
		return err
	})
	if ctx.Err() != nil {
		err = ctx.Err() // bbolt tells only the text
	}
	if err != nil {
		return m, fmt.Errorf("writing the snapshot: %w", err)
	}
	m.SHA256 = sum.sum()
	return m, nil
}

func (r *fileReader) Close() error {
	if err := r.db.Close(); err != nil {
		return fmt.Errorf("closing journal %q: %w", r.path, err)
	}
	return nil
}
