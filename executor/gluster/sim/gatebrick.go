package sim

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/gluster/anthill/executor/gate"
)

const retiredName = ".anthill-retired"

// observe answers Observe from files, processes and glusterd's own view.
func (c *gateCall) observe() gate.Reply {
	s := c.s
	st := &gate.ServerState{
		Hostname: s.Name, UUID: s.Disk.UUID, Volumes: s.Disk.names(), FreeMeta: 10 << 30, Devices: c.devices(),
		Glusterd: gate.Glusterd{Running: s.Running, Start: s.startID(), Version: version},
	}
	for _, e := range s.Disk.Peers {
		st.Peers = append(st.Peers, e.UUID)
	}
	switch {
	case !s.Running:
		st.StateErr = "glusterd is not running"
	case s.Stopped:
		st.StateErr = "gluster get-state did not answer in time"
	default:
		st.State = c.p.getState(s)
	}
	for _, at := range slices.Sorted(maps.Keys(s.Procs)) {
		if pr := s.Procs[at]; !pr.Ended {
			st.Bricks = append(st.Bricks, gate.Brick{Volume: pr.Volume, Path: at, PID: pr.PID, Alive: pr.Alive})
		}
	}
	dirs := append(slices.Collect(maps.Keys(c.g.Dirs)), c.req.Dirs...)
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		st.Mounts = append(st.Mounts, c.look(d))
	}
	owner := c.g.Owner
	return gate.Reply{Owner: owner, Digest: c.g.Digest, State: st}
}

// look compares a directory with what was registered.
func (c *gateCall) look(dir string) gate.Mount {
	m := gate.Mount{Dir: dir}
	if want, ok := c.g.Dirs[dir]; ok {
		m.Want = &want
	}
	if !c.s.FS.has(dir) {
		m.Error = dir + " does not exist"
		return m
	}
	have := gate.MountID{FSType: "ext4", FSUUID: "root-of-" + c.s.Name, Source: "/dev/vda", MountPoint: "/", Root: true}
	if at, r := c.s.FS.rootOf(dir); r != nil {
		have = gate.MountID{FSType: "xfs", FSUUID: r.FSUUID, Source: "/dev/loop0", MountPoint: at}
		m.SizeBytes, m.FreeBytes = r.Size, r.Free
	}
	m.Have = &have
	if m.Want != nil && (m.Want.FSUUID != have.FSUUID || m.Want.MountPoint != have.MountPoint) {
		m.Error = fmt.Sprintf("%s is on %s at %s, it was registered on %s at %s", dir, have.FSUUID, have.MountPoint, m.Want.FSUUID, m.Want.MountPoint)
	}
	return m
}

func mountRefusal(wrong ...gate.Mount) error {
	r := refusef(gate.ExitFailed, gate.ReasonMount, "%s", wrong[0].Error)
	r.Mounts = wrong
	return r
}

func (c *gateCall) register() (gate.Reply, error) {
	var mounts, wrong []gate.Mount
	for _, d := range c.req.Dirs {
		m := c.look(d)
		if m.Error == "" && m.Have.Root {
			m.Error = d + " is on the root file system, which would fill up"
		}
		if m.Error != "" {
			wrong = append(wrong, m)
		}
		mounts = append(mounts, m)
	}
	if len(wrong) > 0 {
		return gate.Reply{}, mountRefusal(wrong...)
	}
	if len(mounts) == 0 {
		return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs directories", c.req.Verb)
	}
	for i := range mounts {
		if m := &mounts[i]; m.Want == nil {
			if c.g.Dirs == nil {
				c.g.Dirs = map[string]gate.MountID{}
			}
			c.g.Dirs[m.Dir], m.Want = *m.Have, m.Have
			c.log(m.Dir)
		}
	}
	return gate.Reply{Mounts: mounts}, nil
}

// root checks that the request's root is a registered directory and on the
// file system it was registered on (S12).
func (c *gateCall) root() (gate.BrickPath, error) {
	b := c.req.Brick
	if b == nil || b.Root == "" || b.Volume == "" {
		return gate.BrickPath{}, refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs a brick path", c.req.Verb)
	}
	m := c.look(b.Root)
	if m.Want == nil {
		m.Error = b.Root + " is not registered"
	}
	if m.Error != "" {
		return *b, mountRefusal(m)
	}
	return *b, nil
}

func brickPath(b gate.BrickPath) string {
	p := path.Join(b.Root, b.Volume)
	if b.Leaf != "" {
		p = path.Join(p, b.Leaf, "brick")
	}
	return p
}

// info tells what is at a brick path.
func (c *gateCall) info(b gate.BrickPath) gate.BrickInfo {
	i := gate.BrickInfo{Path: brickPath(b)}
	fs := c.s.FS
	for n := range 100 {
		if at := retiredPath(b, n); fs.Dirs[at] != nil {
			i.Retired = append(i.Retired, at)
		}
	}
	for _, name := range c.s.Disk.names() {
		for _, br := range c.s.Disk.Volumes[name].on(c.s.Disk.UUID) {
			if within(br.Path, i.Path) {
				i.BrickOf = name
			}
		}
	}
	for at, pr := range c.s.Procs {
		if pr.Alive && within(at, i.Path) {
			i.ServedBy = pr.PID
		}
	}
	d := fs.Dirs[i.Path]
	if d == nil {
		return i
	}
	i.Exists, i.VolumeID = true, d.VolumeID
	if d.Skeleton {
		i.Entries = append(i.Entries, ".glusterfs")
	}
	if d.Data {
		i.Entries = append(i.Entries, "data")
	}
	for at := range fs.Dirs {
		if parent(at) == i.Path {
			i.Entries = append(i.Entries, path.Base(at))
		}
	}
	slices.Sort(i.Entries)
	i.Empty = len(i.Entries) == 0
	i.Leftover = i.Empty || d.Skeleton && !d.Data && len(i.Entries) == 1
	return i
}

func retiredPath(b gate.BrickPath, n int) string {
	name := b.Volume
	if n > 0 {
		name = fmt.Sprintf("%s-%d", b.Volume, n)
	}
	return path.Join(b.Root, retiredName, name)
}

func (c *gateCall) inspect() (gate.Reply, error) {
	if c.req.Brick == nil {
		return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs a brick path", c.req.Verb)
	}
	m := c.look(c.req.Brick.Root)
	if m.Have == nil {
		return gate.Reply{}, mountRefusal(m)
	}
	i := c.info(*c.req.Brick)
	return gate.Reply{Brick: &i, Mounts: []gate.Mount{m}}, nil
}

func brickRefusal(i gate.BrickInfo, format string, args ...any) error {
	r := refusef(gate.ExitFailed, gate.ReasonBrick, format, args...)
	r.Brick = &i
	return r
}

func (c *gateCall) makeBrick() (gate.Reply, error) {
	b, err := c.root()
	if err != nil {
		return gate.Reply{}, err
	}
	i := c.info(b)
	_, r := c.s.FS.rootOf(b.Root)
	switch {
	case i.BrickOf != "":
		return gate.Reply{}, brickRefusal(i, "%s is a brick of volume %q", i.Path, i.BrickOf)
	case i.VolumeID != "":
		return gate.Reply{}, brickRefusal(i, "%s carries the volume id %s", i.Path, i.VolumeID)
	case i.Exists && !i.Empty:
		return gate.Reply{}, brickRefusal(i, "%s is not empty", i.Path)
	case !i.Exists && r.ReadOnly:
		return gate.Reply{}, fmt.Errorf("making the brick directory %q: read-only file system", i.Path)
	case !i.Exists:
		c.s.FS.mkdirAll(i.Path)
		c.log(i.Path)
	}
	i.Exists, i.Empty, i.Leftover = true, true, true
	return gate.Reply{Brick: &i}, nil
}

// unused refuses a path that is still somebody's.
func unused(i gate.BrickInfo) error {
	switch {
	case i.BrickOf != "":
		return brickRefusal(i, "%s is still a brick of volume %q", i.Path, i.BrickOf)
	case i.ServedBy != 0:
		return brickRefusal(i, "%s is still served by process %d", i.Path, i.ServedBy)
	}
	return nil
}

func (c *gateCall) drop() (gate.Reply, error) {
	b, err := c.root()
	if err != nil {
		return gate.Reply{}, err
	}
	i := c.info(b)
	if i.Exists {
		switch err := unused(i); {
		case err != nil:
			return gate.Reply{}, err
		case i.VolumeID != "":
			return gate.Reply{}, brickRefusal(i, "%s carries the volume id %s", i.Path, i.VolumeID)
		case !i.Empty:
			return gate.Reply{}, brickRefusal(i, "%s is not empty", i.Path)
		}
	}
	for _, at := range []string{i.Path, parent(i.Path), parent(parent(i.Path))} {
		if c.s.FS.Dirs[at] == nil || c.s.FS.children(at) > 0 {
			continue
		}
		delete(c.s.FS.Dirs, at)
		c.log(at)
	}
	return gate.Reply{Brick: &gate.BrickInfo{Path: i.Path, Retired: i.Retired}}, nil
}

func (f *files) children(path string) (n int) {
	for at := range f.Dirs {
		if at != path && within(at, path) {
			n++
		}
	}
	return n
}

func (c *gateCall) retire() (gate.Reply, error) {
	b, err := c.root()
	if err != nil {
		return gate.Reply{}, err
	}
	i := c.info(b)
	if !i.Exists {
		return gate.Reply{Brick: &i}, nil
	}
	if err := unused(i); err != nil {
		return gate.Reply{}, err
	}
	to := retiredPath(b, len(i.Retired))
	c.s.FS.mkdirAll(parent(to))
	for at, d := range c.s.FS.Dirs {
		if within(at, i.Path) {
			delete(c.s.FS.Dirs, at)
			c.s.FS.Dirs[to+at[len(i.Path):]] = d
		}
	}
	c.log(to)
	return gate.Reply{Brick: &gate.BrickInfo{Path: i.Path, Retired: append(i.Retired, to)}}, nil
}

func (c *gateCall) reclaim() (gate.Reply, error) {
	b, err := c.root()
	if err != nil {
		return gate.Reply{}, err
	}
	i := c.info(b)
	if err := unused(i); err != nil {
		return gate.Reply{}, err
	}
	switch {
	case !i.Exists, i.Empty && i.VolumeID == "":
		return gate.Reply{Brick: &i}, nil
	case i.VolumeID != c.req.VolumeID:
		return gate.Reply{}, brickRefusal(i, "%s carries the volume id %q, not %q", i.Path, i.VolumeID, c.req.VolumeID)
	case !i.Leftover:
		return gate.Reply{}, brickRefusal(i, "%s holds more than a failed create leaves", i.Path)
	}
	c.s.FS.Dirs[i.Path] = &dir{}
	c.log(i.Path)
	i.VolumeID, i.Entries, i.Empty = "", nil, true
	return gate.Reply{Brick: &i}, nil
}

func (c *gateCall) resolve() gate.Reply {
	var rep gate.Reply
	for _, n := range c.req.Names {
		r := gate.Resolved{Name: n}
		if s := c.p.resolve(n); s != nil {
			r.Addrs, r.Local = []string{s.Addr}, s == c.s
			if !c.p.opts.NoReverse {
				r.Reverse = []string{s.Name}
			}
		} else {
			r.Error = "no such host"
		}
		rep.Resolved = append(rep.Resolved, r)
	}
	return rep
}
