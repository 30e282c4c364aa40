package steps

import (
	"context"
	"errors"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// command runs the argv of the attempt on its originator. A nil error means
// that glusterd answered well, which proves nothing yet.
func (b base) command(ctx context.Context, t *executor.Turn) (gluster.Reply, error) {
	s, err := b.reach(ctx, t)
	if err != nil {
		return gluster.Reply{}, err
	}
	server, err := s.server(t.Started.Originator)
	if err != nil {
		return gluster.Reply{}, err
	}
	b.w.Changed(t.Scope())
	defer b.w.Changed(t.Scope())
	res, _, err := b.client(server, t).Run(ctx, gate.Command{
		Argv: t.Started.Argv, Attempt: t.Started.AttemptID, Deadline: commandDeadline, LockWait: lockWait,
	})
	if err != nil {
		return gluster.Reply{}, gateError(err)
	}
	reply, err := understand(ctx, t.Started.Argv, &res)
	return reply, glusterError(err)
}

// understand reads what the command line said of a mutating command that has
// run. Its error is a *gluster.Error.
func understand(ctx context.Context, argv []string, r *gate.Result) (gluster.Reply, error) {
	said := gluster.RunnerFunc(func(context.Context, gluster.Command) (gluster.Output, error) {
		return gluster.Output{Exit: r.Exit, Stdout: r.Stdout, Stderr: r.Stderr, Truncated: r.Truncated, TimedOut: r.TimedOut, Elapsed: r.Elapsed}, nil
	})
	return gluster.NewClient(said).Mutate(ctx, "", argv)
}

// commandDeadline is how long the gluster command may take on the server: more
// than the 120 s after which it gives up by itself, so that its own answer is
// what we get.
const commandDeadline = 150 * time.Second

// glusterError gives an error of the gluster command its class.
func glusterError(err error) error {
	if err == nil {
		return nil
	}
	var ge *gluster.Error
	if !errors.As(err, &ge) {
		return executor.Errorf(executor.Uncertain, "NoAnswer", "%w", err)
	}
	class := executor.Uncertain
	switch {
	case gluster.IsBusy(err):
		class = executor.Busy
	case gluster.IsDone(err), gluster.IsRetry(err), gluster.IsNeed(err):
		// Already as wanted, it may say: nothing was changed, and the probe tells.
		class = executor.Transient
	case gluster.IsTerminal(err):
		class = executor.Permanent
	}
	e := executor.Errorf(class, string(ge.Reason), "%w", err)
	e.Output = ge.Text
	return e
}
