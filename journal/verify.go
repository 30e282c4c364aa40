package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// FindingsMax bounds what one report lists.
const FindingsMax = 100

// A Finding is one thing wrong with a journal. Seq and Key say where.
type Finding struct {
	Seq  Seq    `json:"seq,omitempty"`
	Key  string `json:"key,omitempty"` // "bucket/key"
	What string `json:"what"`
}

func (f Finding) String() string {
	switch {
	case f.Seq != 0:
		return fmt.Sprintf("event %d: %s", f.Seq, f.What)
	case f.Key != "":
		return fmt.Sprintf("%s: %s", f.Key, f.What)
	}
	return f.What
}

// A Report is what Verify found out. The journal is good when OK.
type Report struct {
	Path      string        `json:"path,omitempty"`
	JournalID string        `json:"journalID,omitempty"`
	Format    int           `json:"format,omitempty"`
	Epoch     Epoch         `json:"epoch"`
	Head      Head          `json:"head"`
	Tail      Seq           `json:"tail"`
	Events    uint64        `json:"events"`
	Ops       int           `json:"ops"`
	Open      int           `json:"open"`
	Bytes     int64         `json:"bytes"`     // of the pages in the file
	FreeBytes int64         `json:"freeBytes"` // of those, in no use
	Took      time.Duration `json:"took"`
	Findings  []Finding     `json:"findings"` // at most FindingsMax
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// Err is nil for a good journal, else a *CorruptError of the first finding.
func (r *Report) Err() error {
	if r.OK() {
		return nil
	}
	f := r.Findings[0]
	return &CorruptError{Path: r.Path, Seq: f.Seq, Key: f.Key, What: f.What}
}

// Verify checks the file at path, which no process may hold for writing: the
// structure, the chain over every event, heads, epochs, the history of every
// operation, and every projection and index against the events. What is wrong
// is in the report; the error is of the attempt (ErrLocked, ErrTooNew, the
// context's, the system's). It never panics and ends on any input.
func Verify(ctx context.Context, path string) (Report, error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	f, err := openShared(ctx, path)
	if err != nil {
		return Report{}, fmt.Errorf("verifying: %w", err)
	}
	return verify(ctx, f, path)
}

// Verify takes a copy of the journal as of now and verifies that.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	f, _, err := j.copyOut(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("verifying: %w", err)
	}
	return verify(ctx, f, j.path)
}

// openShared opens a file for reading under a shared lock.
func openShared(ctx context.Context, path string) (*os.File, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("opening journal: %w", err)
	}
	if err := flock(ctx, f, unix.LOCK_SH, readerLockWait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openRegular opens a regular file; opening others could block.
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: unix.EISDIR}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no regular file: %w", path, ErrUsage)
	}
	return os.OpenFile(path, flag, 0)
}

// readerLockWait is how long readers of a file wait for its writer.
const readerLockWait = time.Second

// verify checks f, which it closes.
func verify(ctx context.Context, f *os.File, path string) (Report, error) {
	begun := time.Now()
	r := Report{Path: path, Findings: []Finding{}}
	err := r.file(ctx, f)
	r.Took = time.Since(begun)
	if ce := (*CorruptError)(nil); errors.As(err, &ce) {
		r.Findings = append(r.Findings, Finding{Seq: ce.Seq, Key: ce.Key, What: ce.What})
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("verifying %q: %w", path, err)
	}
	return r, nil
}

func (r *Report) file(ctx context.Context, f *os.File) (err error) {
	st, err := checkPages(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.Bytes, r.FreeBytes = int64(st.pages)*pageSize, int64(st.pages-st.used)*pageSize
	db, err := openBolt(f, true, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return contain(func() error {
		return db.View(func(tx *bolt.Tx) error { return r.tx(ctx, tx) })
	})
}

func (r *Report) tx(ctx context.Context, tx *bolt.Tx) error {
	m, err := readMeta(tx, false)
	if err != nil {
		return err
	}
	r.JournalID, r.Format = m.id.String(), int(m.format)
	r.Epoch, r.Head, r.Tail = m.epoch, m.head, m.tail.Seq
	s, err := scanEvents(ctx, tx, &m)
	if err != nil {
		return err
	}
	r.Events = uint64(s.head.Seq - m.tail.Seq + 1)
	all, err := foldAll(ctx, tx, &m)
	if err != nil {
		return err
	}
	r.Ops, r.Open = len(all.ops), len(s.open)
	r.Findings = append(r.Findings, all.findings...)
	differences, err := all.compare(tx)
	if err != nil {
		return err
	}
	r.Findings = append(r.Findings, differences...)
	if n := len(r.Findings); n > FindingsMax {
		r.Findings = r.Findings[:FindingsMax]
	}
	return nil
}
