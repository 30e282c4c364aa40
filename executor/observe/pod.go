package observe

import (
	"context"
	"fmt"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// pod adds what Kubernetes says of a node's pod to what its gate said. A pod
// into which no command can be sent is a server that does not answer, and
// Kubernetes knows best why.
func (o *Observer) pod(ctx context.Context, n *v1alpha1.GlusterNode, seen planner.Server) planner.Server {
	v, err := o.Pods.Look(ctx, kube.KeyOf(n), n.Claims())
	if err != nil {
		// Nothing may be concluded from a pod that could not be looked at.
		return planner.Server{Reason: v1alpha1.ReasonPodNotReady, Message: fmt.Sprintf("looking at the pod: %v", err)}
	}
	if !v.Running {
		seen = planner.Server{Reason: v.Reason, Message: v.Message}
	}
	seen.Pod = &v.Pod
	return seen
}

// landscape adds what pods can be placed on, if a node is one.
func (o *Observer) landscape(ctx context.Context, nodes []v1alpha1.GlusterNode, out *planner.Observed) {
	if o.Landscape == nil {
		return
	}
	asked := false
	for i := range nodes {
		n := &nodes[i]
		if !n.IsPod() {
			continue
		}
		if !asked {
			asked, out.Classes = true, o.Landscape.Classes(ctx)
		}
		if n.Spec.NodeAffinity == nil {
			continue
		}
		if count, known := o.Landscape.Hosts(ctx, n.Spec.NodeAffinity); known {
			if out.Hosts == nil {
				out.Hosts = map[string]int{}
			}
			out.Hosts[n.Name] = count
		}
	}
}

// named finds a node by its name, which Reach took from one of these.
func named(nodes []v1alpha1.GlusterNode, name string) *v1alpha1.GlusterNode {
	for i := range nodes {
		if nodes[i].Name == name {
			return &nodes[i]
		}
	}
	return &v1alpha1.GlusterNode{}
}
