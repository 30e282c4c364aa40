package planner

import (
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

// podGone takes away the pod of a node whose object is being deleted and that
// is not in the pool. Its claims stay.
func (c *cycle) podGone(n *node) outcome {
	switch seen := n.srv.Pod; {
	case seen == nil:
		return unfinished("Kubernetes has not been asked yet")
	case !seen.Declared || seen.Foreign:
		return c.release(n.object(), "")
	}
	return c.removePod(n, "the GlusterNode is being deleted", false)
}

// removePod plans that the node's pod goes, whole says whether with all others of
// the cluster. What its server was told, it is told to forget, if it can be asked.
func (c *cycle) removePod(n *node, why string, whole bool) outcome {
	var steps []journal.Step
	if n.reachable && n.claimed && !n.member && n.wrong == nil {
		steps = append(steps, step("release", StepReleaseServer, journal.Retriable, NodeParams{Node: n.name()}))
	}
	steps = append(steps, step("pod", StepRemovePod, journal.Retriable, RemovePodParams{NodeParams{n.name()}, whole}))
	out, _ := c.want(draft{
		kind: KindReleaseNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "nodeReleased", difference: why + "; its pod goes, its claims stay",
		canonical: struct {
			Pod string `json:"pod"`
		}{n.srv.Pod.UID},
		locks: []string{lockNode(n.name())},
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: n.name(), Released: true}},
	})
	return out
}

// podsGone takes the pods of a cluster away that is being deleted, and then the
// nodes that were made from its templates. It says what is still there; empty if
// nothing is.
func (c *cycle) podsGone() string {
	var pods, nodes, volumes []string
	for _, v := range c.volumes {
		if !slices.Contains(c.out.Release, v.object()) {
			volumes = append(volumes, v.object())
		}
	}
	if len(volumes) > 0 && slices.ContainsFunc(c.nodes, func(n *node) bool { return n.cr.IsPod() }) {
		return "its pods serve volumes, whose objects go first: " + listed(volumes) // clients may have mounted them
	}
	for _, n := range c.nodes {
		if !n.cr.IsPod() {
			continue
		}
		if seen := n.srv.Pod; seen == nil || (seen.Declared && !seen.Foreign) {
			pods = append(pods, n.name())
			if seen != nil && running(n.ops) == nil {
				c.out.Plan = append(c.out.Plan, c.removePod(n, "the GlusterCluster is being deleted", true).Changes...)
			}
			continue
		}
		if n.cr.Annotations[v1alpha1.AnnotationTemplate] == "" {
			continue
		}
		nodes = append(nodes, n.object())
		if !n.deleting() {
			c.out.Remove = append(c.out.Remove, n.name())
		}
	}
	switch {
	case len(pods) > 0:
		return "its pods are taken away: " + listed(pods)
	case len(nodes) > 0:
		return "the nodes made from its templates go: " + listed(nodes)
	}
	return ""
}

// goesAlone reports whether a node that is being deleted with its cluster goes
// before it: one that was made from a template, and whose pod is gone.
func (n *node) goesAlone() bool {
	return n.cr.IsPod() && n.cr.Annotations[v1alpha1.AnnotationTemplate] != "" && n.srv.Pod != nil && !n.srv.Pod.Declared
}
