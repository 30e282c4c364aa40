package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// Plan decides what follows from a snapshot of one cluster. It is pure: the
// same snapshot, in any order of its parts, gives the same decision; with the
// decision's operations open, nothing further is planned.
//
// Without a cluster (Cluster is nil) nodes and volumes are told so, and what is
// being deleted may go.
func Plan(s Snapshot) Decision { return known.plan(s) }

func (k *procedures) plan(s Snapshot) Decision {
	c := newCycle(&s)
	if c.cluster == nil {
		return c.orphans()
	}
	c.openOps()
	c.recall()
	c.conflict = c.identify()
	c.judge()
	c.judgePods()
	c.findMembers()
	c.judgeStrangers()
	c.findVolumes()
	c.protect()
	c.stand()

	p, err := k.clusters.NewestCompatible(deployed(c.cluster))
	switch {
	case err != nil:
		c.idle = "the procedure is not known"
		c.block(clusterObject(c.cluster.Name), problemf(v1alpha1.ReasonUnsupportedVersion, "%s", err))
	case c.deleting():
		c.leave(k, p)
	default:
		if c.idle == "" {
			c.supersede()
		}
		c.run(k, p)
	}
	c.link()
	c.status()
	c.conditions()
	c.order()
	return c.out
}

func deployed(cluster *v1alpha1.GlusterCluster) *int {
	if v := cluster.Status.ReconcileVersion; v != nil {
		version := int(*v)
		return &version
	}
	return nil
}

// stand says whether anything may be planned at all.
func (c *cycle) stand() {
	object := clusterObject(c.cluster.Name)
	if owner := c.owner(); !c.mine(owner) {
		c.idle, c.others = "another operator instance owns the pool", true
		c.block(object, problemf(v1alpha1.ReasonOwnedByOtherInstance,
			"operator instance %s owns the pool, this one is %s: stop that one, then annotate the cluster with %s=%s",
			owner, c.s.Instance, v1alpha1.AnnotationTakeOver, owner))
	}
	if c.conflict != nil {
		c.idle = "the pool cannot be told"
		c.block(object, c.conflict)
	}
	if c.cluster.Spec.Paused && !c.deleting() && c.idle == "" {
		c.idle = "the cluster is paused"
	}
	if c.s.Fence != "" {
		c.block(object, problemf(v1alpha1.ReasonFenceIncomplete, "%s", c.s.Fence))
	}
}

// owner is the operator instance that owns the pool, as the anchor says or,
// where there is none (the cluster was created again), as its servers' gates do;
// ours if nobody says otherwise.
func (c *cycle) owner() string {
	if a := c.cluster.Status.Anchor; a != nil {
		return a.Instance
	}
	for _, n := range c.nodes {
		if g := n.srv.Gate; g.Pool != "" && g.Pool == c.poolID && g.Instance != "" && !c.mine(g.Instance) {
			return g.Instance
		}
	}
	return c.s.Instance
}

// run evaluates the procedures of the cluster, of its nodes and of its volumes.
func (c *cycle) run(k *procedures, cluster *clusterP) {
	version := cluster.Version()
	nodes, err := k.nodes.NewestCompatible(&version)
	if err != nil {
		panic(fmt.Sprintf("planner: procedures of clusters and nodes do not match: %v", err))
	}
	volumes, err := k.volumes.NewestCompatible(&version)
	if err != nil {
		panic(fmt.Sprintf("planner: procedures of clusters and volumes do not match: %v", err))
	}
	c.templates()
	r := cluster.Run(c)
	converged := r.Converged
	c.out.Results, c.out.Plan = report(r.Results), append(c.out.Plan, r.Changes...)
	for _, n := range c.nodes {
		if n.deleting() {
			if !c.deleting() { // else it goes with the cluster
				c.goes("nodeReleased", c.out.NodeResults, n.name(), c.nodeGone(n))
			}
			continue
		}
		r := nodes.Run(ofNode{c, n})
		results := report(r.Results)
		if !n.cr.IsPod() {
			results = slices.DeleteFunc(results, func(r Result) bool { return r.Name == "podRuns" })
		}
		c.out.NodeResults[n.name()], c.out.Plan = results, append(c.out.Plan, r.Changes...)
		converged = converged && r.Converged
	}
	for _, v := range c.volumes {
		if !v.going() {
			r := volumes.Run(ofVolume{c, v})
			c.out.VolumeResults[v.name()], c.out.Plan = report(r.Results), append(c.out.Plan, r.Changes...)
		}
		if v.deleting() && !(v.going() && c.deleting()) { // these came first
			c.volumeGoes(v)
		}
	}
	if converged && c.idle == "" && len(c.nodes) > 0 {
		c.out.ReconcileVersion = &version
	}
}

// goes notes how far the going of an object is.
func (c *cycle) goes(action string, results map[string][]Result, name string, out outcome) {
	results[name] = []Result{{Name: action, Status: string(out.Status), Message: out.Message}}
	c.out.Plan = append(c.out.Plan, out.Changes...)
}

// orphans says of nodes and volumes that their cluster does not exist. Nothing
// is known of a pool then, so what is being deleted goes and leaves all behind.
func (c *cycle) orphans() Decision {
	for _, n := range c.nodes {
		c.orphan(n.object(), n.cr.Spec.Cluster, n.deleting(), n.cr.Status.UUID != "", "the server at "+n.address()+" stays as it is")
	}
	for _, v := range c.volumes {
		c.orphan(v.object(), v.cr.Spec.Cluster, v.deleting(), v.cr.Status.VolumeID != "", "the volume stays as it is, with its data")
	}
	c.order()
	return c.out
}

func (c *cycle) orphan(object, cluster string, deleting, known bool, stays string) {
	if deleting {
		if !known {
			stays = ""
		}
		c.release(object, stays)
		return
	}
	p := problem{v1alpha1.ReasonClusterNotFound, "there is no GlusterCluster " + cluster + " in this namespace"}
	c.find(object, v1alpha1.AvailabilityUnknown(p.reason, p.message))
	c.find(object, v1alpha1.Blocked(p.reason, p.message))
	c.find(object, v1alpha1.DegradationUnknown(p.reason, p.message))
	c.find(object, v1alpha1.NotProgressing(v1alpha1.ReasonBlocked, ""))
	c.find(object, v1alpha1.SpecAccepted())
}

// order puts what has no order of its own into a fixed one.
func (c *cycle) order() {
	slices.Sort(c.out.Release)
	slices.Sort(c.out.Remove)
	byOp := func(a, b Ending) int { return strings.Compare(a.Op.String(), b.Op.String()) }
	slices.SortFunc(c.out.Supersede, byOp)
	slices.SortFunc(c.out.Cancel, byOp)
	slices.SortFunc(c.out.Findings, func(a, b Finding) int {
		if d := strings.Compare(a.Object, b.Object); d != 0 {
			return d
		}
		return strings.Compare(a.Type, b.Type)
	})
	slices.SortFunc(c.out.Events, func(a, b Event) int { return strings.Compare(a.Object+a.Reason, b.Object+b.Reason) })
}
