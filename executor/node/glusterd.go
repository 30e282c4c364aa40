package node

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// A keeper keeps glusterd running. Its bricks are no children of it and go on
// without it.
type keeper struct {
	o       Options
	reaper  *reaper
	prepare func() // called before each start

	mu    sync.Mutex
	now   *child
	asked bool // it was told to end, to be started again at once
}

// keep starts glusterd and starts it again, until ctx ends. It leaves running
// what runs then.
func (k *keeper) keep(ctx context.Context) {
	wait := k.o.BackoffMin
	for ctx.Err() == nil {
		k.prepare()
		began := time.Now()
		how, asked := k.once(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case asked:
			wait = k.o.BackoffMin
			continue
		case time.Since(began) > 2*k.o.BackoffMax:
			wait = k.o.BackoffMin
		}
		k.o.Log.Error(nil, "glusterd ended and is started again; its log says why", "how", how, "lived", time.Since(began).Round(time.Millisecond).String(), "again", wait.String())
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, k.o.BackoffMax)
	}
}

// once runs glusterd to its end, and says how it ended and whether it was asked
// to.
func (k *keeper) once(ctx context.Context) (how string, asked bool) {
	c, err := k.reaper.start(k.o.Glusterd)
	if err != nil {
		return err.Error(), false
	}
	k.o.Log.Info("glusterd was started", "pid", c.pid)
	k.mu.Lock()
	k.now, k.asked = c, false
	k.mu.Unlock()
	select {
	case <-ctx.Done():
		return "", false
	case <-c.ended:
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = nil
	return describe(c.status), k.asked
}

// running is the glusterd that runs, nil if none does.
func (k *keeper) running() *child {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// restart ends glusterd, which is then started again at once.
func (k *keeper) restart(ctx context.Context, patience time.Duration) error {
	k.mu.Lock()
	c := k.now
	k.asked = c != nil
	k.mu.Unlock()
	if c == nil {
		return nil // it is started in any case
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := k.reaper.signal(c, sig); err != nil {
			return fmt.Errorf("ending glusterd: %w", err)
		}
		timer := time.NewTimer(patience)
		select {
		case <-c.ended:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("ending glusterd: %w", ctx.Err())
		case <-timer.C:
		}
	}
	return fmt.Errorf("ending glusterd: process %d does not end", c.pid)
}

// pause waits, and reports whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
