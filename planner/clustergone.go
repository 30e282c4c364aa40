package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner/procedure"
)

// leave is the cycle of a cluster that is being deleted. Volumes that are being
// deleted too go first. As long as something stands against the rest, everything
// is looked after as before (R65); once nothing does, what is open ends and the
// cluster goes, and that is not turned back.
func (c *cycle) leave(k *procedures, p *clusterP) {
	c.supersede()
	for _, v := range c.volumes {
		if v.going() {
			c.volumeGoes(v)
		}
	}
	object := clusterObject(c.cluster.Name)
	against := c.against()
	if len(against) > 0 {
		c.stay(against[0].message)
	}
	var out outcome
	switch {
	case c.others:
		out = unfinished("%s", c.idle)
	case len(against) > 0 && !c.begun():
		for i := range against {
			c.block(object, &against[i])
		}
		out = unfinished("%s", against[0].message)
		c.lookAfter(k, p)
	default:
		c.endAll()
		out = c.clusterGone(against)
	}
	c.out.Results = append(c.out.Results, Result{Name: "clusterReleased", Status: string(out.Status), Message: out.Message})
	for _, n := range c.nodes {
		if n.deleting() {
			c.goes("nodeReleased", c.out.NodeResults, n.name(), c.nodeGoesWith(n, out.Status == procedure.True))
		}
	}
	if out.Status == procedure.True {
		c.idle = "the cluster goes"
	}
}

// nodeGoesWith is how far a node is that is being deleted with its cluster.
func (c *cycle) nodeGoesWith(n *node, gone bool) outcome {
	stays := fmt.Sprintf("the server at %s stays in pool %s as it is", n.address(), c.poolID)
	switch {
	case !gone && c.podsAway && n.goesAlone():
		if c.cluster.Purges() {
			return c.release(n.object(), "")
		}
		return c.release(n.object(), c.claimsStay(n))
	case !gone:
		return unfinished("goes with the cluster")
	case n.cr.IsPod() && c.cluster.Purges():
		if stays = n.ofPerson(); stays != "" {
			stays = "its pod is gone; " + stays + " stays, with all data"
		}
	case n.known || n.member:
	default:
		stays = ""
	}
	return c.release(n.object(), stays)
}

// lookAfter does for a cluster that waits for its deletion what is done for any.
func (c *cycle) lookAfter(k *procedures, p *clusterP) {
	if c.cluster.Spec.Paused || c.idle != "" {
		return
	}
	c.run(k, p)
}

// against is what stands against the deletion of the cluster: whatever a person
// has to decide or to do first. Nothing of it begins before all of that is done.
func (c *cycle) against() []problem {
	var out []problem
	say := func(reason, format string, args ...any) { out = append(out, *problemf(reason, format, args...)) }
	if why := c.unknownUsers(); why != "" {
		say(v1alpha1.ReasonWaitingForDeletion, "%s", why)
	}
	var users []string
	for _, v := range c.volumes {
		if v.users != "" {
			users = append(users, fmt.Sprintf("%s (%s)", v.object(), v.users))
		}
	}
	if len(users) > 0 {
		say(v1alpha1.ReasonWaitingForDeletion, "volumes are in use: %s; the cluster goes after these PersistentVolumes do, until then it is looked after as before", listed(users))
	}
	if p := c.unpurgeable(); p != nil {
		out = append(out, *p)
	}
	switch waits := c.volumesLeft(); {
	case len(waits) == 0:
	case slices.ContainsFunc(c.nodes, func(n *node) bool { return n.cr.IsPod() }):
		say(v1alpha1.ReasonWaitingForDeletion, "its pods serve volumes, whose objects go first: %s", listed(waits)) // clients may have mounted them
	case c.cluster.Purges():
		say(v1alpha1.ReasonWaitingForDeletion, "its data is to be purged, and the objects of its volumes go first: %s", listed(waits))
	default:
		if waits = c.endings(); len(waits) > 0 {
			say(v1alpha1.ReasonWaitingForDeletion, "the cluster goes when these have ended: %s", listed(waits))
		}
	}
	return out
}

// volumesLeft are the volumes whose objects are not let go of.
func (c *cycle) volumesLeft() []string {
	var out []string
	for _, v := range c.volumes {
		if !slices.Contains(c.out.Release, v.object()) {
			out = append(out, v.object())
		}
	}
	return out
}

// endings are the confirmed deletions of volumes that have not ended.
func (c *cycle) endings() []string {
	var ops, volumes []string
	for _, v := range c.volumes {
		if confirmed, _ := v.cr.DeleteConfirmed(); !v.deleting() || !confirmed || slices.Contains(c.out.Release, v.object()) {
			continue
		}
		for _, o := range v.ops {
			if !o.gone {
				ops = append(ops, o.ref())
			}
		}
		volumes = append(volumes, v.object())
	}
	return append(ops, volumes...)
}

// begun reports whether pods were taken away because the cluster goes, or claims
// were. That is not turned back: what was removed would be made anew, empty. The
// journal may have forgotten that pods were, and then they are made again with
// all that is on their claims; that claims were is seen too.
func (c *cycle) begun() bool {
	if slices.ContainsFunc(c.nodes, (*node).emptied) {
		return true
	}
	for _, o := range c.open {
		if o.started() && o.leaves() {
			return true
		}
	}
	made := map[string]bool{}  // nodes whose pod was made later
	for i := range c.s.Ended { // newest first
		o := &openOp{Op: &c.s.Ended[i]}
		end, err := endStateOf(&o.Plan)
		if err != nil || end.Node == nil || !o.completed() {
			continue
		}
		if n := c.byName[end.Node.Name]; o.leaves() && !made[end.Node.Name] && (n == nil || n.podless()) {
			return true
		}
		made[end.Node.Name] = made[end.Node.Name] || end.Node.Pod != ""
	}
	return false
}

// clusterGone lets a cluster go when nothing is under way any more. Servers
// outside Kubernetes stay as they are and remember the pool; of pods, what is on
// their claims does, unless that is to be removed too.
func (c *cycle) clusterGone(against []problem) outcome {
	object := clusterObject(c.cluster.Name)
	var waits []string
	for _, o := range c.open {
		if !o.gone && !c.givesWay(o) {
			waits = append(waits, c.waitsFor(o))
		}
	}
	if len(waits) > 0 {
		c.block(object, problemf(v1alpha1.ReasonWaitingForDeletion, "the cluster goes when these have ended: %s", listed(waits)))
		return unfinished("waits for %s", listed(waits))
	}
	if len(against) > 0 { // somebody declared, or took back, something meanwhile
		for i := range against {
			c.block(object, &against[i])
		}
		return unfinished("%s", against[0].message)
	}
	for _, phase := range []func() string{c.podsGone, c.purge, c.templatesGone} {
		if why := phase(); why != "" {
			c.block(object, problemf(v1alpha1.ReasonWaitingForDeletion, "%s", why))
			return unfinished("%s", why)
		}
	}
	switch {
	case c.cluster.Purges():
		return c.releasePurged()
	case c.poolID == "":
		return c.release(object, "")
	}
	return c.release(object, c.poolStays())
}

func (c *cycle) poolStays() string {
	stays := fmt.Sprintf("pool %s stays as it is", c.poolID)
	if m := c.pool.members; len(m) > 0 {
		stays += ", with servers " + listed(names(m))
	}
	if view := c.pool.view(); view != nil && len(view.Volumes) > 0 {
		var vols []string
		for i := range view.Volumes {
			vols = append(vols, view.Volumes[i].Name)
		}
		slices.Sort(vols)
		stays += " and volumes " + listed(vols)
	}
	if gone := c.purgedNodes(); len(gone) > 0 {
		return stays + ", but for the claims of " + listed(gone) + ", which were removed before spec.deletionPolicy was set to " + string(v1alpha1.DeletionRetain)
	}
	return stays + "; a GlusterCluster with the same servers takes it up again"
}

// purgedNodes are the nodes whose claims were removed.
func (c *cycle) purgedNodes() []string {
	var out []string
	for i := range c.s.Ended {
		o := &openOp{Op: &c.s.Ended[i]}
		if o.Plan.Kind == KindPurgeNode && o.completed() {
			out = append(out, o.nodeName())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// claimsStay says what stays of a node of a template whose pod is gone.
func (c *cycle) claimsStay(n *node) string {
	if n.emptied() || slices.Contains(c.purgedNodes(), n.name()) {
		return ""
	}
	return "the claims of the node stay, with all data"
}

// waitsFor names an operation that has to end before the cluster goes, with what
// holds it, as far as that is seen.
func (c *cycle) waitsFor(o *openOp) string {
	text := o.ref()
	n := c.byName[o.nodeName()]
	switch s := o.Suspended; {
	case o.State == view.Suspended && s != nil:
		text += " is parked (" + s.Cause + "): " + s.Message
		if s.Next != "" {
			text += ", next: " + s.Next
		}
	case o.Plan.Kind == KindReleaseNode && n != nil && n.srv.Pod != nil && n.srv.Message != "":
		text += ": " + n.srv.Message
	case o.Plan.Kind == KindPurgeNode:
		if holds := c.claimsHeld(o.nodeName()); len(holds) > 0 {
			text += ": " + strings.Join(holds, ", ")
		}
		if o.PastPivot() && (!c.cluster.Purges() || c.unpurgeable() != nil) {
			text += "; it had begun when that was declared and confirmed, and cannot be taken back"
		}
	}
	return text
}
