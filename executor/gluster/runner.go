package gluster

import (
	"context"
	"errors"
	"time"
)

// A Command is one call of the gluster command line on one server.
type Command struct {
	Argv     []string      // argv[0] is "gluster"; never seen by a shell
	Mutates  bool          // takes the server's lock and fence
	Attempt  string        // names the receipt of a mutating command
	Deadline time.Duration // enforced where the command runs, not only here
}

// Output is what a command printed, bounded, and how it ended.
type Output struct {
	Exit      int // 128+n when signal n ended it
	Stdout    []byte
	Stderr    []byte
	Truncated bool
	TimedOut  bool // killed at its deadline: its effect is unknown
	Elapsed   time.Duration
}

// A Runner runs commands on one server: through the gate over ssh, in a pod,
// as a local process, or in the simulated pool.
//
// An error means that the reply was lost or that the command never started;
// for a mutating command IsNotStarted tells the second from the first. Run is
// safe for concurrent use and returns soon after ctx ends, without waiting for
// the command.
type Runner interface {
	Run(ctx context.Context, c Command) (Output, error)
}

// RunnerFunc adapts a function to Runner.
type RunnerFunc func(ctx context.Context, c Command) (Output, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c Command) (Output, error) { return f(ctx, c) }

// Errors of a Runner. Those of its transport are wrapped together with one of
// these; an error that wraps none of them, and does not say NotStarted itself,
// is a lost reply.
var (
	// ErrNotStarted: the command did not start; nothing happened.
	ErrNotStarted = errors.New("the command did not start")
	// ErrServerBusy: it did not start because an earlier one still runs there.
	ErrServerBusy = errors.New("an earlier command still runs on the server")
	// ErrFenced: it did not start because somebody else owns the server.
	ErrFenced = errors.New("somebody else owns the server")
)

// IsNotStarted reports whether err says that the command never started: by one
// of the errors above or by a method NotStarted() bool.
func IsNotStarted(err error) bool {
	if errors.Is(err, ErrNotStarted) || errors.Is(err, ErrServerBusy) || errors.Is(err, ErrFenced) {
		return true
	}
	var h interface{ NotStarted() bool }
	return errors.As(err, &h) && h.NotStarted()
}
