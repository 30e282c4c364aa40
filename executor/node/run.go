package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/gluster/anthill/executor/gate"
)

// A node is a pod from within.
type node struct {
	o      Options
	reaper *reaper
	disks  *disks
	keeper *keeper

	mu      sync.Mutex
	without map[obstacle]bool // what was missing when glusterd was started
}

var errNotFirst = errors.New("this is for the first process of a container only: it ends every other process when it stops")

// Run is the life of a pod. It returns when a signal, or the end of ctx, has
// stopped it and nothing is left running; the error is why it did not start.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return errNotFirst
	}
	o = o.withDefaults()
	signals := o.Signals
	if signals == nil {
		// Also those that would end a process by default, so that none does.
		own := make(chan os.Signal, 8)
		signal.Notify(own, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGPIPE)
		signals = own
	}
	n := &node{o: o, reaper: newReaper(), disks: newDisks(o)}
	n.keeper = &keeper{o: o, reaper: n.reaper, prepare: func() { n.block(n.obstacles(ctx)) }}

	reaping, stopReaping := context.WithCancel(context.WithoutCancel(ctx))
	defer stopReaping()
	go n.reaper.run(reaping)
	if err := n.open(reaping); err != nil {
		return err
	}
	working, stopWorking := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { n.work(working) })
	o.Log.Info("node serves", "devices", len(o.Storage))
	awaitEnd(ctx, signals)
	stopWorking()
	n.stop(work.Wait)
	return nil
}

// open makes what others look for.
func (n *node) open(ctx context.Context) error {
	if err := freshRun("/run/gluster"); err != nil {
		return err
	}
	if err := serveAlive(ctx, n.o.Socket); err != nil {
		return err
	}
	if err := n.serveReady(ctx); err != nil {
		return err
	}
	if err := n.groups(); err != nil { // who asks for one is told by glusterd
		n.o.Log.Error(err, "not all groups of options are there")
	}
	return gate.WriteTold(n.o.Gate, n.o.Storage)
}

// freshRun makes the folder of gluster's daemons, as the distribution does at
// boot, and takes away the pid files and sockets in it, if it outlived another
// container: none of these processes runs any more, and glusterd would believe
// whoever has got their pids.
func freshRun(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of glusterd: %w", err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); ext == ".pid" || ext == ".socket" {
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("clearing the folder of glusterd: %w", err)
	}
	return nil
}

// work mounts, and keeps glusterd running.
func (n *node) work(ctx context.Context) {
	n.disks.attach(ctx, n.o.MountsWait)
	n.clear(ctx)
	var work sync.WaitGroup
	work.Go(func() { n.watch(ctx) })
	work.Go(func() { n.rotateLogs(ctx) })
	n.keeper.keep(ctx)
	work.Wait()
}

// awaitEnd waits for a signal that means to stop.
func awaitEnd(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-signals:
			if sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGQUIT {
				return
			}
		}
	}
}

func (n *node) block(by map[obstacle]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.without = by
}

func (n *node) blocked() map[obstacle]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.without
}
