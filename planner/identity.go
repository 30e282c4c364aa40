package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// takenOver is the instance whose pool this operator may take over.
func (c *cycle) takenOver() string { return c.cluster.Annotations[v1alpha1.AnnotationTakeOver] }

// mine reports whether an instance is this operator's, or lets go to it.
func (c *cycle) mine(instance string) bool {
	return instance == c.s.Instance || (instance != "" && instance == c.takenOver())
}

// identify finds the pool's id: as recorded, else as its servers remember it
// (the status was lost, or the cluster was deleted and created again). A problem
// says that the servers remember more than one.
func (c *cycle) identify() *problem {
	if c.poolID = c.cluster.Status.PoolID; c.poolID != "" && !c.provisional() {
		return nil
	}
	pools := map[string]string{} // id -> a node
	for _, n := range c.nodes {
		if _, disputed := c.s.Claims[n.address()]; disputed || !n.reachable {
			continue
		}
		if g := n.srv.Gate; g.Pool != "" && c.mine(g.Instance) && pools[g.Pool] == "" {
			pools[g.Pool] = n.name()
		}
	}
	if len(pools) > 1 {
		var seen []string
		for _, id := range slices.Sorted(maps.Keys(pools)) {
			seen = append(seen, pools[id]+" to pool "+id)
		}
		return problemf(v1alpha1.ReasonServerClaimed, "the servers belong to different pools: %s; remove the GlusterNodes that are not of this cluster", listed(seen))
	}
	for id := range pools {
		c.out.PoolWas = c.poolID
		c.poolID, c.out.PoolID = id, id
	}
	return nil
}

// provisional reports whether the recorded id was made only so that pods could
// be run, whose servers now turn out to remember another one: their cluster was
// deleted and created again, and nobody could be asked before they ran.
func (c *cycle) provisional() bool {
	if len(c.s.Open) > 0 {
		return false // they are about the recorded one
	}
	remember := false
	for _, n := range c.nodes {
		g := n.srv.Gate
		if n.recorded != "" || !n.cr.IsPod() || (n.reachable && g.Pool == c.poolID) {
			return false
		}
		remember = remember || (n.reachable && g.Pool != "" && c.mine(g.Instance))
	}
	return remember
}

// judge decides for every server whether it may be touched at all, as far as
// that can be told without knowing who is in the pool.
func (c *cycle) judge() {
	for _, n := range c.nodes {
		g := n.srv.Gate
		n.claimed = n.reachable && c.poolID != "" && g.Pool == c.poolID
		n.known = n.claimed || (c.poolID != "" && n.recorded != "")
	}
	c.judgeAddresses()
	for _, n := range c.nodes {
		if n.wrong == nil && n.reachable {
			n.wrong = c.judgeOwner(n)
		}
	}
	c.judgeTwins()
	for _, n := range c.nodes {
		if n.uuid != "" && !n.stranger() {
			c.byUUID[n.uuid] = n
		}
	}
}

// judgeAddresses lets one node have an address: the one that is in the pool,
// else the oldest.
func (c *cycle) judgeAddresses() {
	byAddress := make(map[string]*node, len(c.nodes))
	for _, n := range c.nodes {
		other := byAddress[n.address()]
		if other == nil {
			byAddress[n.address()] = n
			continue
		}
		keeps, loses := other, n
		if first := cmp.Or(boolFirst(n.recorded != "", other.recorded != ""), older(n, other)); first < 0 {
			keeps, loses = n, other
		}
		byAddress[n.address()] = keeps
		loses.wrong = problemf(v1alpha1.ReasonServerClaimed, "its address %s is that of GlusterNode %s; delete one of them", n.address(), keeps.name())
	}
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// judgeOwner says why a server is not this pool's, by its gate, by other
// clusters' claims and by its identity.
func (c *cycle) judgeOwner(n *node) *problem {
	g, known := n.srv.Gate, n.recorded
	by, disputed := c.s.Claims[n.address()]
	switch {
	case g.Pool != "" && !n.claimed:
		who := "pool " + g.Pool
		if disputed {
			who += " (cluster " + by + ")"
		}
		return problemf(v1alpha1.ReasonServerClaimed, "the server belongs to %s", who)
	case n.claimed && !c.mine(g.Instance):
		return problemf(v1alpha1.ReasonOwnedByOtherInstance, "the server obeys operator instance %s, not %s", g.Instance, c.s.Instance)
	case !n.claimed && known == "" && disputed && !c.first(n, by):
		return problemf(v1alpha1.ReasonServerClaimed, "cluster %s names the server too; remove one of the GlusterNodes", by)
	case known != "" && g.Installed && n.srv.UUID != known:
		if n.srv.UUID == "" {
			return problemf(v1alpha1.ReasonForeignServer, "the server was %s and has lost its identity: restore /var/lib/glusterd/glusterd.info", known)
		}
		return problemf(v1alpha1.ReasonForeignServer, "the server was %s and is %s now: it is another one, or was set up anew", known, n.srv.UUID)
	}
	return nil
}

// first reports whether this cluster named a server, which nobody has claimed
// yet, before the other one did. Of two at the same time the first by name.
func (c *cycle) first(n *node, other string) bool {
	at, ok := c.s.ClaimedAt[n.address()]
	if !ok {
		return false
	}
	if d := n.cr.CreationTimestamp.Compare(at); d != 0 {
		return d < 0
	}
	if !strings.Contains(other, "/") {
		other = c.cluster.Namespace + "/" + other
	}
	return c.cluster.Namespace+"/"+c.cluster.Name < other
}

// judgeTwins refuses servers with one UUID: one is a copy of the other
// (LAB-14). The one that is recorded with it is the original.
func (c *cycle) judgeTwins() {
	byUUID := make(map[string][]*node, len(c.nodes))
	for _, n := range c.nodes {
		if n.uuid != "" && !n.stranger() {
			byUUID[n.uuid] = append(byUUID[n.uuid], n)
		}
	}
	for uuid, twins := range byUUID {
		if len(twins) == 1 {
			continue
		}
		var recorded []*node
		for _, n := range twins {
			if n.recorded == uuid {
				recorded = append(recorded, n)
			}
		}
		for _, n := range twins {
			if len(recorded) == 1 && recorded[0] == n {
				continue
			}
			n.wrong = problemf(v1alpha1.ReasonForeignServer, "servers %s have the same UUID %s: they are copies of one machine; give each its own /var/lib/glusterd", listed(names(twins)), uuid)
		}
	}
}

// judgeStrangers refuses servers with peers or volumes that are not this
// pool's, now that it is known who is in it. A server is fresh, or a member.
func (c *cycle) judgeStrangers() {
	for _, n := range c.nodes {
		if !n.reachable || n.wrong != nil || n.member || n.srv.Fresh() {
			continue
		}
		if o := of(n.ops, KindJoinNode); o != nil && o.started() {
			continue // it is becoming one
		}
		var holds []string
		if k := len(n.srv.Peers); k > 0 {
			holds = append(holds, count(k, "peer"))
		}
		if k := len(n.srv.Volumes); k > 0 {
			holds = append(holds, "volumes "+listed(slices.Sorted(slices.Values(n.srv.Volumes))))
		}
		n.strange = true
		n.wrong = problemf(v1alpha1.ReasonForeignServer, "glusterd there knows what is not this pool's (%s); the server is neither joined nor cleaned", strings.Join(holds, ", "))
		delete(c.byUUID, n.uuid)
	}
}
