package planner

import (
	"slices"

	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner/placement"
)

// candidates are the brick directories a volume may be placed on now, and why
// the other nodes it could use have none. waiting are servers that may still
// become candidates by themselves.
func (c *cycle) candidates(v *volume) (dirs []placement.Dir, excluded []placement.Exclusion, waiting []string) {
	zones := v.cr.Spec.Zones
	dirs = make([]placement.Dir, 0, 2*len(c.nodes))
	for _, n := range c.nodes {
		if len(zones) > 0 && !slices.Contains(zones, n.cr.Spec.Zone) {
			continue
		}
		f := n.fitness()
		if f.why == "" {
			for _, d := range n.dirs {
				if d.why == "" {
					dirs = append(dirs, placement.Dir{
						Node: n.name(), Zone: f.zone, Root: d.path,
						SizeBytes: d.mount.SizeBytes, Bricks: d.bricks, Arbiters: d.arbiters,
					})
				}
			}
			continue
		}
		excluded = append(excluded, placement.Exclusion{Node: n.name(), Why: f.why})
		if f.soon {
			waiting = append(waiting, n.name())
		}
	}
	return dirs, excluded, waiting
}

// A fitness says whether a node can take bricks.
type fitness struct {
	zone string
	why  string // it cannot; empty if it can
	soon bool   // that is likely to change without anybody doing something
}

// fitness is judged once a cycle.
func (n *node) fitness() *fitness {
	if n.fit == nil {
		n.fit = &fitness{zone: n.cr.FailureDomain()}
		n.fit.why, n.fit.soon = n.unfit()
	}
	return n.fit
}

func (n *node) unfit() (why string, soon bool) {
	switch {
	case n.deleting():
		return "being deleted", false
	case n.wrong != nil:
		return n.wrong.reason, false
	case !n.reachable:
		return n.unreachable.reason, false
	case !n.member:
		return "not joined", !n.stuck()
	case n.srv.View == nil:
		return "glusterd does not answer", false
	case !n.steady:
		return "not connected", false
	case !n.claimed:
		return "not prepared", !n.stuck()
	}
	for _, d := range n.dirs {
		if d.why == "" {
			return "", false
		}
		if why == "" {
			why = d.path + ": " + d.why
		}
		soon = soon || d.registrable()
	}
	return why, soon && !n.stuck()
}

// stuck reports whether an operation on the node waits for a person.
func (n *node) stuck() bool {
	return slices.ContainsFunc(n.ops, func(o *openOp) bool { return o.State == view.Suspended || o.unreadable != "" })
}

// place finds bricks for the sets a volume lacks. Since a brick, once placed,
// stays, a placement that puts two bricks of a set into one zone, two of its bricks onto
// one node, or bricks onto directories that others use already, waits for servers
// that are about to join and would make it better.
func (c *cycle) place(v *volume) (sets [][]BrickRef, waits string, err error) {
	dirs, excluded, waiting := c.candidates(v)
	req := placement.Request{
		Dirs: dirs, Sets: v.layout().Sets(), SetSize: v.layout().BricksPerSet(),
		Arbiters: shapeOf(v.layout()).arbiter, Excluded: excluded, Zones: v.cr.Spec.Zones,
	}
	if v.g != nil {
		req.Existing = make([][]placement.Location, v.sets)
		for i := range v.bricks {
			b := &v.bricks[i]
			var l placement.Location
			if b.node != nil && b.dir != nil {
				l = placement.Location{Node: b.node.name(), Root: b.dir.path}
			}
			k := i / v.g.SetSize()
			req.Existing[k] = append(req.Existing[k], l)
		}
	}
	all, err := placement.Place(req)
	switch {
	case placement.IsNotEnoughServers(err) && len(waiting) > 0:
		return nil, "waits for servers to join: " + listed(waiting), nil
	case err != nil:
		return nil, "", err
	}
	shared, crowded := false, false
	used := map[string]bool{} // nodes
	for k := len(req.Existing); k < len(all); k++ {
		zones, doubled := map[string]bool{}, false
		set := make([]BrickRef, 0, len(all[k]))
		for i, l := range all[k] {
			n := c.byName[l.Node]
			doubled = doubled || zones[n.fitness().zone]
			zones[n.fitness().zone] = true
			crowded = crowded || used[l.Node] || n.dirOf(l.Root+"/").bricks > 0 // an arbiter takes no room
			used[l.Node] = true
			set = append(set, BrickRef{
				Node: n.name(), Address: n.address(), UUID: n.uuid, Root: l.Root,
				Leaf: leaf(k, i), Arbiter: i >= req.SetSize-req.Arbiters,
			})
		}
		sets = append(sets, set)
		shared = shared || doubled && c.bringZone(waiting, zones)
	}
	switch {
	case len(waiting) == 0:
	case shared:
		return nil, "waits for servers to join, so that no two copies share a zone: " + listed(waiting), nil
	case crowded:
		return nil, "waits for servers to join, so that its bricks need not share: " + listed(waiting), nil
	}
	return sets, "", nil
}

// bringZone reports whether one of these nodes is in another zone than these.
func (c *cycle) bringZone(nodes []string, zones map[string]bool) bool {
	return slices.ContainsFunc(nodes, func(name string) bool { return !zones[c.byName[name].fitness().zone] })
}

// promise counts the bricks of a plan of this cycle, so that the next volume is
// placed beside them.
func (c *cycle) promise(sets [][]BrickRef) {
	for _, set := range sets {
		for _, b := range set {
			d := c.byName[b.Node].dirOf(b.Root + "/")
			if b.Arbiter {
				d.arbiters++
			} else {
				d.bricks++
			}
		}
	}
}
