package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// acquire opens the journal's file for writing under its exclusive lock and
// makes it first if there is none. The directory's lock is held meanwhile, so
// that two processes never make, or throw away, each other's file.
func acquire(ctx context.Context, path string, o *Options) (*os.File, error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("opening the journal's directory: %w", err)
	}
	defer func() { _ = dir.Close() }() // read only; also gives up its lock
	if !o.AllowNetworkFS {
		if err := checkFS(dir.Name()); err != nil {
			return nil, err
		}
	}
	if err := flock(ctx, dir, unix.LOCK_EX, o.LockWait); err != nil {
		return nil, err
	}
	f, err := openRegular(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path, dir, o); err != nil {
			return nil, fmt.Errorf("making journal %q: %w", path, err)
		}
		f, err = openRegular(path, os.O_RDWR)
	}
	if err != nil {
		return nil, fmt.Errorf("opening journal: %w", err)
	}
	if err := flock(ctx, f, unix.LOCK_EX, o.LockWait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// What an earlier process wrote but did not sync must not be believed and
	// then lost.
	if err := f.Sync(); err != nil {
		return nil, errors.Join(fmt.Errorf("syncing journal: %w", err), f.Close())
	}
	return f, nil
}

// create makes a journal with its first event under a temporary name and moves
// it into place, so that at every moment there is either no journal or a whole
// one. The caller holds the directory's lock.
func create(path string, dir *os.File, o *Options) error {
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what an earlier attempt left: %w", err)
	}
	o.CrashPoint("journal.create.before-write")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	db, err := openBolt(f, false, o.MaxSize)
	if err != nil {
		return err
	}
	err = contain(func() error { return db.Update(func(tx *bolt.Tx) error { return initialize(tx, o) }) })
	if err != nil {
		return errors.Join(fmt.Errorf("writing the first event: %w", err), db.Close())
	}
	if err := f.Sync(); err != nil { // size and inode too, which fdatasync may leave out
		return errors.Join(fmt.Errorf("syncing: %w", err), db.Close())
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	o.CrashPoint("journal.create.before-rename")
	if err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE); err != nil {
		if !errors.Is(err, unix.EINVAL) { // file systems without the flag; the directory's lock must do
			return fmt.Errorf("moving it into place: %w", err)
		}
		if err := os.Rename(tmp, path); err != nil {
			return fmt.Errorf("moving it into place: %w", err)
		}
	}
	o.CrashPoint("journal.create.after-rename")
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("syncing the directory: %w", err)
	}
	return nil
}

// initialize writes the buckets and journal.initialized, event 1, of epoch 0.
func initialize(tx *bolt.Tx, o *Options) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return fmt.Errorf("making bucket %q: %w", name, err)
		}
	}
	if err := fillBallast(tx); err != nil {
		return err
	}
	id, err := o.NewID()
	if err != nil {
		return fmt.Errorf("making an id: %w", err)
	}
	data, err := json.Marshal(Initialized{JournalID: id.String(), Format: Format})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", JournalInitialized, err)
	}
	ev := Event{Seq: 1, Time: o.Clock().UnixNano(), Type: JournalInitialized, SV: 1, Data: data}
	m := metaState{
		format: Format, minReader: readerFormat, minWriter: writerFormat, id: id,
		tail: Head{Seq: 1},
	}
	if m.head, err = putEvent(tx, Hash{}, &ev); err != nil {
		return err
	}
	return m.write(tx.Bucket(bMeta))
}

// putEvent stores one event after prev and returns the new head.
func putEvent(tx *bolt.Tx, prev Hash, ev *Event) (Head, error) {
	stored := appendEvent(make([]byte, 0, 256+len(ev.Data)), ev)
	h := Head{Seq: ev.Seq, Hash: link(prev, ev.Seq, codecJSON, sum256(stored))}
	b := tx.Bucket(bEv)
	b.FillPercent = evFill
	if err := b.Put(seqKey(ev.Seq), evValue(h.Hash, stored)); err != nil {
		return h, fmt.Errorf("storing event %d: %w", ev.Seq, err)
	}
	return h, nil
}
