package planner

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
)

func (c *cycle) nodeConditions(n *node) {
	object := n.object()
	switch {
	case n.wrong != nil:
		c.block(object, n.wrong)
	case n.pod != nil && n.pod.wrong != nil:
		c.block(object, n.pod.wrong)
	case !n.reachable && n.unreachable.reason != v1alpha1.ReasonNotYetObserved:
		c.block(object, n.unreachable)
	}
	var broken []string
	for _, d := range n.dirs {
		if d.broken() {
			broken = append(broken, d.path+": "+d.why)
		}
	}
	var foreign []string
	for _, d := range n.dirs {
		if d.foreign {
			foreign = append(foreign, d.device+": "+d.why)
		}
	}
	if len(foreign) > 0 {
		c.block(object, problemf(v1alpha1.ReasonDeviceNotEmpty, "%s", listed(foreign)))
	}
	if len(broken) > 0 {
		c.block(object, problemf(v1alpha1.ReasonBrickDirNotMounted, "no brick goes where no file system of its own is mounted: %s", listed(broken)))
	}
	rest := v1alpha1.NotProgressing(v1alpha1.ReasonConverged, "")
	switch {
	case !n.reachable:
		rest = v1alpha1.NotProgressing(n.unreachable.reason, n.unreachable.message)
	case !n.member && len(c.pool.members) == 0:
		rest = v1alpha1.NotProgressing(v1alpha1.ReasonWaitingForCluster, "the pool has no server yet")
	case !n.member:
		rest = v1alpha1.NotProgressing(v1alpha1.ReasonNotJoined, "")
	}
	planned := c.plannedFor(targetNode(n.name()))
	c.find(object, n.available())
	c.find(object, n.degraded(broken))
	c.find(object, c.blocking(object))
	c.find(object, c.accepting(object))
	c.find(object, c.progressing(object, n.ops, planned, n.deleting(), rest))
}

func (n *node) available() metav1.Condition {
	switch {
	case n.stranger():
		return v1alpha1.Unavailable(n.wrong.reason, n.wrong.message)
	case n.connected:
		return v1alpha1.Available()
	case !n.reachable && n.unreachable.reason == v1alpha1.ReasonNotYetObserved:
		return v1alpha1.AvailabilityUnknown(n.unreachable.reason, n.unreachable.message)
	case !n.reachable:
		return v1alpha1.Unavailable(n.unreachable.reason, n.unreachable.message)
	case !n.member:
		return v1alpha1.Unavailable(v1alpha1.ReasonNotJoined, "the server is not a peer of the pool yet")
	case !n.glusterd():
		return v1alpha1.Unavailable(v1alpha1.ReasonGlusterdDown, n.srv.ViewErr)
	}
	return v1alpha1.Unavailable(v1alpha1.ReasonNodesDown, "most of the pool does not see the server as a connected peer")
}

func (n *node) degraded(broken []string) metav1.Condition {
	switch {
	case n.member && !n.connected:
		return v1alpha1.Degraded(v1alpha1.ReasonNodesDown, "the server is not connected to the pool")
	case len(broken) > 0:
		return v1alpha1.Degraded(v1alpha1.ReasonBrickDirNotMounted, listed(broken))
	}
	return v1alpha1.NotDegraded()
}
