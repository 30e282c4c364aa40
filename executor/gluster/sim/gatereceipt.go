package sim

import (
	"fmt"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// A receipt is what a gate keeps of one attempt.
type receipt struct {
	gate.Receipt
	Command string // digest of what was asked
}

// known finds the receipt of the request's attempt; nil if there is none.
func (c *gateCall) known() (*receipt, error) {
	r := c.g.Receipts[c.req.Attempt]
	if r != nil && r.Command != command(c.req) {
		return nil, refusef(gate.ExitUsage, gate.ReasonAttemptReused, "attempt %q belongs to another command", c.req.Attempt)
	}
	return r, nil
}

func (c *gateCall) begin() *receipt {
	r := &receipt{Command: command(c.req), Receipt: gate.Receipt{
		Attempt: c.req.Attempt, Verb: c.req.Verb, Argv: c.req.Argv, Fence: c.req.Fence,
		Started: c.p.now().UnixNano(), GlusterdStart: c.s.startID(),
	}}
	if c.g.Receipts == nil {
		c.g.Receipts = map[string]*receipt{}
	}
	c.g.Receipts[c.req.Attempt] = r
	c.g.Order = append(c.g.Order, c.req.Attempt)
	if len(c.g.Order) > gate.ReceiptsMax {
		delete(c.g.Receipts, c.g.Order[0])
		c.g.Order = c.g.Order[1:]
	}
	return r
}

func (r *receipt) end(at time.Time, res gate.Result) gate.Receipt {
	r.Ended, r.Result = at.UnixNano(), &res
	shown := r.Receipt
	shown.Result = nil
	return shown
}

// startID identifies this run of glusterd.
func (s *server) startID() string {
	if !s.Running {
		return ""
	}
	return fmt.Sprintf("sim-%s-%d", s.Name, s.Starts)
}

func (c *gateCall) receipt() (gate.Reply, error) {
	r := c.g.Receipts[c.req.Attempt]
	if r == nil {
		return gate.Reply{}, refusef(gate.ExitFailed, gate.ReasonNoReceipt, "attempt %q is not on record", c.req.Attempt)
	}
	shown := r.Receipt
	shown.Running = r.Ended == 0 && c.g.Running == c.req.Attempt
	return gate.Reply{Receipt: &shown}, nil
}
