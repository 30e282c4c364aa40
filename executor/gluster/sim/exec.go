package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/executor/gluster"
)

// opVersion is that of GlusterFS 10.3, which the pool pretends to be.
const (
	opVersion = 100000
	version   = "10.3"
)

// cliTimeout is how long the gluster command waits for glusterd.
const cliTimeout = 120 * time.Second

// ErrReplyLost is the error of a command whose answer a rule took away: it may
// have been applied.
var ErrReplyLost = errors.New("the reply was lost")

// A call is one command line on its way.
type call struct {
	p       *Pool
	s       *server
	words   []string // without gluster and options
	cmd     gluster.Command
	fence   uint64
	timeout time.Duration // of the client
	rule    *Rule         // that concerns it, or nil
	matched bool          // rule was looked for
}

// Run runs a command on a server, as root there would: without any gate. An
// error wraps gluster.ErrNotStarted if the server cannot be reached, and is
// ErrReplyLost or that of ctx if the command may have been applied.
func (p *Pool) Run(ctx context.Context, server string, c gluster.Command) (gluster.Output, error) {
	return p.run(ctx, server, c, 0)
}

func (p *Pool) run(ctx context.Context, name string, cmd gluster.Command, fence uint64) (gluster.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.server(name)
	if s == nil || s.Away {
		return gluster.Output{}, fmt.Errorf("%w: server %q does not answer", gluster.ErrNotStarted, name)
	}
	return p.newCall(s, cmd, fence).run(ctx)
}

func (p *Pool) newCall(s *server, cmd gluster.Command, fence uint64) *call {
	c := &call{p: p, s: s, words: commandWords(cmd.Argv), cmd: cmd, fence: fence, timeout: cliTimeout}
	for _, a := range cmd.Argv {
		if v, ok := strings.CutPrefix(a, "--timeout="); ok {
			if d, err := time.ParseDuration(v + "s"); err == nil {
				c.timeout = d
			}
		}
	}
	return c
}

func (c *call) run(ctx context.Context) (gluster.Output, error) {
	began := c.p.now()
	out, err := c.do(ctx)
	out.Elapsed = c.p.now().Sub(began)
	return out, err
}

// findRule finds out, once, whether a rule concerns the command.
func (c *call) findRule() *Rule {
	if !c.matched {
		c.matched, c.rule = true, c.p.match(c)
	}
	return c.rule
}

func commandWords(argv []string) []string {
	var out []string
	for i, a := range argv {
		if i == 0 || strings.HasPrefix(a, "--") {
			continue
		}
		out = append(out, a)
	}
	return out
}

// do answers the command. p.mu is held, and let go while waiting.
func (c *call) do(ctx context.Context) (gluster.Output, error) {
	if slices.Contains(c.cmd.Argv, "--version") {
		return plain(0, "glusterfs "+version+"\n"), nil
	}
	if c.findRule() != nil {
		if c.rule.Delay > 0 {
			c.p.wait(ctx, nil, c.rule.Delay)
		}
		if c.rule.Effect == EffectNever {
			return c.lostReply()
		}
	}
	if !c.s.Running {
		return noDaemon(), nil
	}
	if c.s.Stopped { // it accepts and does not answer
		// What it would have read when it wakes is not modelled for reads; a
		// mutation waits like any other that a stopped server holds up.
		if !c.mutates() {
			return c.timeOut(ctx, nil)
		}
	}
	out, err := c.dispatch(ctx)
	if err == nil && c.rule != nil && c.rule.Lost {
		return gluster.Output{}, fmt.Errorf("running %v on %s: %w", c.words, c.s.Name, ErrReplyLost)
	}
	return out, err
}

func (c *call) lostReply() (gluster.Output, error) {
	return gluster.Output{}, fmt.Errorf("running %v on %s: %w", c.words, c.s.Name, ErrReplyLost)
}

// mutates reports whether the command takes part in transactions.
func (c *call) mutates() bool {
	switch c.key() {
	case "peer probe", "volume create", "volume start", "volume stop", "volume delete", "volume set", "volume reset",
		"volume add-brick", "volume rebalance":
		return len(c.words) < 4 || c.words[3] != "status"
	}
	return false
}

func (c *call) key() string {
	if len(c.words) < 2 {
		return strings.Join(c.words, " ")
	}
	return c.words[0] + " " + c.words[1]
}

// arg is the n-th word, or "".
func (c *call) arg(n int) string {
	if n < len(c.words) {
		return c.words[n]
	}
	return ""
}

func (c *call) dispatch(ctx context.Context) (gluster.Output, error) {
	switch c.key() {
	case "system:: uuid":
		return c.uuidGet(), nil
	case "pool list":
		return c.poolList(), nil
	case "peer status":
		return c.peerStatus(), nil
	case "peer probe":
		return c.peerProbe(ctx)
	case "volume list":
		return c.volumeList(), nil
	case "volume info":
		return c.volumeInfo(), nil
	case "volume get":
		return c.volumeGet(), nil
	case "volume status":
		return c.volumeStatus(ctx)
	case "volume heal":
		if c.arg(3) == "statistics" && c.arg(4) == "" {
			return c.healStatistics(ctx)
		}
		return c.healInfo(), nil
	case "volume create":
		return c.create(ctx)
	case "volume start":
		return c.start(ctx)
	case "volume stop":
		return c.stop(ctx)
	case "volume delete":
		return c.delete(ctx)
	case "volume set":
		return c.set(ctx)
	case "volume reset":
		return c.reset(ctx)
	case "volume add-brick":
		return c.addBrick(ctx)
	case "volume rebalance":
		if c.arg(3) == "status" {
			return c.rebalanceStatus(ctx)
		}
		return c.rebalanceStart(ctx)
	}
	return usage("unrecognized word: " + c.arg(1) + " (position 1)"), nil
}

// wait lets go of the pool until done, ctx or d, whichever is first; it reports
// whether done was. Without a real clock nobody could ever be done: d passes.
func (p *Pool) wait(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	if p.opts.Clock == nil {
		p.st.Now = p.st.Now.Add(d)
		return false
	}
	p.mu.Unlock()
	defer p.mu.Lock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-p.ended:
	case <-t.C:
	}
	return false
}

// timeOut waits for done up to the deadline of the command or the client's own
// patience. The second value is nil when the command's time was up.
func (c *call) timeOut(ctx context.Context, done <-chan struct{}) (gluster.Output, error) {
	d := c.timeout
	if c.cmd.Deadline > 0 && c.cmd.Deadline < d {
		d = c.cmd.Deadline
	}
	if c.p.wait(ctx, done, d) {
		return gluster.Output{}, errDone
	}
	if err := ctx.Err(); err != nil {
		return gluster.Output{}, fmt.Errorf("running %v on %s: %w", c.words, c.s.Name, err)
	}
	if c.cmd.Deadline > 0 && c.cmd.Deadline <= c.timeout {
		return gluster.Output{Exit: 137, TimedOut: true}, nil
	}
	return plain(1, "Error : Request timed out\n"), nil
}

// errDone tells timeOut's caller that what it waited for happened.
var errDone = errors.New("done")
