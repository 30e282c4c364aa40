// Package runner runs the typed gluster client's commands through a gate. It
// stands apart from package gate so that the program on the servers does not
// carry the client.
package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// A Runner is a gluster.Runner over one server's gate. Its errors are those of
// gate.Client, which also are gluster.ErrServerBusy or gluster.ErrFenced where
// that fits; gluster.IsNotStarted and gate.NotStarted agree about them.
type Runner struct {
	client   *gate.Client
	lockWait time.Duration
}

var _ gluster.Runner = (*Runner)(nil)

// New returns a Runner over c whose mutating commands wait up to lockWait for
// an earlier one to end; after that they give a gate.BusyError.
func New(c *gate.Client, lockWait time.Duration) *Runner {
	return &Runner{client: c, lockWait: lockWait}
}

var errNoAttempt = errors.New("a mutating command needs an attempt")

// Run implements gluster.Runner.
func (r *Runner) Run(ctx context.Context, c gluster.Command) (gluster.Output, error) {
	cmd := gate.Command{Argv: c.Argv, Attempt: c.Attempt, Deadline: c.Deadline, LockWait: r.lockWait}
	var res gate.Result
	var err error
	switch {
	case !c.Mutates:
		res, err = r.client.Read(ctx, cmd)
	case c.Attempt == "":
		err = fmt.Errorf("running %q: %w: %w", c.Argv, gate.ErrNotStarted, errNoAttempt)
	default:
		res, _, err = r.client.Run(ctx, cmd)
	}
	if err != nil {
		return gluster.Output{}, classify(err)
	}
	return gluster.Output{
		Exit: res.Exit, Stdout: res.Stdout, Stderr: res.Stderr,
		Truncated: res.Truncated, TimedOut: res.TimedOut, Elapsed: res.Elapsed,
	}, nil
}

// classify marks an error as one the gluster client knows. An attempt that is
// busy with itself is not marked: it has started.
func classify(err error) error {
	var busy *gate.BusyError
	var fenced *gate.FencedError
	switch {
	case errors.As(err, &busy) && !busy.Same:
		return &marked{err, gluster.ErrServerBusy}
	case errors.As(err, &fenced):
		return &marked{err, gluster.ErrFenced}
	}
	return err
}

// A marked error is two in one, with the text of the first.
type marked struct{ err, as error }

func (e *marked) Error() string   { return e.err.Error() }
func (e *marked) Unwrap() []error { return []error{e.err, e.as} }
