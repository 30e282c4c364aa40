package node

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
)

// unmount takes the file systems of the devices away, all at the same time. What
// is still in use at the deadline is detached: it goes with its last user.
func (n *node) unmount(deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	done := make(chan struct{}, len(n.o.Storage))
	for _, s := range n.o.Storage {
		go func() {
			n.unmountOne(ctx, s)
			done <- struct{}{}
		}()
	}
	for range n.o.Storage {
		select {
		case <-done:
		case <-ctx.Done():
			pause(context.Background(), 10*endEvery) // for those that are detached now
			return
		}
	}
}

func (n *node) unmountOne(ctx context.Context, s gate.Storage) {
	dir := gate.Dir(n.o.Gate, s)
	log := n.o.Log.WithValues("storage", s.Name, "dir", dir)
	for unmounted := false; ; {
		err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
		switch {
		case err == nil:
			unmounted = true // perhaps not the only one there
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, os.ErrNotExist):
			if unmounted {
				log.Info("unmounted")
			}
			return
		}
		if !pause(ctx, endEvery) {
			log.Error(err, "still in use, detached")
			unix.Sync()
			_ = unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
			return
		}
	}
}
