package planner

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
)

func (c *cycle) clusterConditions() {
	object := clusterObject(c.cluster.Name)
	if p := c.trouble(); p != nil && !c.deleting() { // else what its deletion waits for is of more interest
		c.block(object, p)
	}
	rest := v1alpha1.NotProgressing(v1alpha1.ReasonConverged, "")
	if missing := c.missing(); len(missing) > 0 || len(c.nodes) == 0 {
		rest = v1alpha1.NotProgressing(v1alpha1.ReasonWaitingForNodes, c.waiting())
	}
	c.find(object, c.clusterAvailable())
	c.find(object, c.clusterDegraded())
	c.find(object, c.blocking(object))
	c.find(object, c.accepting(object))
	c.find(object, c.progressing(object, c.open, len(c.out.Plan), c.deleting(), rest))
}

// trouble is what keeps the pool from being changed, as a condition; nil if
// there is no pool yet, or nothing does.
func (c *cycle) trouble() *problem {
	if len(c.pool.members) == 0 {
		return nil
	}
	if p := c.unsafe(); p != nil && p.reason != "" {
		return p
	}
	return nil
}

// missing are the nodes that are to be in the pool and are not.
func (c *cycle) missing() []*node {
	var out []*node
	for _, n := range c.nodes {
		if !n.member && !n.deleting() {
			out = append(out, n)
		}
	}
	return out
}

// waiting says which nodes are missing, and what stands in their way.
func (c *cycle) waiting() string {
	if len(c.nodes) == 0 {
		return "no GlusterNode names the cluster"
	}
	var out []string
	for _, n := range c.missing() {
		switch {
		case n.wrong != nil:
			out = append(out, n.name()+" ("+n.wrong.reason+")")
		case !n.reachable:
			out = append(out, n.name()+" ("+n.unreachable.reason+")")
		default:
			out = append(out, n.name())
		}
	}
	return "not joined: " + listed(out)
}

// clusterAvailable: until the pool first converged all nodes have to be in it;
// from then on a majority has to be connected.
func (c *cycle) clusterAvailable() metav1.Condition {
	switch members := c.pool.members; {
	case len(members) == 0:
		return v1alpha1.Unavailable(v1alpha1.ReasonWaitingForNodes, c.waiting())
	case 2*c.pool.up <= len(members):
		return v1alpha1.Unavailable(v1alpha1.ReasonQuorumLost, "not connected: "+listed(names(c.cutOff())))
	case len(c.missing()) > 0 && c.cluster.Status.ReconcileVersion == nil:
		return v1alpha1.Unavailable(v1alpha1.ReasonWaitingForNodes, c.waiting())
	}
	return v1alpha1.Available()
}

func (c *cycle) clusterDegraded() metav1.Condition {
	if down := c.cutOff(); len(down) > 0 {
		return v1alpha1.Degraded(v1alpha1.ReasonNodesDown, "not connected: "+listed(names(down)))
	}
	var bad []string
	for _, v := range c.volumes {
		if v.exists() && v.degraded(c).Status == metav1.ConditionTrue {
			bad = append(bad, v.name())
		}
	}
	if len(bad) > 0 {
		return v1alpha1.Degraded(v1alpha1.ReasonVolumesDegraded, "degraded: "+listed(bad))
	}
	return v1alpha1.NotDegraded()
}
