package planner

// ownViews finds a volume in a node's own view; where that has it at the same
// place as the canonical one, which is the rule, without searching.
func ownViews() func(n *node, i int, name string) *Volume {
	index := map[*node]map[string]*Volume{}
	return func(n *node, i int, name string) *Volume {
		vols := n.srv.View.Volumes
		if i < len(vols) && vols[i].Name == name {
			return &vols[i]
		}
		byName := index[n]
		if byName == nil {
			byName = make(map[string]*Volume, len(vols))
			for j := range vols {
				byName[vols[j].Name] = &vols[j]
			}
			index[n] = byName
		}
		return byName[name]
	}
}

// findBricks says of each brick of a volume who carries it and whether it
// serves, which only its own server can tell (LAB-7).
func (c *cycle) findBricks(i int, g *Volume) []brick {
	out := make([]brick, len(g.Bricks))
	for k := range g.Bricks {
		b := &out[k]
		b.Brick = g.Bricks[k]
		b.node = c.byUUID[b.PeerUUID]
		if b.node == nil {
			continue
		}
		if b.dir = b.node.dirOf(b.Path); b.dir != nil {
			if b.Arbiter {
				b.dir.arbiters++
			} else {
				b.dir.bricks++
			}
		}
		if !b.node.glusterd() || b.node.stranger() {
			continue
		}
		own := c.lookup(b.node, i, g.Name)
		if own == nil {
			continue
		}
		if s := sameBrick(own, k, b.PeerUUID, b.Path); s != nil {
			b.known, b.online = true, s.Online && alive(b.node.srv.Bricks, b.Path)
			b.SizeBytes, b.FreeBytes = s.SizeBytes, s.FreeBytes
		}
	}
	return out
}

func sameBrick(v *Volume, k int, uuid, path string) *Brick {
	if k < len(v.Bricks) && v.Bricks[k].Path == path && v.Bricks[k].PeerUUID == uuid {
		return &v.Bricks[k]
	}
	for i := range v.Bricks {
		if v.Bricks[i].Path == path && v.Bricks[i].PeerUUID == uuid {
			return &v.Bricks[i]
		}
	}
	return nil
}

// alive reports whether the brick's process lives; a process nobody reported
// on is taken at glusterd's word.
func alive(procs []BrickProcess, path string) bool {
	for i := range procs {
		if procs[i].Path == path {
			return procs[i].Alive
		}
	}
	return true
}

// countPromised adds the bricks that open operations will put onto directories
// and that are not there yet.
func (c *cycle) countPromised() {
	for _, o := range c.open {
		end := o.end.Volume
		if end == nil || len(end.Bricks) == 0 || end.Deleted {
			continue
		}
		var there map[[2]string]bool
		if v := c.volume(end.Name); v != nil {
			there = make(map[[2]string]bool, len(v.bricks))
			for i := range v.bricks {
				there[[2]string{v.bricks[i].PeerUUID, v.bricks[i].Path}] = true
			}
		}
		for _, b := range end.Bricks {
			n := c.byName[b.Node]
			if n == nil || there[[2]string{b.UUID, b.Path(end.VolumeID)}] {
				continue
			}
			if d := n.dirOf(b.Path(end.VolumeID)); d != nil {
				if b.Arbiter {
					d.arbiters++
				} else {
					d.bricks++
				}
			}
		}
	}
}
