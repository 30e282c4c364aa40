package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A lock is the server's one lock for mutations. It belongs to an open file
// description, which the child inherits: a gate that is killed leaves it held
// until the child has ended too.
type lock struct{ f *os.File }

// A holder is written into the lock file by whoever took the lock.
type holder struct {
	Verb    Verb   `json:"verb"`
	Attempt string `json:"attempt,omitempty"`
}

const (
	holderSize = 512
	lockPoll   = 10 * time.Millisecond
	// lockGrace is waited even with LockWait zero: reading a receipt borrows
	// the lock for an instant.
	lockGrace = 60 * time.Millisecond
)

var errLockBusy = errors.New("the lock is held")

func (g *gate) lockPath() string { return filepath.Join(g.StateDir, "lock") }

// take waits for the lock, at most wait, and leaves h in it. errLockBusy when
// the time is over; the error of ctx when that ends first.
func (g *gate) take(ctx context.Context, h holder, wait time.Duration) (*lock, error) {
	// Release removes the file under those who wait for it; what they get then
	// is a lock on nothing.
	for range 3 {
		if err := g.makeStateDir(); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(g.lockPath(), os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) { // removed just now
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("opening the lock: %w", err)
		}
		if err := g.await(ctx, f, max(wait, lockGrace)); err != nil {
			f.Close()
			return nil, err
		}
		l := &lock{f}
		if !l.current(g.lockPath()) {
			l.release()
			continue
		}
		if err := l.sign(h); err != nil {
			l.release()
			return nil, err
		}
		return l, nil
	}
	return nil, errLockBusy
}

// removed reports whether Release has taken this very gate away: what came too
// late must not make the state anew that is gone with it. One that was replaced
// by another gate goes on.
func (g *gate) removed() bool {
	if _, err := os.Lstat(filepath.Join(g.BinaryDir, filepath.Base(BinaryPath))); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if target, err := os.Readlink(g.Exe); err == nil {
		return strings.HasSuffix(target, " (deleted)") // as the kernel marks it
	}
	_, err := os.Stat(g.Exe)
	return errors.Is(err, fs.ErrNotExist)
}

// current reports whether the lock is on the file that is at path now.
func (l *lock) current(path string) bool {
	held, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

func (g *gate) await(ctx context.Context, f *os.File, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for n := 0; ; n++ {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("taking the lock: %w", err)
		}
		if n%25 == 0 {
			g.endOrphan()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("taking the lock: %w", ctx.Err())
		case <-timer.C:
			return errLockBusy
		case <-poll.C:
		}
	}
}

// sign names the holder in the lock file, without sync: after a power cut
// nobody holds the lock.
func (l *lock) sign(h holder) error {
	b, err := json.Marshal(h)
	if err != nil || len(b) > holderSize {
		return fmt.Errorf("signing the lock: %d bytes: %w", len(b), err)
	}
	b = append(b, bytes.Repeat([]byte{' '}, holderSize-len(b))...)
	if _, err := l.f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("signing the lock: %w", err)
	}
	return nil
}

// release frees the lock for good, also when a stray process still has the
// descriptor: the caller has seen the child's end.
func (l *lock) release() {
	_ = unix.Flock(int(l.f.Fd()), unix.LOCK_UN)
	l.f.Close()
}

// held tells who holds the lock, if anybody does. It borrows the lock shared
// for an instant, which take rides out.
func (g *gate) held() (holder, bool) {
	f, err := os.Open(g.lockPath())
	if err != nil {
		return holder{}, false
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err == nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		return holder{}, false
	}
	var h holder
	b := make([]byte, holderSize)
	n, _ := f.ReadAt(b, 0)
	// An unreadable name does not make the lock free.
	_ = json.Unmarshal(bytes.TrimSpace(b[:n]), &h)
	return h, true
}

// makeStateDir makes the state folder and what is below it, private to root. It
// refuses, and leaves none, when the gate has been removed.
func (g *gate) makeStateDir() error {
	return g.makeDirs(g.StateDir, g.receiptDir(), g.dirsDir(), g.devicesDir(), g.tmpDir())
}

// makeBelow is makeStateDir for who must not make the folder itself.
func (g *gate) makeBelow() error {
	return g.makeDirs(g.receiptDir(), g.dirsDir(), g.devicesDir(), g.tmpDir())
}

func (g *gate) makeDirs(dirs ...string) error {
	if g.removed() {
		return errRemoved()
	}
	var failed error
	for _, d := range dirs {
		err := os.Mkdir(d, 0o700)
		if err == nil {
			err = syncDir(filepath.Dir(d))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			failed = fmt.Errorf("making the gate's folder: %w", err)
			break
		}
	}
	// Release takes the program away before the state: if it came in between, this
	// sees it. Whoever made them, the last one to see it finds them empty.
	if g.removed() {
		for _, d := range slices.Backward(dirs) {
			_ = os.Remove(d)
		}
		return errRemoved()
	}
	if failed != nil {
		return failed
	}
	g.makePythonDir()
	return nil
}

func errRemoved() error {
	return refusef(ExitMissing, ReasonNotInstalled, "the gate was removed from this server")
}

func (g *gate) tmpDir() string  { return filepath.Join(g.StateDir, "tmp") }
func (g *gate) dirsDir() string { return filepath.Join(g.StateDir, "dirs") }

func (g *gate) devicesDir() string { return filepath.Join(g.StateDir, "devices") }
