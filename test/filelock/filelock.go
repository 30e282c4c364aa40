// Package filelock has locks that hold between programs and that a crash frees.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// tryEvery is how often a lock that another holds is tried again.
const tryEvery = 20 * time.Millisecond

// A Lock is a file lock, held across processes and freed by a crash.
type Lock struct{ f *os.File }

// Take waits for the lock at path until ctx ends. The file and its folder are
// made when they do not exist.
func Take(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := Try(path)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock %q: %w", path, context.Cause(ctx))
		case <-time.After(tryEvery):
		}
	}
}

// Try returns nil without an error while another holds the lock, or when the
// file was removed under it.
func Try(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of lock %q: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // the folder was removed in between
	case err != nil:
		return nil, fmt.Errorf("opening lock %q: %w", path, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	held := err == nil && sameFile(f, path)
	if held {
		return &Lock{f: f}, nil
	}
	f.Close()
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	return nil, nil
}

// sameFile tells whether path still names the open file.
func sameFile(f *os.File, path string) bool {
	var held, named unix.Stat_t
	return unix.Fstat(int(f.Fd()), &held) == nil && unix.Stat(path, &named) == nil && held.Ino == named.Ino
}

// Release frees the lock.
func (l *Lock) Release() { l.f.Close() }

// Remove removes the lock's file and frees it.
func (l *Lock) Remove() {
	os.Remove(l.f.Name())
	l.Release()
}
