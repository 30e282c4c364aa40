package planner

import (
	"encoding/json"
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
	claims := "its claims stay"
	if whole && c.cluster.Purges() {
		claims = "its claims go after all pods have"
	}
	steps = append(steps, step("pod", StepRemovePod, journal.Retriable, RemovePodParams{NodeParams{n.name()}, whole}))
	out, _ := c.want(draft{
		kind: KindReleaseNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "nodeReleased", difference: why + "; its pod goes, " + claims,
		canonical: struct {
			Pod string `json:"pod"`
		}{n.srv.Pod.UID},
		locks: []string{lockNode(n.name())},
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: n.name(), Released: true}},
	})
	return out
}

// podsGone takes the pods of a cluster away that is being deleted. It says which
// are still there; empty if none is.
func (c *cycle) podsGone() string {
	var pods []string
	for _, n := range c.nodes {
		seen := n.srv.Pod
		if !n.cr.IsPod() || n.podless() {
			continue
		}
		pods = append(pods, n.name())
		if seen != nil && !n.busy() {
			c.out.Plan = append(c.out.Plan, c.removePod(n, "the GlusterCluster is being deleted", true).Changes...)
		}
	}
	if len(pods) > 0 {
		return "its pods are taken away: " + listed(pods)
	}
	return ""
}

// templatesGone deletes the nodes that were made from templates, once nothing
// they stand for is left. It says which are still there; empty if none is.
func (c *cycle) templatesGone() string {
	c.podsAway = true
	var nodes []string
	for _, n := range c.nodes {
		if !n.cr.IsPod() || n.cr.Annotations[v1alpha1.AnnotationTemplate] == "" {
			continue
		}
		nodes = append(nodes, n.object())
		if !n.deleting() {
			c.out.Remove = append(c.out.Remove, n.name())
		}
	}
	if len(nodes) > 0 {
		return "the nodes made from its templates go: " + listed(nodes)
	}
	return ""
}

// podless reports whether Kubernetes was asked and the node has no pod of ours.
func (n *node) podless() bool {
	seen := n.srv.Pod
	return seen != nil && (!seen.Declared || seen.Foreign)
}

// emptied reports whether a node of a template was in the pool, and has neither a
// pod nor all of the claims that were made for it.
func (n *node) emptied() bool {
	if n.cr.Annotations[v1alpha1.AnnotationTemplate] == "" || n.recorded == "" || !n.podless() {
		return false
	}
	lacks := func(claim string) bool {
		_, there := n.srv.Pod.Claims[claim]
		return !there && IsTemplateClaim(n.name(), claim)
	}
	return n.cr.Spec.State != nil && lacks(n.cr.Spec.State.PVCName) ||
		slices.ContainsFunc(n.cr.Spec.Storage, func(s v1alpha1.Storage) bool { return lacks(s.PVCName) })
}

// goesAlone reports whether a node that is being deleted with its cluster goes
// before it: one that was made from a template, and whose pod is gone.
func (n *node) goesAlone() bool {
	return n.cr.IsPod() && n.cr.Annotations[v1alpha1.AnnotationTemplate] != "" && n.srv.Pod != nil && !n.srv.Pod.Declared
}

// leaves reports whether an operation takes away what belongs to a cluster that
// goes.
func (o *openOp) leaves() bool {
	switch o.Plan.Kind {
	case KindPurgeNode, KindPurgeCluster:
		return true
	case KindReleaseNode:
		return slices.ContainsFunc(o.Plan.Steps, func(s journal.Step) bool {
			var p RemovePodParams
			return s.Name == StepRemovePod && json.Unmarshal(s.Params, &p) == nil && p.Whole
		})
	}
	return false
}
