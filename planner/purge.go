package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/procedure"
)

// unpurgeable says why the cluster's data is not removed with it although that
// is declared; nil if it may be, or is to be kept.
func (c *cycle) unpurgeable() *problem {
	if !c.cluster.Purges() {
		return nil
	}
	var servers []string
	for _, n := range c.nodes {
		if !n.cr.IsPod() {
			servers = append(servers, n.name())
		}
	}
	if len(servers) > 0 {
		return problemf(v1alpha1.ReasonPurgeRefused,
			"spec.deletionPolicy is %s, and servers outside Kubernetes are never erased (%s): set spec.deletionPolicy to %s, which leaves them and all claims as they are",
			v1alpha1.DeletionPurge, listed(servers), v1alpha1.DeletionRetain)
	}
	confirmed, mistaken := c.cluster.DeleteConfirmed()
	if confirmed {
		return nil
	}
	have := "missing"
	if mistaken {
		have = fmt.Sprintf("%q", c.cluster.Annotations[v1alpha1.AnnotationConfirmDelete])
	}
	return problemf(v1alpha1.ReasonConfirmationMissing,
		"spec.deletionPolicy is %s, and the annotation that confirms it is %s: set %s=%s to remove the cluster with all data on its claims, which cannot be undone; or set spec.deletionPolicy to %s to keep the claims",
		v1alpha1.DeletionPurge, have, v1alpha1.AnnotationConfirmDelete, c.cluster.Name, v1alpha1.DeletionRetain)
}

// purge removes what was made for a cluster without pods whose data is to go:
// what is left of pods that no node stands for, then claims, then the Service.
// It says what is still there; empty if nothing is.
func (c *cycle) purge() string {
	if !c.cluster.Purges() {
		return ""
	}
	l := c.s.Observed.Leaving
	if l == nil || l.Made == nil {
		return "Kubernetes has not been asked yet what there is to be removed"
	}
	m := l.Made
	if len(m.Pods)+len(m.Claims) > 0 || m.Service != "" {
		if !c.needPool() { // operations are about a pool, though there never was one
			return "no id for the pool"
		}
	}
	if len(m.Pods) > 0 {
		for _, name := range m.Pods {
			c.planFor(c.strayPod(name))
		}
		return "pods of the cluster are taken away: " + listed(m.Pods)
	}
	if why := c.purgeClaims(m); why != "" {
		return why
	}
	if m.Service == "" {
		return ""
	}
	c.planFor(draft{
		kind: KindPurgeCluster, target: targetPool, object: clusterObject(c.cluster.Name), generation: c.cluster.Generation,
		action: "clusterPurged", difference: "the GlusterCluster is being deleted with its data, its claims are gone; its Service goes",
		canonical: struct {
			Service string `json:"service"`
		}{m.Service},
		locks: []string{lockPool},
		steps: []journal.Step{step("service", StepRemoveService, journal.Retriable, RemoveServiceParams{Cluster: c.cluster.Name, UID: m.Service})},
		end:   EndState{Purged: true},
	})
	if m.ServiceGoing != "" {
		return "its Service goes: " + m.ServiceGoing
	}
	return "its Service goes"
}

func (c *cycle) planFor(d draft) {
	out, _ := c.want(d)
	c.out.Plan = append(c.out.Plan, out.Changes...)
}

// strayPod takes away a pod whose GlusterNode is gone: its finalizer was taken
// away by hand.
func (c *cycle) strayPod(name string) draft {
	return draft{
		kind: KindReleaseNode, target: targetNode(name), object: nodeObject(name), generation: c.cluster.Generation,
		action: "nodeReleased", difference: "the GlusterCluster is being deleted; what is left of its pods goes",
		canonical: struct {
			Stray string `json:"stray"`
		}{name},
		locks: []string{lockNode(name)},
		steps: []journal.Step{step("pod", StepRemovePod, journal.Retriable, RemovePodParams{NodeParams{name}, true})},
		end:   EndState{Node: &NodeEnd{Name: name, Released: true}},
	}
}

// made is what Anthill made for the cluster; nothing, if that is not known.
func (c *cycle) made() *Made {
	if l := c.s.Observed.Leaving; l != nil && l.Made != nil {
		return l.Made
	}
	return &Made{}
}

// removes reports whether an operation removes the claim of this UID.
func (o *openOp) removes(uid string) bool {
	return slices.ContainsFunc(o.Plan.Steps, func(s journal.Step) bool {
		var p RemoveClaimsParams
		return s.Name == StepRemoveClaims && json.Unmarshal(s.Params, &p) == nil &&
			slices.ContainsFunc(p.Claims, func(ref ObjectRef) bool { return ref.UID == uid })
	})
}

// purgeClaims plans, for each node, that its claims go.
func (c *cycle) purgeClaims(m *Made) string {
	var nodes, held []string
	claims := map[string][]ObjectRef{}
	for i := range m.Claims {
		claim := &m.Claims[i]
		if claim.Foreign != "" {
			continue
		}
		if claims[claim.Node] == nil {
			nodes = append(nodes, claim.Node)
		}
		claims[claim.Node] = append(claims[claim.Node], ObjectRef{Name: claim.Name, UID: claim.UID})
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		held = append(held, c.claimsHeld(node)...)
		c.planFor(c.purgeNode(node, claims[node]))
	}
	if len(nodes) == 0 {
		return ""
	}
	if len(held) > 0 {
		return "its claims are removed: " + listed(held)
	}
	return "its claims are removed, of " + listed(nodes)
}

// purgeNode removes the claims of a node, one by one. From the first on there is
// no way back.
func (c *cycle) purgeNode(node string, claims []ObjectRef) draft {
	steps := make([]journal.Step, 0, len(claims))
	stage := journal.Pivot
	names := make([]string, 0, len(claims))
	for i, ref := range claims {
		steps = append(steps, step(fmt.Sprintf("claim%d", i+1), StepRemoveClaims, stage, RemoveClaimsParams{Node: node, Claims: []ObjectRef{ref}}))
		stage = journal.Retriable
		names = append(names, ref.Name)
	}
	return draft{
		kind: KindPurgeNode, target: targetNode(node), object: nodeObject(node), generation: c.cluster.Generation,
		action: "nodePurged", difference: "the GlusterCluster is being deleted with its data, which is confirmed, and no pod of it is left; these claims go: " + listed(names),
		canonical: struct {
			Claims []ObjectRef `json:"claims"`
		}{claims},
		locks: []string{lockNode(node)},
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: node, Purged: true}},
	}
}

// claimsHeld says of a node's claims that are to go what holds them.
func (c *cycle) claimsHeld(node string) []string {
	var out []string
	for _, claim := range c.made().Claims {
		switch {
		case claim.Node != node || claim.Foreign != "":
		case len(claim.Users) > 0:
			out = append(out, fmt.Sprintf("claim %s is used by pod %s, delete that first", claim.Name, listed(claim.Users)))
		case claim.Going != "":
			out = append(out, fmt.Sprintf("claim %s %s", claim.Name, claim.Going))
		}
	}
	return out
}

// releasePurged lets the cluster go after its data, with a word on what stays.
func (c *cycle) releasePurged() outcome {
	object := clusterObject(c.cluster.Name)
	text := "pods, claims and Service that Anthill made are gone, with all data on them; the volumes of the claims follow the reclaim policy of their class"
	var stays []string
	for _, n := range c.nodes {
		if what := n.ofPerson(); what != "" {
			stays = append(stays, n.name()+" ("+what+")")
		}
	}
	for _, claim := range c.made().Claims {
		if claim.Foreign != "" {
			stays = append(stays, fmt.Sprintf("claim %s (%s)", claim.Name, claim.Foreign))
		}
	}
	if len(stays) > 0 {
		text += ". What people made stays: " + listed(stays)
	}
	c.out.Release = append(c.out.Release, object)
	c.out.Events = append(c.out.Events, Event{Object: object, Warning: true, Reason: v1alpha1.EventPurged, Message: text})
	return outcome{Status: procedure.True, Message: "may go"}
}

// ofPerson says what of a node that is a pod a person made and nobody removes.
func (n *node) ofPerson() string {
	if !n.cr.IsPod() {
		return ""
	}
	var out []string
	add := func(what, name string) {
		if name != "" {
			out = append(out, what+" "+name)
		}
	}
	made := n.cr.Annotations[v1alpha1.AnnotationTemplate] != ""
	if st := n.cr.Spec.State; st != nil && !made {
		add("claim", st.PVCName)
		add("host path", st.HostPath)
	}
	for i := range n.cr.Spec.Storage {
		s := &n.cr.Spec.Storage[i]
		if made && IsTemplateClaim(n.name(), s.PVCName) {
			continue
		}
		add("claim", s.PVCName)
		add("device", s.Device)
	}
	return listed(out)
}

// IsTemplateClaim reports whether a claim of that name is made for a node of a
// template: for its state, or one for each entry of its storage.
func IsTemplateClaim(node, claim string) bool {
	entry, ok := strings.CutPrefix(claim, node+"-")
	if number, more := strings.CutPrefix(entry, bricksName+"-"); ok && more {
		k, err := strconv.Atoi(number)
		return err == nil && k > 0 && strconv.Itoa(k) == number
	}
	return ok && (entry == bricksName || "-"+entry == stateSuffix)
}
