package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// outputMax bounds what is kept of a command's output, each of two streams.
const outputMax = 4 << 20

// execMax is the deadline of a command whose context has none.
const execMax = 2 * time.Minute

// An ExitError says that a command ran and failed.
type ExitError struct {
	Machine string
	Argv    []string
	Code    int // exit code; -1 when a signal ended it
	Stdout  []byte
	Stderr  []byte
}

// Error is one line with the command, its exit code and what it said last.
func (e *ExitError) Error() string {
	said := bytes.TrimSpace(e.Stderr)
	if len(said) == 0 {
		said = bytes.TrimSpace(e.Stdout)
	}
	if i := bytes.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	return fmt.Sprintf("%q on %s: exit code %d: %s", strings.Join(e.Argv, " "), e.Machine, e.Code, said)
}

// Command returns a command that runs argv in the machine's namespaces, with a
// minimal environment, never through a shell. Standard streams are the
// caller's to set; without a terminal the context's end kills argv itself too.
//
// A command that leaves a daemon behind keeps pipes open: give it files.
func (m *Machine) Command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{
		"-t", strconv.Itoa(m.proc().PID), "-m", "-u", "-i", "-n", "-p", "--",
	}, argv...)...)
	cmd.Env = machineEnv()
	// nsenter is only the parent: the group is killed, argv with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Exec runs argv on the machine and returns its standard output, at most 4 MiB.
// A command that fails gives an *ExitError.
func (m *Machine) Exec(ctx context.Context, argv ...string) ([]byte, error) {
	if !m.Running() {
		return nil, fmt.Errorf("running %q on %s: it is not running", strings.Join(argv, " "), m.name)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, execMax, fmt.Errorf("not within %v", execMax))
		defer cancel()
	}
	cmd := m.Command(ctx, argv...)
	var stdout, stderr Bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return stdout.Bytes(), fmt.Errorf("running %q on %s: %w", strings.Join(argv, " "), m.name, context.Cause(ctx))
	case errors.As(err, &exit):
		return stdout.Bytes(), &ExitError{
			Machine: m.name, Argv: argv, Code: exit.ExitCode(), Stdout: stdout.Bytes(), Stderr: stderr.Bytes(),
		}
	default:
		return stdout.Bytes(), fmt.Errorf("running %q on %s: %w", strings.Join(argv, " "), m.name, err)
	}
}

// Bounded keeps the first 4 MiB written to it and drops the rest.
type Bounded struct{ bytes.Buffer }

func (b *Bounded) Write(p []byte) (int, error) {
	if room := outputMax - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
