package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// Snapshot writes a consistent copy of the file to w and describes it. The copy
// is a journal of its own that Verify and OpenReader read. The writer is not
// held up: the copy is made into an unlinked file beside the journal first, and
// no transaction is open while w is written to. One snapshot at a time.
func (j *Journal) Snapshot(ctx context.Context, w io.Writer) (Manifest, error) {
	f, m, err := j.copyOut(ctx)
	if err != nil {
		return m, fmt.Errorf("taking a snapshot: %w", err)
	}
	defer func() { _ = f.Close() }() // unlinked; nothing to lose
	sum := newSummer(w)
	if _, err := io.Copy(sum, &contextReader{ctx, f}); err != nil {
		return m, fmt.Errorf("writing the snapshot: %w", err)
	}
	m.SHA256 = sum.sum()
	return m, nil
}

// copyOut copies the file as of now into an unlinked one, at its beginning.
func (j *Journal) copyOut(ctx context.Context) (f *os.File, m Manifest, err error) {
	j.snapping.Lock()
	defer j.snapping.Unlock()
	f, err = unlinked(filepath.Dir(j.path))
	if err != nil {
		return nil, m, err
	}
	if m, err = j.copyTo(ctx, f); err != nil {
		return nil, m, errors.Join(err, f.Close())
	}
	return f, m, nil
}

// copyTo writes the file as of now to f and rewinds that.
func (j *Journal) copyTo(ctx context.Context, f *os.File) (m Manifest, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		meta, err := readMeta(tx, false)
		if err != nil {
			return err
		}
		m = Manifest{JournalID: j.ID(), Format: Format, Epoch: meta.epoch, Head: meta.head}
		m.Size, err = tx.WriteTo(&contextWriter{ctx, f})
		return err
	})
	if ctx.Err() != nil {
		err = ctx.Err() // bbolt tells only the text
	}
	if err != nil {
		return m, err
	}
	if _, err = f.Seek(0, io.SeekStart); err != nil {
		return m, fmt.Errorf("rewinding the copy: %w", err)
	}
	return m, nil
}

// unlinked makes a file without a name in dir.
func unlinked(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(dir, "(unlinked)")), nil
	}
	f, err := os.CreateTemp(dir, ".journal-copy-*") // file systems without O_TMPFILE
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlinking a temporary file: %w", err), f.Close())
	}
	return f, nil
}

// A contextWriter fails once its context has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// A contextReader fails once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// A summer passes bytes on and sums them up.
type summer struct {
	w io.Writer
	h hash.Hash
}

func newSummer(w io.Writer) *summer { return &summer{w, sha256.New()} }

func (s *summer) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	_, _ = s.h.Write(b[:n]) // a hash never fails
	return n, err
}

func (s *summer) sum() (h Hash) {
	s.h.Sum(h[:0])
	return h
}
