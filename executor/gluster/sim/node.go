package sim

import (
	"fmt"
)

// Kill ends a server's glusterd as kill -9 does: what was in memory only is
// gone, its bricks go on.
func (p *Pool) Kill(name string) error {
	return p.on(name, "killing glusterd", p.killGlusterd)
}

// Start starts a server's glusterd again: it reads its disk, starts missing
// bricks and shakes hands with its peers.
func (p *Pool) Start(name string) error {
	return p.on(name, "starting glusterd", p.startGlusterd)
}

// Stop stops a server's glusterd as SIGSTOP does: it still counts as connected,
// and commands wait for it.
func (p *Pool) Stop(name string) error {
	return p.on(name, "stopping glusterd", func(s *server) { s.Stopped = s.Running })
}

// Continue lets a stopped glusterd go on; what waited for it is applied now.
func (p *Pool) Continue(name string) error {
	return p.on(name, "continuing glusterd", func(s *server) {
		s.Stopped = false
		p.resume()
	})
}

// Cut disconnects a server from all others; Heal connects it again.
func (p *Pool) Cut(name string) error {
	return p.on(name, "cutting off", func(s *server) {
		s.Cut = true
		p.loseContact(s)
	})
}

// Heal undoes Cut: the server shakes hands with its peers.
func (p *Pool) Heal(name string) error {
	return p.on(name, "healing", func(s *server) {
		s.Cut = false
		p.handshakes(s)
	})
}

// Power switches a whole machine off, bricks and all, or on again.
func (p *Pool) Power(name string, on bool) error {
	return p.on(name, "switching", func(s *server) {
		if on {
			p.powerOn(s)
		} else {
			p.powerOff(s)
		}
	})
}

func (p *Pool) powerOff(s *server) {
	p.killGlusterd(s)
	for _, pr := range s.Procs {
		pr.Alive = false
	}
	s.detach()
	s.Gate.Running = ""
	s.Away = true
}

func (p *Pool) powerOn(s *server) {
	s.Away = false
	s.attach()
	p.startGlusterd(s)
}

// Darken hides a server from the operator, or shows it again; the pool notices
// nothing.
func (p *Pool) Darken(name string, yes bool) error {
	return p.on(name, "darkening", func(s *server) { s.Dark = yes })
}

// KillBrick ends a brick process.
func (p *Pool) KillBrick(name, path string) error {
	var err error
	if e := p.on(name, "killing a brick", func(s *server) {
		pr := s.Procs[path]
		if pr == nil || !pr.Alive {
			err = fmt.Errorf("killing brick %s:%s: it does not run", name, path)
			return
		}
		pr.Alive = false
	}); e != nil {
		return e
	}
	return err
}

// SetUUID gives a server, whose glusterd does not run, the UUID of another: a
// clone.
func (p *Pool) SetUUID(name, uuid string) error {
	return p.on(name, "setting the UUID", func(s *server) {
		s.Disk.UUID = uuid
		if s.Mem != nil {
			s.Mem.UUID = uuid
		}
	})
}

// UUID is a server's, from its disk; empty if it has none yet.
func (p *Pool) UUID(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.server(name); s != nil {
		return s.Disk.UUID
	}
	return ""
}

// SetRebalance says how rebalances go that start from now on.
func (p *Pool) SetRebalance(plan RebalancePlan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.st.Rebalance = plan
	p.changed()
}

// on runs f on a server.
func (p *Pool) on(name, doing string, f func(*server)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.server(name)
	if s == nil {
		return fmt.Errorf("%s: there is no server %q", doing, name)
	}
	f(s)
	p.changed()
	return nil
}
