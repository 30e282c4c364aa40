package planner

import (
	"fmt"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/procedure"
)

// release lets an object go, with a word on what stays behind.
func (c *cycle) release(object, stays string) outcome {
	c.out.Release = append(c.out.Release, object)
	if stays != "" {
		c.out.Events = append(c.out.Events, Event{Object: object, Reason: v1alpha1.EventRetained, Message: stays})
	}
	return outcome{Status: procedure.True, Message: "may go"}
}

func unfinished(format string, args ...any) outcome {
	return outcome{Status: procedure.False, Message: fmt.Sprintf(format, args...)}
}

// running is the first operation that has to end before what it works on may
// go; nil if there is none.
func running(ops []*openOp) *openOp {
	for _, o := range ops {
		if !o.gone {
			return o
		}
	}
	return nil
}

// volumeGone brings a volume whose object is being deleted to where the object
// may go: deleted if that was confirmed, else left as it is.
func (c *cycle) volumeGone(v *volume) outcome {
	confirmed, _ := v.cr.DeleteConfirmed()
	if c.others {
		return unfinished("%s", c.idle)
	}
	if o := running(v.ops); o != nil {
		if o.unreadable != "" {
			return unfinished("%s", o.unreadable)
		}
		return unfinished("waits for %s to end", o.ref())
	}
	switch {
	case !confirmed:
		return c.release(v.object(), c.staysOf(v))
	case c.poolID == "" || (v.cr.Status.VolumeID == "" && len(c.pool.members) == 0):
		return c.release(v.object(), "") // it was never made
	case !v.seen:
		c.block(v.object(), problemf(v1alpha1.ReasonQuorumLost, "no glusterd of the pool answers; the volume is deleted when all do%s", c.unconfirm()))
		return unfinished("no glusterd of the pool answers")
	}
	if p := c.held(); p != nil && v.g != nil {
		if p.reason != "" {
			c.block(v.object(), problemf(p.reason, "the volume is not deleted now: %s%s", p.message, c.unconfirm()))
		}
		return unfinished("not deleted now: %s", p.message)
	}
	switch {
	case v.g == nil:
		return c.release(v.object(), "")
	case !v.exists():
		return c.release(v.object(), "the pool has a volume of this name that Anthill does not delete: "+v.wrong.message)
	case v.g.Snapshots > 0:
		c.block(v.object(), problemf(v1alpha1.ReasonWaitingForDeletion, "the volume has %s; delete them first: gluster snapshot delete volume %s", count(v.g.Snapshots, "snapshot"), v.name()))
		return unfinished("%s", count(v.g.Snapshots, "snapshot"))
	}
	out, _ := c.want(v.removal())
	return out
}

// unconfirm is the other way on for a volume that cannot be deleted now, whose
// cluster waits for it: a server that is lost must not keep it for ever.
func (c *cycle) unconfirm() string {
	if !c.deleting() {
		return ""
	}
	return "; to let the cluster go without that, remove the volume's annotation " + v1alpha1.AnnotationConfirmDelete
}

// staysOf says what is left of a volume whose object goes with the cluster, or
// without it.
func (c *cycle) staysOf(v *volume) string {
	stays := v.stays(c.poolID)
	if stays != "" && c.deleting() && c.cluster.Purges() && c.unpurgeable() == nil {
		return fmt.Sprintf("volume %s is not deleted by itself: its data goes with the claims of GlusterCluster %s", v.name(), c.cluster.Name)
	}
	return stays
}

// stays says what is left of a volume whose object goes.
func (v *volume) stays(poolID string) string {
	switch {
	case v.seen && v.g == nil, poolID == "", !v.seen && v.cr.Status.VolumeID == "":
		return ""
	case v.wrong != nil:
		return "the volume of this name in pool " + poolID + " stays as it is"
	}
	return fmt.Sprintf("volume %s (%s, id %s) stays in pool %s as it is, with its data and its mounts; a GlusterVolume of the same name takes it up again",
		v.name(), v.layout(), v.id, poolID)
}

func (v *volume) removal() draft {
	refs, others := v.ownBricks()
	difference := "deletion of the volume is confirmed"
	if len(others) > 0 {
		difference += "; bricks that Anthill did not make stay where they are: " + listed(others)
	}
	p := VolumeParams{Volume: v.name(), VolumeID: v.id}
	steps := []journal.Step{}
	if v.g.Started {
		steps = append(steps, step("stop", StepStopVolume, journal.Compensatable, p))
	}
	steps = append(steps, step("delete", StepDeleteVolume, journal.Pivot, p))
	if len(refs) > 0 {
		steps = append(steps, step("retire", StepRetireBricks, journal.Retriable, RetireParams{VolumeID: v.id, Bricks: refs}))
	}
	return draft{
		kind: KindDeleteVolume, target: targetVolume(v.name()), object: v.object(), generation: v.cr.Generation,
		action: "volumeDeleted", difference: difference,
		canonical: struct {
			Confirmed bool `json:"confirmed"`
		}{true},
		locks: append(lockVolumeWhole(v.name()), lockSets(v.name(), 0, v.sets)...),
		steps: steps,
		end:   EndState{Volume: &VolumeEnd{Name: v.name(), VolumeID: v.id, Deleted: true}},
	}
}

// ownBricks are the bricks that lie where Anthill puts bricks, and the names of
// the others.
func (v *volume) ownBricks() (own []BrickRef, others []string) {
	for i := range v.bricks {
		b := &v.bricks[i]
		ref, ok := leafOf(b.Path, v.id)
		if !ok || b.node == nil || b.dir == nil || b.dir.path != ref.root {
			others = append(others, b.Host+":"+b.Path)
			continue
		}
		own = append(own, BrickRef{
			Node: b.node.name(), Address: b.node.address(), UUID: b.PeerUUID, Root: ref.root, Leaf: ref.leaf, Arbiter: b.Arbiter,
		})
	}
	return own, others
}

// nodeGone brings a node whose object is being deleted to where the object may
// go: a server that is in the pool stays, one that is only claimed is let go.
func (c *cycle) nodeGone(n *node) outcome {
	switch {
	case c.others:
		return unfinished("%s", c.idle)
	case c.poolID == "":
		return c.release(n.object(), "")
	}
	pod := n.cr.IsPod() && !n.member
	if o := running(n.ops); o != nil && (!pod || n.busy()) {
		if o.unreadable != "" {
			return unfinished("%s", o.unreadable)
		}
		return unfinished("waits for %s to end", o.ref())
	}
	switch {
	case pod:
		return c.podGone(n)
	case n.member:
		c.block(n.object(), problemf(v1alpha1.ReasonRemoveNodeNotSupported, "the server has joined the pool, and this version cannot take it out; it stays, with its bricks"))
		return unfinished("the server is in the pool")
	case n.strange && n.claimed:
		c.block(n.object(), problemf(v1alpha1.ReasonForeignServer, "the server holds this pool's claim, and is let go of once its glusterd is empty (%s): take it out of what it is in, or remove the gate and its state from it by hand", n.wrong.message))
		return unfinished("glusterd there is not empty")
	case n.wrong != nil && !n.known:
		return c.release(n.object(), "") // never ours
	case n.wrong != nil:
		return c.release(n.object(), fmt.Sprintf("the server at %s is left as it is: %s", n.address(), n.wrong.message))
	case !n.reachable && n.known:
		c.block(n.object(), problemf(n.unreachable.reason, "the server holds this pool's claim and cannot be asked to forget it: %s", n.unreachable.message))
		return unfinished("the server does not answer")
	case !n.claimed && (!n.srv.Gate.Installed || c.s.Claims[n.address()] != ""):
		return c.release(n.object(), "")
	case len(c.pool.members) > 0 && c.pool.canon == nil:
		return unfinished("no glusterd of the pool answers: it cannot be told whether the server is in the pool")
	}
	steps := []journal.Step{step("release", StepReleaseServer, journal.Retriable, NodeParams{Node: n.name()})}
	if !n.claimed { // a gate lets go of what it was told to hold only
		steps = append([]journal.Step{step("claim", StepClaimServer, journal.Compensatable, ClaimParams{Node: n.name(), Address: n.address()})}, steps...)
	}
	out, _ := c.want(draft{
		kind: KindReleaseNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "nodeReleased", difference: "the GlusterNode is being deleted; its server has our gate and has not joined",
		canonical: struct {
			Address string `json:"address"`
		}{n.address()},
		locks: []string{lockNode(n.name())},
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: n.name(), Released: true}},
	})
	return out
}
