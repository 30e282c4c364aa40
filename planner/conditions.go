package planner

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

// weights order reasons of Blocked: the first one is shown. What is not listed
// comes after, in the order in which it was found.
var weights = []string{
	v1alpha1.ReasonOwnedByOtherInstance, v1alpha1.ReasonUnsupportedVersion, v1alpha1.ReasonClusterNotFound,
	v1alpha1.ReasonServerClaimed, v1alpha1.ReasonForeignServer, v1alpha1.ReasonVolumeExistsWithoutMarker,
	v1alpha1.ReasonRemoveNodeNotSupported, v1alpha1.ReasonConfirmationMissing, v1alpha1.ReasonPurgeRefused, v1alpha1.ReasonQuorumLost,
	v1alpha1.ReasonPeerRejected, v1alpha1.ReasonViewsDiffer, v1alpha1.ReasonForeignPeer, v1alpha1.ReasonFenceIncomplete,
	v1alpha1.ReasonOperationSuspended, v1alpha1.ReasonIntentAbandoned, v1alpha1.ReasonGoalNotSeen,
}

func weight(reason string) int {
	if i := slices.Index(weights, reason); i >= 0 {
		return i
	}
	return len(weights)
}

func (c *cycle) find(object string, cond metav1.Condition) {
	c.out.Findings = append(c.out.Findings, Finding{
		Object: object, Type: cond.Type, Status: string(cond.Status), Reason: cond.Reason, Message: cond.Message,
	})
}

// conditions says of every object how it is. All five are always there.
func (c *cycle) conditions() {
	c.parked()
	c.clusterConditions()
	for _, n := range c.nodes {
		c.nodeConditions(n)
	}
	for _, v := range c.volumes {
		c.volumeConditions(v)
	}
}

// parked notes operations that wait for a person on what they work on, or on
// the cluster.
func (c *cycle) parked() {
	for _, o := range c.open {
		cluster := clusterObject(c.cluster.Name)
		object := cluster
		if n := c.byName[o.nodeName()]; n != nil {
			object = n.object()
		} else if v := c.volume(o.volumeName()); v != nil {
			object = v.object()
		}
		switch s := o.Suspended; {
		case o.unreadable != "":
			c.block(object, problemf(v1alpha1.ReasonOperationSuspended, "%s", o.unreadable))
		case o.State == view.Suspended && s != nil:
			text := fmt.Sprintf("%s of %s is parked (%s): %s", o.Plan.Kind, o.Plan.Target, s.Cause, s.Message)
			if s.Next != "" {
				text += "; next: " + s.Next
			}
			c.block(object, problemf(v1alpha1.ReasonOperationSuspended, "%s", text))
			if o.end.Pool {
				c.block(cluster, problemf(v1alpha1.ReasonOperationSuspended, "%s", text))
			}
		}
	}
}

// blocking is the condition Blocked of an object.
func (c *cycle) blocking(object string) metav1.Condition {
	found := c.blocked[object]
	if len(found) == 0 {
		return v1alpha1.NotBlocked()
	}
	first := slices.MinFunc(found, func(a, b problem) int { return weight(a.reason) - weight(b.reason) })
	return v1alpha1.Blocked(first.reason, first.message)
}

func (c *cycle) accepting(object string) metav1.Condition {
	why := c.refused[object]
	if len(why) == 0 {
		return v1alpha1.SpecAccepted()
	}
	return v1alpha1.SpecRefused(v1alpha1.ReasonOptionRefused, strings.Join(slices.Sorted(slices.Values(why)), "; "))
}

// progressing is the condition of an object with these open operations, for
// which this cycle planned so many more.
func (c *cycle) progressing(object string, ops []*openOp, planned int, deleting bool, rest metav1.Condition) metav1.Condition {
	var first *openOp
	more, parked := 0, 0
	for _, o := range ops {
		switch {
		case o.gone:
			continue
		case o.State == view.Suspended && !o.ending:
			parked++
			continue
		}
		more++
		if first == nil || (!first.started() && o.started()) {
			first = o
		}
	}
	switch {
	case first != nil:
		reason := v1alpha1.ReasonOperationRunning
		text := fmt.Sprintf("%s of %s", first.Plan.Kind, first.Plan.Target)
		switch {
		case deleting:
			reason = v1alpha1.ReasonDeleting
		case !first.started():
			reason = v1alpha1.ReasonOperationQueued
			text += " is queued"
		}
		if i := first.Current(); first.started() && i < len(first.Steps) {
			text += " is at step " + first.Steps[i].ID
		}
		text += " (operation " + first.ID.String() + ")"
		if more > 1 {
			text += "; " + count(more-1, "more operation")
		}
		return v1alpha1.Progressing(reason, text)
	case planned > 0 && deleting:
		return v1alpha1.Progressing(v1alpha1.ReasonDeleting, "")
	case planned > 0:
		return v1alpha1.Progressing(v1alpha1.ReasonPlanning, "")
	case c.idle != "" && c.cluster.Spec.Paused && !c.others && c.conflict == nil:
		return v1alpha1.NotProgressing(v1alpha1.ReasonPaused, "nothing is planned while the cluster is paused")
	case parked > 0:
		return v1alpha1.NotProgressing(v1alpha1.ReasonBlocked, count(parked, "operation")+" waiting for a person")
	case deleting:
		return v1alpha1.Progressing(v1alpha1.ReasonDeleting, "")
	case len(c.blocked[object]) > 0:
		return v1alpha1.NotProgressing(v1alpha1.ReasonBlocked, "")
	}
	return rest
}

// plannedFor counts this cycle's plans for a target.
func (c *cycle) plannedFor(target string) int {
	n := 0
	for i := range c.out.Plan {
		if c.out.Plan[i].Plan.Target == target {
			n++
		}
	}
	return n
}
