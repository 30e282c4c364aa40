package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// What ends what. An open operation whose goal has vanished is superseded if it
// has not started, cancelled if it has and is before its pivot, and finishes
// otherwise; what is wanted instead is planned behind it (design.md 4).
//
//	kind            its goal vanishes when                      and instead there is
//	bootstrap-pool  its server may not be touched, or goes;     bootstrap-pool with another server
//	                a brick directory turns out unfit
//	prepare-node    as above                                    release-node, or prepare-node
//	join-node       its server may not be touched, or goes      release-node
//	                a pod: another one is declared now
//	restart-node    the node goes, or another pod is declared;  restart-node, or release-node
//	                its pod runs and no heal gate was planned,
//	                or waits at one and does not run any more
//	install-gate    its server may not be touched, or goes      -
//	release-node    the node is there again                     prepare-node
//	create-volume   the volume goes                             delete-volume, if it got so far
//	                not started: sets or options differ         create-volume
//	add-brick       the volume goes                             delete-volume
//	                not started: the number of sets differs     add-brick
//	set-options     what it has goes; a value it sets, or       set-options
//	                resets, is wanted differently now
//	delete-volume   the volume is there again or used, or its   -
//	                deletion is no longer confirmed
//	purge-node,     the data is to be kept                      -
//	purge-cluster
//
// restart-node may be past its pivot and wait for a pod that never serves, for
// what it was declared as. While nothing but waiting is left of it, the next
// restart-node of the node takes its place in the moment it is planned; its heal
// gates stand for those that were not passed. So does the release-node that takes
// the pod away. Until then it goes on waiting.
//
// Everything ends when the cluster goes, but what takes away what belongs to it:
// that ends, as far as it has not begun, when something stands against the
// cluster's deletion. A kind that is not in the table, and an operation this
// version cannot read, is left alone.
var vanished = map[string]func(*cycle, *openOp) string{
	KindBootstrapPool: (*cycle).preparing,
	KindPrepareNode:   (*cycle).preparing,
	KindJoinNode:      (*cycle).serverGoes,
	KindInstallGate:   (*cycle).serverGoes,
	KindRestartNode:   (*cycle).podDiffers,
	KindReleaseNode:   (*cycle).nodeReturns,
	KindCreateVolume:  (*cycle).creating,
	KindAddBrick:      (*cycle).growing,
	KindSetOptions:    (*cycle).optionsDiffer,
	KindDeleteVolume:  (*cycle).volumeReturns,
	KindPurgeNode:     (*cycle).kept,
	KindPurgeCluster:  (*cycle).kept,
}

// supersede ends the operations whose goal has vanished.
func (c *cycle) supersede() {
	for _, o := range c.open {
		rule := vanished[o.Plan.Kind]
		if rule == nil || o.unreadable != "" || o.ending {
			continue
		}
		c.end(o, rule(c, o))
	}
}

// endAll ends what is open because the cluster goes.
func (c *cycle) endAll() {
	for _, o := range c.open {
		n := c.byName[o.nodeName()]
		switch {
		case vanished[o.Plan.Kind] == nil, o.unreadable != "", o.ending, o.leaves():
		case o.Plan.Kind == KindDeleteVolume:
		case o.Plan.Kind == KindReleaseNode && n != nil && n.cr.IsPod():
		default:
			c.end(o, "the GlusterCluster is being deleted")
		}
	}
}

// takeOver ends the operations whose place the draft takes.
func (c *cycle) takeOver(d *draft) {
	for _, o := range c.open {
		if o.yieldsTo(d.kind, d.target) {
			o.ending, o.gone = true, true
			c.out.Supersede = append(c.out.Supersede, Ending{Op: o.ID, Reason: o.yields})
		}
	}
}

// yieldsTo reports whether an operation of a kind and target takes its place.
func (o *openOp) yieldsTo(kind, target string) bool {
	return o.yields != "" && !o.gone && (o.Plan.Kind == kind || kind == KindReleaseNode) && o.Plan.Target == target
}

// givesWay reports whether an operation of a cluster that goes only waits for a
// pod that is to be taken away.
func (c *cycle) givesWay(o *openOp) bool {
	n := c.byName[o.nodeName()]
	return n != nil && n.cr.IsPod() && n.srv.Pod != nil && !n.podless() && o.yieldsTo(KindReleaseNode, targetNode(n.name()))
}

// busy reports whether something of a node is under way that does not give way to
// taking its pod away.
func (n *node) busy() bool {
	return slices.ContainsFunc(n.ops, func(o *openOp) bool { return !o.gone && !o.yieldsTo(KindReleaseNode, targetNode(n.name())) })
}

// stay ends what takes away what belongs to the cluster, because something
// stands against that now. A pod that is being taken away is gone as good as
// already.
func (c *cycle) stay(why string) {
	for _, o := range c.open {
		if !o.leaves() || o.unreadable != "" || o.ending || (o.Plan.Kind == KindReleaseNode && o.started()) {
			continue
		}
		c.end(o, why)
	}
}

// end ends an operation, if there is a reason for it.
func (c *cycle) end(o *openOp, why string) {
	switch {
	case why == "":
	case !o.started():
		o.ending, o.gone = true, true
		c.out.Supersede = append(c.out.Supersede, Ending{Op: o.ID, Reason: why})
	case !o.PastPivot():
		o.ending = true
		c.out.Cancel = append(c.out.Cancel, Ending{Op: o.ID, Reason: why})
	case o.Plan.Kind == KindRestartNode && o.OnlyWaits():
		o.yields = why
	}
}

func (c *cycle) preparing(o *openOp) string {
	if why := c.serverGoes(o); why != "" {
		return why
	}
	n := c.byName[o.nodeName()]
	if o.end.Node.Pod != "" {
		return c.podDiffers(o)
	}
	if o.end.Pool && len(c.pool.members) > 0 && !n.member {
		return "the pool has a server already: " + c.pool.members[0].name()
	}
	for _, d := range n.dirs {
		if d.broken() && slices.Contains(o.end.Node.Dirs, d.path) {
			return fmt.Sprintf("brick directory %s cannot be registered: %s", d.path, d.why)
		}
	}
	return ""
}

func (c *cycle) podDiffers(o *openOp) string {
	if why := c.serverGoes(o); why != "" {
		return why
	}
	n := c.byName[o.nodeName()]
	if n.pod != nil && n.pod.digest != o.end.Node.Pod {
		return "another pod is declared now"
	}
	if o.Plan.Kind == KindRestartNode && n.member {
		return c.gateDiffers(o, n)
	}
	return ""
}

// gateDiffers: a pod that runs goes behind the heal gate, one that does not run
// must not wait at it. While the old one is there, either may become the other.
func (c *cycle) gateDiffers(o *openOp, n *node) string {
	seen := n.srv.Pod
	if seen == nil || seen.Runs == o.end.Node.Pod {
		return ""
	}
	gated := slices.Contains(o.Plan.Locks, lockPool)
	k := o.Current()
	waits := !o.started() || !o.PastPivot() && k < len(o.Steps) && o.Steps[k].Name == StepHealed
	switch {
	case gated && !seen.Running && waits:
		return "its pod does not run any more, and need not wait until others can do without it"
	case !gated && seen.Running:
		return "its pod runs by now, and is let go only when others can do without it"
	}
	return ""
}

func (c *cycle) serverGoes(o *openOp) string {
	n := c.byName[o.nodeName()]
	switch {
	case n == nil:
		return "there is no GlusterNode " + o.nodeName() + " any more"
	case n.wrong != nil:
		return n.wrong.message
	case n.deleting() && !(n.member && o.Plan.Kind == KindInstallGate):
		return "the GlusterNode is being deleted"
	}
	return ""
}

func (c *cycle) nodeReturns(o *openOp) string {
	n := c.byName[o.nodeName()]
	switch {
	case n == nil || n.deleting():
		return ""
	case c.deleting() && n.cr.IsPod():
		return "" // its pod goes with the cluster
	}
	return "the GlusterNode is there again"
}

func (c *cycle) ofGoing(o *openOp) (*volume, string) {
	v := c.volume(o.volumeName())
	switch {
	case v == nil:
		return nil, "there is no GlusterVolume " + o.volumeName() + " any more"
	case v.going():
		return v, "the GlusterVolume is being deleted"
	}
	return v, ""
}

func (c *cycle) creating(o *openOp) string {
	v, why := c.ofGoing(o)
	if why != "" || o.started() {
		return why
	}
	if want := v.layout().Sets(); o.end.Volume.Sets != want {
		return fmt.Sprintf("%s are declared now, not %d", count(want, "set"), o.end.Volume.Sets)
	}
	set := map[string]string{}
	for _, w := range c.wantedOptions(v) {
		set[w.key] = w.value
	}
	if !maps.Equal(set, o.end.Set) {
		return "other options are declared now"
	}
	return ""
}

func (c *cycle) growing(o *openOp) string {
	v, why := c.ofGoing(o)
	if why != "" || o.started() {
		return why
	}
	switch want := v.layout().Sets(); {
	case o.end.Volume.Sets != want:
		return fmt.Sprintf("%s are declared now, not %d", count(want, "set"), o.end.Volume.Sets)
	case v.g != nil && len(v.bricks) != o.end.Volume.Before:
		return fmt.Sprintf("the volume has %s by now, not %d", count(len(v.bricks), "brick"), o.end.Volume.Before)
	}
	return ""
}

func (c *cycle) optionsDiffer(o *openOp) string {
	var s optionSet
	if o.end.Volume != nil {
		v, why := c.ofGoing(o)
		if why != "" {
			return why
		}
		s = c.volumeOptions(v)
	} else {
		s, _ = c.clusterOptions()
	}
	want := map[string]string{}
	for _, w := range c.wanted(s) {
		want[w.key] = w.value
	}
	for _, key := range slices.Sorted(maps.Keys(o.end.Set)) {
		if key == Marker {
			continue
		}
		if value, ok := want[key]; !ok || value != o.end.Set[key] {
			return fmt.Sprintf("option %s is to be %q now, not %q", key, value, o.end.Set[key])
		}
	}
	for _, key := range o.end.Reset {
		if _, ok := s.declared[key]; ok {
			return "option " + key + " is declared again"
		}
	}
	return ""
}

func (c *cycle) volumeReturns(o *openOp) string {
	v := c.volume(o.volumeName())
	if v == nil {
		return "" // its finalizer was taken away by hand; the deletion was confirmed
	}
	switch confirmed, _ := v.cr.DeleteConfirmed(); {
	case !v.deleting():
		return "the GlusterVolume is there again"
	case !confirmed:
		return "the deletion is no longer confirmed"
	case v.protected != nil:
		return v.protected.message
	}
	return ""
}

// kept says why the data of a cluster, or a claim of it, is to be kept after all.
func (c *cycle) kept(o *openOp) string {
	switch {
	case !c.deleting():
		return "the GlusterCluster is there again"
	case !c.cluster.Purges():
		return "spec.deletionPolicy is " + string(v1alpha1.DeletionRetain) + " now"
	}
	for _, claim := range c.made().Claims {
		if claim.Foreign != "" && o.removes(claim.UID) {
			return "claim " + claim.Name + " stays: " + claim.Foreign
		}
	}
	return ""
}
