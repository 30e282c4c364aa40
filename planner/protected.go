package planner

import (
	"github.com/gluster/anthill/apis/v1alpha1"
)

// protect finds what keeps volumes from going although their objects are being
// deleted: that they are used (R65), or that a person has to say something else.
// Such a volume is looked after as before.
func (c *cycle) protect() {
	l := c.s.Observed.Leaving
	for _, v := range c.volumes {
		gone := v.seen && v.g == nil && c.pool.differs == "" && of(v.ops, KindCreateVolume) == nil
		if l != nil && len(l.Users[v.name()]) > 0 && !gone {
			v.users = "PersistentVolume " + listed(l.Users[v.name()])
		}
		if !v.deleting() || gone {
			continue // of one that is not there nothing is lost
		}
		_, mistaken := v.cr.DeleteConfirmed()
		switch o := of(v.ops, KindDeleteVolume); {
		case o != nil && o.PastPivot():
			continue // it cannot be taken back
		case mistaken:
			v.protected = problemf(v1alpha1.ReasonConfirmationMissing,
				"annotation %s is %q, the volume's name is %q: correct it to delete the volume, remove it to keep the volume",
				v1alpha1.AnnotationConfirmDelete, v.cr.Annotations[v1alpha1.AnnotationConfirmDelete], v.name())
		case c.unknownUsers() != "":
			v.protected = problemf(v1alpha1.ReasonWaitingForDeletion, "%s", c.unknownUsers())
		case v.users != "":
			v.protected = problemf(v1alpha1.ReasonWaitingForDeletion,
				"the volume is used by %s; it goes after that does, until then it is looked after as before", v.users)
		}
		c.block(v.object(), v.protected)
	}
}

// unknownUsers says why it is not known what uses volumes; empty if it is, or is
// not to be known.
func (c *cycle) unknownUsers() string {
	l := c.s.Observed.Leaving
	if l == nil || l.Unknown == "" {
		return ""
	}
	return "nothing goes while Kubernetes cannot be asked what depends on it: " + l.Unknown
}

// going reports whether the volume's object is being deleted and nothing keeps
// the volume.
func (v *volume) going() bool { return v.deleting() && v.protected == nil }

// volumeGoes says how far a volume is whose object is being deleted.
func (c *cycle) volumeGoes(v *volume) {
	if v.going() {
		c.goes("volumeDeleted", c.out.VolumeResults, v.name(), c.volumeGone(v))
		return
	}
	c.out.VolumeResults[v.name()] = append(c.out.VolumeResults[v.name()],
		Result{Name: "volumeDeleted", Status: "False", Message: v.protected.message})
}
