package sim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gluster/anthill/executor/gluster"
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

// Mount mounts or unmounts a brick file system. What it holds is hidden while
// it is not mounted; the empty mount point is then on the root file system.
func (p *Pool) Mount(name, mountPoint string, mounted bool) error {
	var err error
	if e := p.on(name, "mounting", func(s *server) { err = s.mount(mountPoint, mounted) }); e != nil {
		return e
	}
	return err
}

func (s *server) mount(at string, mounted bool) error {
	r := s.FS.Roots[at]
	if r == nil {
		return fmt.Errorf("mounting %q on %s: no such file system", at, s.Name)
	}
	if r.Mounted == mounted {
		return nil
	}
	r.Mounted = mounted
	if mounted {
		maps.Copy(s.FS.Dirs, r.Hidden)
		r.Hidden = nil
		return nil
	}
	r.Hidden = map[string]*dir{}
	for path, d := range s.FS.Dirs {
		if within(path, at) {
			r.Hidden[path] = d
			delete(s.FS.Dirs, path)
		}
	}
	return nil
}

// ReadOnly makes a brick file system read-only, or writable again.
func (p *Pool) ReadOnly(name, mountPoint string, yes bool) error {
	var err error
	if e := p.on(name, "remounting", func(s *server) {
		if r := s.FS.Roots[mountPoint]; r != nil {
			r.ReadOnly = yes
			return
		}
		err = fmt.Errorf("remounting %q on %s: no such file system", mountPoint, name)
	}); e != nil {
		return e
	}
	return err
}

// SwapDisk puts another, empty file system at a mount point.
func (p *Pool) SwapDisk(name, mountPoint string) error {
	var err error
	if e := p.on(name, "swapping a disk", func(s *server) {
		r := s.FS.Roots[mountPoint]
		if r == nil {
			err = fmt.Errorf("swapping %q on %s: no such file system", mountPoint, name)
			return
		}
		for path := range s.FS.Dirs {
			if within(path, mountPoint) {
				delete(s.FS.Dirs, path)
			}
		}
		s.FS.Roots[mountPoint] = &root{FSUUID: p.newID(), Size: r.Size, Free: r.Size * 9 / 10, Mounted: true}
	}); e != nil {
		return e
	}
	return err
}

// MakeDir makes a directory with its parents, as mkdir -p does.
func (p *Pool) MakeDir(name, path string) error {
	return p.on(name, "making a directory", func(s *server) { s.FS.mkdirAll(path) })
}

// RemoveDir removes a directory with all below it, marks included.
func (p *Pool) RemoveDir(name, path string) error {
	return p.on(name, "removing a directory", func(s *server) {
		for at := range s.FS.Dirs {
			if within(at, path) {
				delete(s.FS.Dirs, at)
			}
		}
	})
}

// Mark sets what a brick directory holds: the volume's id in its xattr and
// whether users' files are in it.
func (p *Pool) Mark(name, path, volumeID string, data bool) error {
	return p.on(name, "marking a directory", func(s *server) {
		s.FS.mkdirAll(path)
		s.FS.Dirs[path] = &dir{VolumeID: volumeID, Skeleton: volumeID != "" || data, Data: data}
	})
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

func (f *files) mkdirAll(path string) {
	for at := path; at != "/" && at != "."; at = parent(at) {
		if !f.has(at) {
			f.Dirs[at] = &dir{}
		}
	}
}

func parent(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}

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
