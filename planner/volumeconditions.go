package planner

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

func (c *cycle) volumeConditions(v *volume) {
	object := v.object()
	if v.wrong != nil && !v.going() {
		c.block(object, v.wrong)
	}
	if p := c.held(); p != nil && p.reason != "" && !v.going() && v.seen && (v.g == nil || v.sets < v.layout().Sets()) {
		c.block(object, p)
	}
	rest := v1alpha1.NotProgressing(v1alpha1.ReasonConverged, "")
	switch {
	case len(c.pool.members) == 0:
		rest = v1alpha1.NotProgressing(v1alpha1.ReasonWaitingForCluster, "the cluster has no server yet")
	case !v.seen:
		rest = v1alpha1.NotProgressing(v1alpha1.ReasonQuorumLost, "no glusterd of the pool answers")
	case v.waits != "":
		rest = v1alpha1.Progressing(v1alpha1.ReasonWaitingForNodes, v.waits)
	case !v.exists():
		rest = v1alpha1.Progressing(v1alpha1.ReasonPlanning, "")
	}
	c.find(object, v.available(c))
	c.find(object, v.degraded(c))
	c.find(object, c.blocking(object))
	c.find(object, c.accepting(object))
	c.find(object, c.progressing(object, v.ops, c.plannedFor(targetVolume(v.name())), v.deleting(), rest))
}

func (v *volume) available(c *cycle) metav1.Condition {
	switch ok, told := v.serves(); {
	case ok:
		return v1alpha1.Available()
	case len(c.pool.members) == 0:
		return v1alpha1.Unavailable(v1alpha1.ReasonWaitingForCluster, "the cluster has no server yet")
	case !v.seen:
		return v1alpha1.AvailabilityUnknown(v1alpha1.ReasonQuorumLost, "no glusterd of the pool answers")
	case v.wrong != nil:
		return v1alpha1.Unavailable(v.wrong.reason, v.wrong.message)
	case v.g == nil && v.waits != "":
		return v1alpha1.Unavailable(v1alpha1.ReasonWaitingForNodes, v.waits)
	case v.g == nil && len(c.blocked[v.object()]) > 0:
		b := c.blocking(v.object())
		return v1alpha1.Unavailable(b.Reason, b.Message)
	case v.g == nil:
		return v1alpha1.Unavailable(v1alpha1.ReasonPlanning, "the volume is not there yet")
	case v.g.New:
		return v1alpha1.Unavailable(v1alpha1.ReasonPlanning, "the volume is there and was not started yet")
	case !v.g.Started && of(v.ops, KindDeleteVolume) != nil:
		return v1alpha1.Unavailable(v1alpha1.ReasonDeleting, "the volume was stopped in order to be deleted")
	case !v.g.Started:
		return v1alpha1.Unavailable(v1alpha1.ReasonNotStarted, "the volume is stopped; start it with: gluster volume start "+v.name())
	case !told:
		return v1alpha1.AvailabilityUnknown(v1alpha1.ReasonBricksDown, "not seen: "+listed(v.down()))
	}
	return v1alpha1.Unavailable(v1alpha1.ReasonBricksDown, "too few bricks of a set serve; down: "+listed(v.down()))
}

func (v *volume) degraded(c *cycle) metav1.Condition {
	if !v.exists() {
		if v.seen {
			return v1alpha1.NotDegraded()
		}
		return v1alpha1.DegradationUnknown(v1alpha1.ReasonNotYetObserved, "the volume has not been seen")
	}
	if down := v.down(); v.g.Started && len(down) > 0 {
		return v1alpha1.Degraded(v1alpha1.ReasonBricksDown, "down, or not seen: "+listed(down))
	}
	switch h, asked := c.s.Observed.Heals[v.name()]; {
	case asked && !h.Known:
		return v1alpha1.DegradationUnknown(v1alpha1.ReasonHealthUnknown, "the number of pending heals is not known")
	case h.SplitBrain > 0:
		return v1alpha1.Degraded(v1alpha1.ReasonHealsPending, fmt.Sprintf("%s in split-brain: gluster volume heal %s info split-brain", entries(h.SplitBrain), v.name()))
	case h.Pending > 0:
		return v1alpha1.Degraded(v1alpha1.ReasonHealsPending, "copies differ and are being healed")
	}
	if left := c.leftBehind(v); left > 0 {
		return v1alpha1.Degraded(v1alpha1.ReasonRebalanceIncomplete, fmt.Sprintf("the last rebalance could not move %s; they are readable where they are: gluster volume rebalance %s status", files(left), v.name()))
	}
	return v1alpha1.NotDegraded()
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func files(n uint64) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// leftBehind is how many files the last rebalance of ours failed to move or
// skipped, on all servers together; 0 while one is running.
func (c *cycle) leftBehind(v *volume) uint64 {
	warned := slices.ContainsFunc(c.s.Ended, func(o view.Op) bool {
		return o.Plan.Target == targetVolume(v.name()) && o.Warning == v1alpha1.ReasonRebalanceIncomplete
	})
	if of(v.ops, KindAddBrick) != nil || (v.g.Rebalance.TaskID == "" && !warned) {
		return 0
	}
	var sum uint64
	for _, n := range c.pool.members {
		if !n.glusterd() {
			continue
		}
		if g := c.lookup(n, v.index, v.name()); g != nil && g.Rebalance.TaskID == v.g.Rebalance.TaskID {
			sum += g.Rebalance.Failures + g.Rebalance.Skipped
		}
	}
	return sum
}
