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

// frameTimeout is after how long glusterd gives up on a peer that does not
// answer; the whole transaction fails then.
const frameTimeout = 600 * time.Second

// An op is what a mutating command does. Its functions see the pool locked.
type op struct {
	lock   string // volume name, "" for the cluster's lock
	syncop bool   // which words glusterd uses when a peer refuses

	// stage checks one server and returns what is wrong; it may leave marks
	// behind, as glusterd does (LAB-3). origin is true on the originator only.
	stage func(s *server, origin bool) (text string)
	// commit changes one server's memory; store puts it on disk.
	commit  func(s *server)
	store   func(s *server)
	refused string // what the commit is known to fail with, everywhere

	// done and failed make the answers.
	done   func() gluster.Output
	failed func(errno int, text string) gluster.Output
}

// A txn is an op on its way through the servers.
type txn struct {
	c       *call
	op      op
	begun   time.Time
	held    *Rule  // it waits for this rule to be released
	fail    string // a text it must fail with, instead of running
	out     gluster.Output
	done    chan struct{}
	left    bool // its client has given up
	dropped bool // its originator died: it never happens

	// A probe takes no lock and passes by the stages.
	probe    func() gluster.Output
	answered bool // out is what its client was told, and not how it ended
}

const errInternal, errBusy = 30800, 30802

// transact runs an op through all servers, or leaves it pending.
func (c *call) transact(ctx context.Context, o op) (gluster.Output, error) {
	p := c.p
	if holder := p.locks[o.lock]; holder != nil {
		text := "Another transaction is in progress. Please try again after some time."
		if o.syncop && o.lock != "" {
			text = fmt.Sprintf("Another transaction is in progress for %s. Please try again after some time.", o.lock)
		}
		c.history(false, text)
		return o.failed(errBusy, text), nil
	}
	t := &txn{c: c, op: o, begun: p.now(), done: make(chan struct{})}
	p.locks[o.lock] = t
	if c.rule != nil && c.rule.Effect == EffectHeld {
		t.held = c.rule
	}
	p.pending = append(p.pending, t)
	p.resume()
	if t.ended() {
		return t.answer()
	}
	out, err := c.timeOut(ctx, t.done)
	if errors.Is(err, errDone) || t.ended() {
		return t.answer()
	}
	t.left = true
	return out, err
}

func (t *txn) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

func (t *txn) answer() (gluster.Output, error) {
	if t.dropped {
		return noDaemon(), nil
	}
	return t.out, nil
}

// resume runs every pending transaction that nothing holds up any more.
func (p *Pool) resume() {
	for _, t := range slices.Clone(p.pending) {
		if !slices.Contains(p.pending, t) {
			continue // a crash on the way took it along
		}
		if t.held != nil && !t.held.Released {
			continue
		}
		if t.probe != nil {
			if b := p.resolve(t.c.arg(2)); t.c.s.Stopped || b != nil && b.Stopped {
				continue
			}
			p.finish(t, t.probe)
			continue
		}
		if t.fail == "" && p.heldUp(t) {
			if p.now().Sub(t.begun) <= frameTimeout {
				continue
			}
			for _, e := range t.c.s.members() {
				if b := p.byPeer(e); b != nil && b.Stopped {
					t.fail = fmt.Sprintf("Locking failed on %s. Please check log file for details.", e.Host)
				}
			}
			continue // it notices when the peer answers again
		}
		if t.fail == "" && p.now().Sub(t.begun) > frameTimeout && t.held == nil {
			t.fail = "Locking failed on a peer. Please check log file for details."
		}
		p.finish(t, func() gluster.Output { return t.run() })
	}
	p.changed()
}

// heldUp reports whether the originator, or a peer it is connected to, is
// stopped.
func (p *Pool) heldUp(t *txn) bool {
	if t.c.s.Stopped {
		return true
	}
	for _, e := range t.c.s.members() {
		if b := p.byPeer(e); b != nil && b.Stopped && connected(t.c.s, b) {
			return true
		}
	}
	return false
}

// members are the peers that take part in transactions, if connected.
func (s *server) members() []*peer {
	var out []*peer
	if s.Mem == nil {
		return nil
	}
	for _, e := range s.Mem.Peers {
		if e.State == gluster.PeerInCluster {
			out = append(out, e)
		}
	}
	return out
}

func (p *Pool) finish(t *txn, run func() gluster.Output) {
	if i := slices.Index(p.pending, t); i >= 0 {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
	if out := run(); !t.answered {
		t.out = out
	}
	if p.locks[t.op.lock] == t {
		delete(p.locks, t.op.lock)
	}
	close(t.done)
}

// drop ends the transactions of an originator whose glusterd died.
func (p *Pool) drop(s *server) {
	for _, t := range slices.Clone(p.pending) {
		if t.c.s == s {
			t.dropped = true
			p.finish(t, func() gluster.Output { return noDaemon() })
		}
	}
}

// run stages and commits. It returns what the client is told.
func (t *txn) run() gluster.Output {
	c, o := t.c, t.op
	if t.fail != "" {
		return t.refuse(errInternal, t.fail)
	}
	if r := c.rule; r != nil && r.Text != "" && r.Effect == EffectNone {
		return t.refuse(r.errno(), r.Text)
	}
	origin := c.s
	if origin.Mem == nil {
		return noDaemon()
	}
	if text := o.stage(origin, true); text != "" {
		errno := errInternal
		if c.key() == "volume create" && strings.HasSuffix(text, " already exists") {
			errno = 0 // its handler finds out before the transaction
		}
		return t.refuse(errno, text)
	}
	peers, errs := t.peers(), []string{}
	for _, b := range peers {
		if text := o.stage(b, false); text != "" {
			errs = append(errs, t.stageError(b, text))
		}
	}
	if len(errs) > 0 {
		return t.refuse(errInternal, strings.Join(errs, "\n"))
	}
	return t.commit(origin, peers)
}

// peers are the servers that take part besides the originator.
func (t *txn) peers() []*server {
	var out []*server
	for _, e := range t.c.s.members() {
		if b := t.c.p.byPeer(e); b != nil && connected(t.c.s, b) {
			out = append(out, b)
		}
	}
	return out
}

func (t *txn) stageError(b *server, text string) string {
	host := b.Name
	if e := t.c.s.Mem.peer(b.Mem.UUID); e != nil {
		host = e.Host
	}
	if t.op.syncop {
		return fmt.Sprintf("Staging failed on %s. Error: %s", host, text)
	}
	return fmt.Sprintf("Pre Validation failed on %s. %s", host, text)
}

func (t *txn) commit(origin *server, peers []*server) gluster.Output {
	c, o, r := t.c, t.op, t.c.rule
	if o.refused != "" {
		return t.refuse(errInternal, o.refused)
	}
	var on, missed []string
	for _, s := range append([]*server{origin}, peers...) {
		if r != nil && len(r.On) > 0 && !slices.Contains(r.On, s.Name) {
			missed = append(missed, s.Name)
			continue
		}
		o.commit(s)
		if r == nil || !r.MemoryOnly {
			o.store(s)
		}
		on = append(on, s.Name)
	}
	if len(on) > 0 {
		c.p.effect(Effect{
			Server: c.s.Name, Verb: "run", Attempt: c.cmd.Attempt, Fence: c.fence, Argv: c.words, On: on, Late: t.left,
		})
	}
	crashed := false
	if r != nil && r.Crash != "" {
		if s := c.p.server(r.Crash); s != nil {
			c.p.killGlusterd(s)
			crashed = s == origin
		}
	}
	switch {
	case crashed:
		return noDaemon()
	case r != nil && r.Text != "":
		return t.refuse(r.errno(), r.Text)
	case len(missed) > 0:
		var lines []string
		for _, m := range missed {
			if m == origin.Name {
				m = "localhost"
			}
			lines = append(lines, fmt.Sprintf("Commit failed on %s. Please check log file for details.", m))
		}
		return t.refuse(errInternal, strings.Join(lines, "\n"))
	}
	c.history(true, "")
	return o.done()
}

// refuse answers and logs a failure.
func (t *txn) refuse(errno int, text string) gluster.Output {
	t.c.history(false, text)
	return t.op.failed(errno, text)
}

// history adds the command's line to the originator's cmd_history.log.
func (c *call) history(ok bool, text string) {
	word := "SUCCESS"
	if !ok {
		word = "FAILED"
	}
	if text != "" {
		word += " : " + text
	} else if c.key() == "peer probe" {
		word += "    "
	}
	line := fmt.Sprintf("[%s]  : %s : %s\n", c.p.now().UTC().Format("2006-01-02 15:04:05.000000 -0700"), strings.Join(c.words, " "), word)
	c.s.History = append(c.s.History, line...)
	if over := len(c.s.History) - historyMax; over > 0 {
		c.s.History = c.s.History[over:]
	}
}

const historyMax = 1 << 20
