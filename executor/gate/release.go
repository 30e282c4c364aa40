package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// release answers Release. The binary goes first: without it nothing can be
// asked here any more, and what is left of the state is found and removed by a
// second Release after a new installation. It leaves no receipt, since it
// removes them.
//
// Looks take no lock, and one that is under way may keep something in the state:
// so its folder gets another name first, under which nobody makes anything.
func (g *gate) release(ctx context.Context, req Request) (Reply, error) {
	l, err := g.enter(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	defer l.release()
	if err := g.fresh(); err != nil {
		return Reply{}, err
	}
	for _, dir := range []string{g.BinaryDir, g.goneDir()} { // the latter of a Release that was cut off
		if err := removeAll(dir); err != nil {
			return Reply{}, fmt.Errorf("removing %q: %w", dir, err)
		}
	}
	dir := g.StateDir
	if os.Rename(dir, g.goneDir()) == nil { // not where a volume is mounted
		dir = g.goneDir()
	}
	if err := removeAll(dir); err != nil {
		return Reply{}, fmt.Errorf("removing %q: %w", dir, err)
	}
	return Reply{}, nil
}

// goneDir is what the state folder is called while it is removed.
func (g *gate) goneDir() string { return filepath.Clean(g.StateDir) + ".removed" }

// removeTries is how often a folder is removed into which looks that were under
// way put something: each does so once at most.
const removeTries = 50

// removeAll removes a folder with all that is in it. In a pod the folder itself
// is where a volume is mounted, and stays.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	for n := 1; n < removeTries && errors.Is(err, unix.ENOTEMPTY); n++ {
		time.Sleep(lockPoll)
		err = os.RemoveAll(dir)
	}
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	if left, lerr := os.ReadDir(dir); lerr != nil || len(left) > 0 {
		return err
	}
	return nil
}
