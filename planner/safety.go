package planner

import (
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

// unsafe says why nothing that changes peers or volumes may be planned now (S7):
// a majority is down, a peer is rejected or unknown, or the members do not see
// the same pool. Nil if it may. A problem without a reason passes by itself and
// is no condition.
func (c *cycle) unsafe() *problem {
	p := &c.pool
	switch {
	case p.canon == nil:
		return problemf(v1alpha1.ReasonQuorumLost, "no glusterd of the pool answers; nothing is changed meanwhile")
	case 2*p.up <= len(p.members):
		return problemf(v1alpha1.ReasonQuorumLost, "%d of %s are connected; nothing is changed until a majority is (not connected: %s)",
			p.up, count(len(p.members), "node"), listed(names(c.cutOff())))
	case len(p.rejected) > 0:
		return problemf(v1alpha1.ReasonPeerRejected, "rejected peers: %s; nothing is changed until all peers accept each other", listed(p.rejected))
	case p.differs != "":
		if c.underWay() {
			return problemf("", "%s, while an operation is under way", p.differs)
		}
		return problemf(v1alpha1.ReasonViewsDiffer, "%s; nothing is changed until they do", p.differs)
	case len(p.strange) > 0:
		return problemf(v1alpha1.ReasonForeignPeer, "the pool has peers that no GlusterNode describes: %s; create GlusterNodes for them, or detach them by hand", listed(c.strangers()))
	case p.unsettled != "":
		if c.underWay() {
			return problemf("", "%s", p.unsettled)
		}
		return problemf(v1alpha1.ReasonViewsDiffer, "%s; nothing is changed until it is in the cluster", p.unsettled)
	}
	return nil
}

// held is unsafe, or that a member is missing: what is changed while a member is
// away has to be mended on it later, and the executor would wait for it anyway,
// holding locks.
func (c *cycle) held() *problem {
	return c.heldBy(func(n *node) bool { return !n.steady })
}

// heldBy is held, where missing says which members count as missing.
func (c *cycle) heldBy(missing func(*node) bool) *problem {
	if p := c.unsafe(); p != nil {
		return p
	}
	var away []*node
	for _, n := range c.pool.members {
		if missing(n) {
			away = append(away, n)
		}
	}
	if len(away) == 0 {
		return nil
	}
	return problemf(v1alpha1.ReasonNodesDown, "peers and volumes are changed only while all of the pool answers; missing: %s", listed(names(away)))
}

// cutOff are the members that are not connected.
func (c *cycle) cutOff() []*node {
	var out []*node
	for _, n := range c.pool.members {
		if !n.connected {
			out = append(out, n)
		}
	}
	return out
}

// strangers names peers without a GlusterNode by what the pool calls them.
func (c *cycle) strangers() []string {
	out := make([]string, 0, len(c.pool.strange))
	for _, uuid := range c.pool.strange {
		name := uuid
		if p, ok := c.pool.view().Peer(uuid); ok && len(p.Hostnames) > 0 {
			name = p.Hostnames[0] + " (" + uuid + ")"
		}
		out = append(out, name)
	}
	return out
}

// underWay reports whether an operation of ours explains that views differ for
// a moment: one on the volume they differ in, or one that changes the peers.
func (c *cycle) underWay() bool {
	for _, o := range c.open {
		if o.State != view.Running && o.State != view.Cancelling {
			continue
		}
		if v := o.volumeName(); v != "" && v == c.pool.differsIn {
			return true
		}
		if c.pool.differsIn == "" && (o.Plan.Kind == KindJoinNode || strings.HasPrefix(o.Plan.Target, targetPool)) {
			return true
		}
	}
	return false
}
