package gate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// release answers Release. The binary goes first: without it nothing can be
// asked here any more, and what is left of the state is found and removed by a
// second Release after a new installation. It leaves no receipt, since it
// removes them.
func (g *gate) release(ctx context.Context, req Request) (Reply, error) {
	l, err := g.enter(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	defer l.release()
	if err := g.fresh(); err != nil {
		return Reply{}, err
	}
	for _, dir := range []string{g.BinaryDir, g.StateDir} {
		if err := removeAll(dir); err != nil {
			return Reply{}, fmt.Errorf("removing %q: %w", dir, err)
		}
	}
	return Reply{}, nil
}

// removeAll removes a folder with all that is in it. In a pod the folder itself
// is where a volume is mounted, and stays.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	if left, lerr := os.ReadDir(dir); lerr != nil || len(left) > 0 {
		return err
	}
	return nil
}
