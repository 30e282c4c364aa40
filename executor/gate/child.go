package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A child is one run of the gluster command.
type child struct {
	path     string
	argv     []string
	env      []string
	deadline time.Duration
	outMax   int
	lock     *os.File      // inherited, if any
	began    func(pid int) // called once it runs, if set
}

// pipeWait is how long the output may stay open after the child ended, by a
// process it left behind.
const pipeWait = 2 * time.Second

// run starts the child in a session of its own and waits for its end, at most
// until its deadline, or until ctx ends; then the whole process group is
// killed. The error is that of starting it: then nothing ran.
func (c child) run(ctx context.Context) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, c.argv[1:]...)
	cmd.Args[0] = c.argv[0]
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/"}, c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = pipeWait
	if c.lock != nil {
		cmd.ExtraFiles = []*os.File{c.lock}
	}
	stdout, stderr := &bounded{max: c.outMax}, &bounded{max: c.outMax}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			return err
		}
		return unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("starting %q: %w", c.path, err)
	}
	if c.began != nil {
		c.began(cmd.Process.Pid)
	}
	err := cmd.Wait()
	// What it left in its group could still act: it goes with it.
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	res := Result{
		Exit: exitCode(cmd.ProcessState), Stdout: stdout.b, Stderr: stderr.b,
		Truncated: stdout.cut || stderr.cut, Elapsed: time.Since(begin),
	}
	// The deadline counts only if it is what ended the child.
	res.TimedOut = err != nil && ctx.Err() != nil && signalled(cmd.ProcessState, syscall.SIGKILL)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		res.Truncated = true // reading its output failed
	}
	return res, nil
}

func exitCode(s *os.ProcessState) int {
	w := s.Sys().(syscall.WaitStatus)
	if w.Signaled() {
		return 128 + int(w.Signal())
	}
	return w.ExitStatus()
}

func signalled(s *os.ProcessState, sig syscall.Signal) bool {
	w := s.Sys().(syscall.WaitStatus)
	return w.Signaled() && w.Signal() == sig
}

// bounded keeps the first max bytes and takes the rest without keeping it, so
// that the writer never blocks on us.
type bounded struct {
	b   []byte
	max int
	cut bool
}

func (w *bounded) Write(p []byte) (int, error) {
	room := min(w.max-len(w.b), len(p))
	w.b = append(w.b, p[:room]...)
	if room < len(p) {
		w.cut = true
	}
	return len(p), nil
}
