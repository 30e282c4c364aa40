package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// settler tells whether a gluster command that was sent can still take effect
// (the late commit: a command killed at the client was applied a minute later,
// when a stopped peer woke).
type settler struct{ base }

// inFlightMax is how long a request may be on its way to the gate after its
// sender lost it: then the connection's own deadlines have passed.
const inFlightMax = 60 * time.Second

// Over implements executor.Settler. What was observed before an attempt is known
// to be over does not show what it did.
func (b settler) Over(ctx context.Context, t *executor.Turn) (bool, string, error) {
	over, message, err := b.over(ctx, t)
	if over {
		b.w.Changed(t.Scope())
	}
	return over, message, err
}

func (b settler) over(ctx context.Context, t *executor.Turn) (bool, string, error) {
	if t.Started == nil || len(t.Started.Argv) == 0 {
		return true, "", nil
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return false, "", err
	}
	server, err := s.server(t.Started.Originator)
	if err != nil {
		return false, "", err
	}
	client := b.client(server, t)
	state, hello, err := client.Observe(ctx)
	if err != nil {
		return false, "", gateError(err)
	}
	receipt, err := client.Receipt(ctx, t.Started.AttemptID)
	switch {
	case errors.Is(err, gate.ErrNoReceipt):
		// It never began there. It still could, if the request is under way; but
		// not with a fence below the server's.
		if hello.Owner != nil && hello.Owner.Fence > t.Started.Fence {
			return true, "", nil
		}
		if t.Now.Sub(t.Step.StartedAt) > inFlightMax {
			return true, "", nil
		}
		return false, fmt.Sprintf("the command may still be on its way to %s", server.Node), nil
	case err != nil:
		return false, "", gateError(err)
	case receipt.Running:
		return false, fmt.Sprintf("the command still runs on %s", server.Node), nil
	case receipt.Result != nil && !receipt.Result.TimedOut && answered(ctx, t.Started.Argv, receipt.Result):
		return true, "", nil
	}
	// The command line tool ended without an answer; glusterd may go on.
	if receipt.GlusterdStart != "" && state.Glusterd.Start != receipt.GlusterdStart {
		return true, "", nil // that glusterd is gone; the guards compare all views
	}
	history, err := client.History(ctx)
	if err != nil {
		return false, "", gateError(err)
	}
	if _, found := gluster.HistoryFind(history, t.Started.Argv, time.Unix(0, receipt.Started)); found {
		return true, "", nil
	}
	return false, fmt.Sprintf("glusterd on %s has not said how the command ended", server.Node), nil
}

// answered reports whether glusterd itself said how the command ended.
func answered(ctx context.Context, argv []string, r *gate.Result) bool {
	_, err := understand(ctx, argv, r)
	var ge *gluster.Error
	return err == nil || (errors.As(err, &ge) && ge.Phase != gluster.PhaseSend)
}
