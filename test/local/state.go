package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// stateVersion is the version of the state file. A file of another version is
// taken down, not read.
const stateVersion = 1

// A phase says how far an environment is.
type phase string

// Only an environment in phaseUp is kept by the next Up.
const (
	phaseStarting phase = "starting"
	phaseUp       phase = "up"
	phaseStopping phase = "stopping"
)

// state is what must outlive the program that started the environment. It is
// written before the thing it names exists.
type state struct {
	Version  int              `json:"version"`
	ID       string           `json:"id"`
	Checkout string           `json:"checkout"`
	Instance string           `json:"instance"`
	Boot     string           `json:"boot"` // kernel's boot id: process ids of another boot are void
	Phase    phase            `json:"phase"`
	Net      string           `json:"net"` // first three numbers of the addresses, "10.x.y"
	Servers  int              `json:"servers"`
	Bricks   int              `json:"bricks"`
	BrickMiB int              `json:"brickMiB"`
	API      bool             `json:"api"`
	Procs    map[string]proc  `json:"procs"`  // by component: etcd, kube-apiserver, s1, c1
	Mounts   map[string]mount `json:"mounts"` // by client: c1
}

// mount is one FUSE mount of a volume.
type mount struct {
	Volume string `json:"volume"`
}

// A lock is a file lock, held across processes and freed by a crash.
type lock struct{ f *os.File }

// takeLock waits for the lock at path until ctx ends.
func takeLock(ctx context.Context, path string) (*lock, error) {
	for {
		l, err := tryLock(path)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock %q: %w", path, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryLock returns nil without an error while another holds the lock, or when
// the file was removed under it.
func tryLock(path string) (*lock, error) {
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
		return &lock{f: f}, nil
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

// release frees the lock.
func (l *lock) release() { l.f.Close() }

// remove removes the lock's file and frees it.
func (l *lock) remove() {
	os.Remove(l.f.Name())
	l.release()
}

// loadState reads the state file; a missing or unreadable one is nil, which
// means that the environment has to be taken down by what its names say.
func loadState(file string) *state {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	s := &state{}
	if json.Unmarshal(data, s) != nil || s.Version != stateVersion {
		return nil
	}
	if s.Procs == nil {
		s.Procs = map[string]proc{}
	}
	if s.Mounts == nil {
		s.Mounts = map[string]mount{}
	}
	return s
}

// store writes the state so that a crash leaves the old or the new one.
func (s *state) store(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	return writeFile(file, append(data, '\n'), 0o600)
}

// writeFile replaces a file atomically.
func writeFile(file string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return fmt.Errorf("writing %q: %w", file, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("writing %q: %w", file, err)
	}
	return nil
}
