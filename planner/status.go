package planner

import (
	"github.com/gluster/anthill/apis/v1alpha1"
)

// status says what is seen of pool, nodes and volumes.
func (c *cycle) status() {
	s := ClusterStatus{Nodes: len(c.nodes), Volumes: len(c.volumes)}
	for _, n := range c.nodes {
		st := n.status(c.poolID)
		c.out.Nodes[n.name()] = st
		if st.Joined {
			s.Joined++
		}
		if st.Healthy {
			s.Healthy++
		}
	}
	heals, told := int64(0), true
	for _, v := range c.volumes {
		st := c.volumeStatus(v)
		c.out.Volumes[v.name()] = st
		if ok, _ := v.serves(); ok {
			s.VolumesAvailable++
		}
		if !v.exists() || v.g.SetSize() == 1 {
			continue // nothing to heal
		}
		if st.PendingHeals == nil {
			told = false
		} else {
			heals += *st.PendingHeals
		}
	}
	if told {
		s.PendingHeals = &heals
	}
	options, _ := c.clusterOptions()
	s.Options = options.keep()
	if c.pool.canon == nil {
		s.Options = plain(c.cluster.Status.AppliedOptions)
	}
	c.out.Cluster = s
}

func plain(m map[string]v1alpha1.OptionValue) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}

func (n *node) status(poolID string) NodeStatus {
	s := NodeStatus{Joined: n.member, UUID: n.recorded, Address: n.address(), Pod: n.srv.Pod}
	if n.pod != nil && n.srv.Pod != nil {
		s.PodCurrent = n.srv.Pod.Runs == n.pod.digest
	}
	if n.claimed && n.wrong == nil && poolID != "" && n.srv.UUID != "" {
		s.UUID = n.srv.UUID
	}
	if n.reachable && n.srv.Gate.Installed {
		s.GateDigest, s.Fence = n.srv.Gate.Digest, n.srv.Gate.Fence
	} else if g := n.cr.Status.Gate; g != nil && !n.reachable {
		s.GateDigest, s.Fence = g.Digest, uint64(g.Fence)
	}
	s.Healthy = n.member && n.connected && !n.stranger()
	for _, d := range n.dirs {
		st := DirStatus{Path: d.path, State: d.state, Bricks: d.bricks + d.arbiters, Message: d.why}
		if d.seen {
			st.SizeBytes = d.mount.SizeBytes
			if d.mount.Registered { // else it is of whatever happens to be there
				st.FSUUID = d.mount.FSUUID
			}
		} else if was := n.remembered(d.path); was != nil {
			st.FSUUID, st.SizeBytes = was.FSUUID, uint64(was.SizeBytes)
		}
		s.Healthy = s.Healthy && !d.broken()
		s.Dirs = append(s.Dirs, st)
	}
	return s
}

// remembered is what status knows of a directory.
func (n *node) remembered(path string) *v1alpha1.BrickDirStatus {
	for i := range n.cr.Status.BrickDirs {
		if d := &n.cr.Status.BrickDirs[i]; string(d.Path) == path {
			return d
		}
	}
	return nil
}

func (c *cycle) volumeStatus(v *volume) VolumeStatus {
	s := VolumeStatus{VolumeID: v.id, GlusterID: v.cr.Status.GlusterID}
	if !v.exists() {
		if !v.seen {
			s.Options = plain(v.cr.Status.AppliedOptions)
		}
		return s
	}
	size := v.g.SetSize()
	s.GlusterID, s.Sets, s.Total, s.Layout = v.g.ID, v.sets, len(v.bricks), v.layoutNow()
	s.Bricks = make([]BrickStatus, len(v.bricks))
	for i := range v.bricks {
		b := &v.bricks[i]
		s.Bricks[i] = BrickStatus{Host: b.Host, Path: b.Path, Set: i / size, Position: i % size, Online: b.online, Known: b.known}
		if b.node != nil {
			s.Bricks[i].Node = b.node.name()
		}
		if b.online {
			s.Up++
		}
	}
	s.UsableBytes = v.usable()
	options := c.volumeOptions(v)
	s.Options = options.keep()
	if h, ok := c.s.Observed.Heals[v.name()]; ok && h.Known {
		pending := int64(h.Pending)
		s.PendingHeals = &pending
	}
	return s
}

// layoutNow is the layout as it is, in one line.
func (v *volume) layoutNow() string {
	l := v.layout().DeepCopy()
	switch l.Kind() {
	case v1alpha1.LayoutReplicate:
		l.Replicate.Sets = int32(v.sets)
	case v1alpha1.LayoutDisperse:
		l.Disperse.Sets = int32(v.sets)
	case v1alpha1.LayoutDistribute:
		l.Distribute.Bricks = int32(v.sets)
	}
	return l.String()
}

// usable is what clients can use of a volume: of each set its smallest brick,
// times the bricks that hold different data. Bricks on one directory share it
// equally; an arbiter needs next to nothing. 0 when a size is not known.
func (v *volume) usable() uint64 {
	size, shape := v.g.SetSize(), shapeIn(v.g)
	data := uint64(1)
	if shape.disperse > 0 {
		data = uint64(shape.disperse - shape.redundancy)
	}
	var sum uint64
	for set := range v.sets {
		var least uint64
		for i := set * size; i < (set+1)*size; i++ {
			b := &v.bricks[i]
			if b.Arbiter {
				continue
			}
			share := b.share()
			if share == 0 {
				return 0
			}
			if least == 0 || share < least {
				least = share
			}
		}
		sum += least * data
	}
	return sum
}

// share is the part of its directory's file system that a brick may fill.
func (b *brick) share() uint64 {
	if b.dir == nil {
		return b.SizeBytes
	}
	total := b.dir.mount.SizeBytes
	if total == 0 {
		if was := b.node.remembered(b.dir.path); was != nil {
			total = uint64(was.SizeBytes)
		}
	}
	if total == 0 {
		total = b.SizeBytes
	}
	return total / uint64(max(b.dir.bricks, 1))
}

// serves reports whether clients can read and write the volume: it is started
// and every set has enough bricks that serve. told is false when that cannot be
// told, because servers were not seen.
func (v *volume) serves() (ok, told bool) {
	if !v.exists() || !v.g.Started {
		return false, v.seen
	}
	size, need := v.g.SetSize(), shapeIn(v.g).quorum()
	told = true
	ok = true
	for set := range v.sets {
		up, hidden := 0, 0
		for i := set * size; i < (set+1)*size; i++ {
			switch b := &v.bricks[i]; {
			case b.online:
				up++
			case !b.known:
				hidden++
			}
		}
		switch {
		case up >= need:
		case up+hidden >= need:
			ok, told = false, false
		default:
			return false, true
		}
	}
	return ok, told
}
