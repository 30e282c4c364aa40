package sim

import (
	"fmt"
	"slices"

	"github.com/gluster/anthill/executor/gluster"
)

func (p *Pool) killGlusterd(s *server) {
	if !s.Running {
		return
	}
	p.drop(s)
	s.Running, s.Stopped, s.Mem = false, false, nil
	p.loseContact(s)
}

// loseContact fails what waited for a server that is gone.
func (p *Pool) loseContact(s *server) {
	for _, t := range slices.Clone(p.pending) {
		if t.probe != nil || t.c.s == s || t.c.s.Mem == nil || t.held != nil {
			continue
		}
		for _, e := range t.c.s.members() {
			if p.byPeer(e) == s {
				t.fail = fmt.Sprintf("Locking failed on %s. Please check log file for details.", e.Host)
			}
		}
	}
	p.resume()
}

func (p *Pool) startGlusterd(s *server) {
	if s.Running || s.Away {
		return
	}
	s.Running, s.Starts = true, s.Starts+1
	s.Mem = s.Disk.clone()
	for _, name := range s.Mem.names() {
		v := s.Mem.Volumes[name]
		if v.Task != nil && p.taskState(v, s.Mem.UUID) == gluster.RebalanceRunning {
			v.Task.Lost = map[string]bool{s.Mem.UUID: true}
		}
		if v.started() {
			p.startBricks(s, v)
		}
	}
	p.handshakes(s)
}

// handshakes compares volumes with every peer that can be reached.
func (p *Pool) handshakes(s *server) {
	if s.Mem == nil {
		return
	}
	for _, e := range slices.Clone(s.Mem.Peers) {
		if b := p.byPeer(e); b != nil && b != s && connected(s, b) && b.Mem != nil && b.Mem.peer(s.Mem.UUID) != nil {
			p.handshake(s, b)
		}
	}
	p.resume()
}

// handshake: the higher version of a volume wins; the same version with other
// content is a rejection, on both sides.
func (p *Pool) handshake(a, b *server) {
	ok := true
	for _, name := range append(a.Mem.names(), b.Mem.names()...) {
		va, vb := a.Mem.Volumes[name], b.Mem.Volumes[name]
		switch {
		case va == nil:
			p.imports(a, vb)
		case vb == nil:
			p.imports(b, va)
		case va.Version > vb.Version:
			p.imports(b, va)
		case vb.Version > va.Version:
			p.imports(a, vb)
		case va.Sum != vb.Sum:
			ok = false
		}
	}
	for key, v := range a.Mem.Options {
		b.Mem.Options[key], b.Disk.Options[key] = v, v
	}
	state := gluster.PeerInCluster
	if !ok {
		state = gluster.PeerRejected
	}
	if e := a.Mem.peer(b.Mem.UUID); e != nil {
		e.State = state
	}
	if e := b.Mem.peer(a.Mem.UUID); e != nil {
		e.State = state
	}
}

// imports takes a volume over from a peer, and its bricks here with it.
func (p *Pool) imports(s *server, v *volume) {
	s.Mem.Volumes[v.Name] = v.clone()
	s.Disk.Volumes[v.Name] = v.clone()
	if v.started() {
		p.startBricks(s, v)
	} else {
		s.stopBricks(v)
	}
}

// startBricks starts the bricks of a volume here that do not run and whose
// directory is what it has to be.
func (p *Pool) startBricks(s *server, v *volume) {
	for _, b := range v.on(s.Mem.UUID) {
		if pr := s.Procs[b.Path]; pr != nil && pr.Alive {
			continue
		}
		if d := s.FS.Dirs[b.Path]; d == nil || d.VolumeID != v.ID {
			continue
		}
		s.NextPID++
		s.Procs[b.Path] = &proc{Volume: v.Name, PID: s.NextPID, Port: 49152 + s.NextPID%10000, Alive: true}
		s.FS.Dirs[b.Path].Skeleton = true
	}
}

func (s *server) stopBricks(v *volume) {
	for _, b := range v.on(s.Disk.UUID) {
		if pr := s.Procs[b.Path]; pr != nil {
			pr.Alive, pr.Ended = false, true
		}
	}
}

// online returns the running process of a brick of this server.
func (s *server) online(b brick) *proc {
	if pr := s.Procs[b.Path]; pr != nil && pr.Alive {
		return pr
	}
	return nil
}

// quorumLost reports whether server quorum is wanted, by any volume or by the
// named one, and not met.
func (p *Pool) quorumLost(s *server, volumeName string) bool {
	wanted := false
	for name, v := range s.Mem.Volumes {
		if (volumeName == "" || name == volumeName) && v.Options["cluster.server-quorum-type"] == "server" {
			wanted = true
		}
	}
	if !wanted {
		return false
	}
	all, up := 1, 1
	for _, e := range s.Mem.Peers {
		all++
		if p.sees(s, e) {
			up++
		}
	}
	return 2*up <= all
}
