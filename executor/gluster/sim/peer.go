package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gluster/anthill/executor/gluster"
)

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// ownUUID returns a glusterd's UUID and makes it if it has none.
func (p *Pool) ownUUID(s *server) string {
	if s.Mem.UUID == "" {
		s.Mem.UUID = p.newID()
		s.Disk.UUID = s.Mem.UUID
	}
	return s.Mem.UUID
}

func (c *call) uuidGet() gluster.Output {
	made := c.s.Mem.UUID == ""
	id := c.p.ownUUID(c.s)
	if made {
		c.p.effect(c.effect(&txn{}, c.s.Name))
	}
	c.history(true, "")
	c.p.changed()
	return reply(0, 0, "", func(d *doc) {
		d.in("uuidGenerate", func() { d.el("uuid", id) })
	})
}

var stateNumbers = map[gluster.PeerState]int{
	gluster.PeerEstablishing: 0, gluster.PeerInCluster: 3, gluster.PeerAccepted: 4, gluster.PeerExchanged: 5, gluster.PeerRejected: 6,
}

func (c *call) poolList() gluster.Output {
	own := c.p.ownUUID(c.s)
	c.p.changed()
	return reply(0, 0, "", func(d *doc) {
		d.in("peerStatus", func() {
			c.peers(d)
			d.in("peer", func() {
				d.el("uuid", own)
				d.el("hostname", "localhost")
				d.el("connected", 1)
			})
		})
	})
}

func (c *call) peerStatus() gluster.Output {
	return reply(0, 0, "", func(d *doc) {
		if len(c.s.Mem.Peers) == 0 {
			d.line("<peerStatus/>")
			return
		}
		d.in("peerStatus", func() { c.peers(d) })
	})
}

func (c *call) peers(d *doc) {
	for _, e := range c.s.Mem.Peers {
		d.in("peer", func() {
			d.el("uuid", e.UUID)
			d.el("hostname", e.Host)
			d.in("hostnames", func() {
				d.el("hostname", e.Host)
				for _, n := range e.Names {
					d.el("hostname", n)
				}
			})
			d.el("connected", boolInt(c.p.sees(c.s, e)))
			d.el("state", stateNumbers[e.State])
			d.el("stateStr", e.State)
		})
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sees reports whether s is connected to a peer.
func (p *Pool) sees(s *server, e *peer) bool {
	b := p.byPeer(e)
	return b != nil && connected(s, b)
}

// Errors of a probe: an enumeration of its own.
const (
	probeSelf, probeKnown, probeForeign, probeSameUUID, probeQuorum = 1, 2, 3, 5, 8
	probeUnreachable                                                = 107
)

func (c *call) peerProbe(ctx context.Context) (gluster.Output, error) {
	host := c.arg(2)
	if len(c.words) != 3 {
		return usage("peer probe { <HOSTNAME> | <IP-address> }"), nil
	}
	if c.rule != nil && c.rule.Effect == EffectNone {
		return c.probeFailed(c.rule.errno(), c.rule.Text), nil
	}
	t, err := c.meet(ctx, host)
	if t == nil {
		return gluster.Output{}, err
	}
	return t.answer()
}

// meet waits, like a transaction without a lock, until nothing is stopped that
// has to answer, and then probes.
func (c *call) meet(ctx context.Context, host string) (*txn, error) {
	p := c.p
	t := &txn{c: c, begun: p.now(), done: make(chan struct{})}
	t.op = op{lock: "probe of " + host, failed: c.probeFailed, stage: nil}
	if c.rule != nil && c.rule.Effect == EffectHeld {
		t.held = c.rule
	}
	run := func() gluster.Output { return c.probe(host, t) }
	b := p.resolve(host)
	if t.held == nil && !c.s.Stopped && (b == nil || !b.Stopped) {
		p.finish(t, run)
		p.changed()
		return t, nil
	}
	t.probe = run
	p.pending = append(p.pending, t)
	out, err := c.timeOut(ctx, t.done)
	if errors.Is(err, errDone) || t.ended() {
		return t, nil
	}
	t.left = true
	if err == nil {
		t.out, t.answered = out, true
		return t, nil
	}
	return nil, err
}

func (c *call) probe(host string, t *txn) gluster.Output {
	p, s := c.p, c.s
	if s.Mem == nil {
		return noDaemon()
	}
	own := p.ownUUID(s)
	b := p.resolve(host)
	switch {
	case b == s:
		return c.probeDone(probeSelf, "Probe on localhost not needed")
	case s.Mem.peerNamed(host) != nil:
		return c.probeDone(probeKnown, fmt.Sprintf("Host %s port 24007 already in peer list", host))
	case p.quorumLost(s, ""):
		return c.probeRefused(probeQuorum, "Cluster quorum is not met. Changing peers is not allowed in this state")
	case b == nil || !connected(s, b):
		return c.probeRefused(probeUnreachable, "Probe returned with Transport endpoint is not connected")
	}
	switch other := p.ownUUID(b); {
	case other == own:
		return c.probeRefused(probeSameUUID, fmt.Sprintf("Peer uuid (host %s) is same as local uuid", host))
	case s.Mem.peer(other) != nil: // another name of it, or a clone of it (LAB-14)
		e := s.Mem.peer(other)
		e.Names = append(e.Names, host)
		s.storePeers()
		for _, m := range t.others(s) {
			if f := m.Mem.peer(other); f != nil && f.Host != host && !slices.Contains(f.Names, host) {
				f.Names = append(f.Names, host)
				m.storePeers()
			}
		}
		p.effect(c.effect(t, s.Name))
		return c.probeDone(probeKnown, fmt.Sprintf("Host %s port 24007 already in peer list", host))
	case len(b.Mem.Peers) > 0 || len(b.Mem.Volumes) > 0:
		return c.probeRefused(probeForeign, fmt.Sprintf("%s is either already part of another cluster or having volumes configured", host))
	}
	on := p.join(s, b, host)
	p.effect(c.effect(t, on...))
	if c.rule != nil && c.rule.Crash != "" {
		if dead := p.server(c.rule.Crash); dead != nil {
			p.killGlusterd(dead)
			if dead == s {
				return noDaemon()
			}
		}
	}
	if c.rule != nil && c.rule.Text != "" {
		return c.probeRefused(c.rule.errno(), c.rule.Text)
	}
	return c.probeDone(0, "")
}

func (c *call) effect(t *txn, on ...string) Effect {
	return Effect{Server: c.s.Name, Verb: "run", Attempt: c.cmd.Attempt, Fence: c.fence, Argv: c.words, On: on, Late: t.left}
}

// others are the connected members besides s.
func (t *txn) others(s *server) []*server {
	var out []*server
	for _, e := range s.members() {
		if b := t.c.p.byPeer(e); b != nil && connected(s, b) && b.Mem != nil {
			out = append(out, b)
		}
	}
	return out
}

// join makes b a member of s's pool, on every member that s reaches.
func (p *Pool) join(s, b *server, host string) (on []string) {
	know := func(a *server, uuid, host string, names ...string) {
		if a.Mem.UUID == uuid || a.Mem.peer(uuid) != nil {
			return
		}
		a.Mem.Peers = append(a.Mem.Peers, &peer{UUID: uuid, Host: host, Names: names, State: gluster.PeerInCluster})
		a.storePeers()
	}
	from := s.Name // the new one looks the address up
	if p.opts.NoReverse {
		from = s.Addr
	}
	know(s, b.Mem.UUID, host)
	know(b, s.Mem.UUID, from)
	on = []string{s.Name, b.Name}
	for _, e := range s.members() {
		m := p.byPeer(e)
		if m == nil || m == b || !connected(s, m) || m.Mem == nil {
			continue
		}
		know(m, b.Mem.UUID, host)
		know(b, e.UUID, e.Host, e.Names...)
		on = append(on, m.Name)
	}
	p.handshake(s, b)
	return on
}

func (c *call) probeDone(errno int, text string) gluster.Output {
	c.history(true, text)
	if text == "" {
		text = "success"
	}
	return reply(0, errno, "", func(d *doc) { d.el("output", text) })
}

func (c *call) probeRefused(errno int, text string) gluster.Output {
	c.history(false, text)
	return c.probeFailed(errno, text)
}

func (c *call) probeFailed(errno int, text string) gluster.Output {
	return reply(-1, errno, text, nil)
}
