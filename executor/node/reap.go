package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// reapEvery is for a signal that was lost: it should never be needed.
const reapEvery = 10 * time.Second

// A reaper waits for every child of this process, also those that others left
// behind. It alone starts and waits: package os/exec would miss its children.
type reaper struct {
	mu   sync.Mutex
	mine map[int]*child
}

// A child is a process that the reaper started.
type child struct {
	pid    int
	ended  chan struct{} // closed when it was reaped
	status syscall.WaitStatus
}

func newReaper() *reaper { return &reaper{mine: map[int]*child{}} }

// run reaps until ctx ends.
func (r *reaper) run(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		r.reap()
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-tick.C:
		}
	}
}

// reap takes every child that has ended.
func (r *reaper) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		r.note(pid, status)
	}
}

func (r *reaper) note(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.mine[pid]; c != nil && (status.Exited() || status.Signaled()) {
		delete(r.mine, pid)
		c.status = status
		close(c.ended)
	}
}

// start starts a process in a session of its own, with a small environment, and
// without input; what it prints goes where this process prints.
func (r *reaper) start(argv []string) (*child, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", argv[0], err)
	}
	defer null.Close()
	// Held over the start, so that a child cannot end before it is known.
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"},
		Files: []uintptr{null.Fd(), os.Stderr.Fd(), os.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", argv[0], err)
	}
	c := &child{pid: pid, ended: make(chan struct{})}
	r.mine[pid] = c
	return c, nil
}

// signal sends a signal to a child that has not been reaped: its pid cannot be
// another's.
func (r *reaper) signal(c *child, sig syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mine[c.pid] != c {
		return nil
	}
	return syscall.Kill(c.pid, sig)
}

// describe says how a child ended.
func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return fmt.Sprintf("signal %d (%v)", s.Signal(), s.Signal())
	}
	return fmt.Sprintf("exit code %d", s.ExitStatus())
}
