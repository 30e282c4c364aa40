package planner

import (
	"fmt"
	"maps"
	"slices"
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
//	restart-node    the node goes, or another pod is declared;  restart-node
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
//	delete-volume   the volume is there again, or its deletion  -
//	                is no longer confirmed
//
// restart-node may be past its pivot and wait for a pod that never serves, for
// what it was declared as. While nothing but waiting is left of it, the next
// restart-node of the node takes its place in the moment it is planned; its heal
// gates stand for those that were not passed. Until then it goes on waiting.
//
// Everything ends when the cluster goes. A kind that is not in the table, and an
// operation this version cannot read, is left alone.
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
}

// supersede ends the operations whose goal has vanished.
func (c *cycle) supersede() {
	for _, o := range c.open {
		rule := vanished[o.Plan.Kind]
		if rule == nil || o.unreadable != "" || o.ending {
			continue
		}
		why := rule(c, o)
		if n := c.byName[o.nodeName()]; o.Plan.Kind == KindReleaseNode && n != nil && n.cr.IsPod() && c.deleting() {
			why = ""
		} else if c.deleting() && o.Plan.Kind != KindDeleteVolume {
			why = "the GlusterCluster is being deleted"
		}
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
	return o.yields != "" && !o.gone && o.Plan.Kind == kind && o.Plan.Target == target
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
	if n := c.byName[o.nodeName()]; n != nil && !n.deleting() {
		return "the GlusterNode is there again"
	}
	return ""
}

func (c *cycle) volumeGoes(o *openOp) (*volume, string) {
	v := c.volume(o.volumeName())
	switch {
	case v == nil:
		return nil, "there is no GlusterVolume " + o.volumeName() + " any more"
	case v.deleting():
		return v, "the GlusterVolume is being deleted"
	}
	return v, ""
}

func (c *cycle) creating(o *openOp) string {
	v, why := c.volumeGoes(o)
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
	v, why := c.volumeGoes(o)
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
		v, why := c.volumeGoes(o)
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
	}
	return ""
}
