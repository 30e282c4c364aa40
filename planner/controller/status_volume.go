package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// volumeStatus is a volume's status as this cycle found it. What could not be
// seen stays as it was last seen, except numbers that would then mislead. Its
// identity is not written here.
func (c *cycle) volumeStatus(v *v1alpha1.GlusterVolume, have v1alpha1.GlusterVolumeStatus, now metav1.Time) v1alpha1.GlusterVolumeStatus {
	s := *have.DeepCopy()
	seen := c.decision.Volumes[v.Name]
	op := c.operationOf(v, false)
	s.Conditions = c.conditions(v, op, have.Conditions, now)
	s.ObservedGeneration = v.Generation
	s.ReconcileActions = actions(c.decision.VolumeResults[v.Name])
	s.CurrentOperation = current(op)
	s.PendingHeals, s.UsableBytes = seen.PendingHeals, nil
	if seen.Total == 0 {
		// It is not there, or nobody could look: the names of its bricks and the
		// options we set are kept, whether they serve is not known.
		for i := range s.Bricks {
			s.Bricks[i].State = v1alpha1.BrickUnknown
		}
		s.BricksUp = nil
		return s
	}
	if seen.GlusterID != "" {
		s.GlusterID = seen.GlusterID
	}
	s.Layout = seen.Layout
	s.Bricks = bricks(seen)
	s.BricksUp, s.BricksTotal = new(count(seen.Up)), new(count(seen.Total))
	if seen.UsableBytes > 0 {
		s.UsableBytes = new(int64(seen.UsableBytes)) //nolint:gosec // no volume is that large
	}
	s.AppliedOptions = optionValues(seen.Options)
	return s
}

// Limits of the schema.
const (
	bricksMax    = 2000
	brickNameMax = 255
)

// bricks are the bricks of a volume in gluster's order. A name that does not
// fit the schema, or comes twice, is left out: one strange brick must not keep
// the whole status from being written.
func bricks(seen planner.VolumeStatus) []v1alpha1.BrickStatus {
	names := make(map[string]bool, len(seen.Bricks))
	out := make([]v1alpha1.BrickStatus, 0, min(len(seen.Bricks), bricksMax))
	for _, b := range seen.Bricks {
		st := v1alpha1.BrickStatus{Name: b.Host + ":" + b.Path, Node: b.Node, Set: count(b.Set), Position: count(b.Position), State: v1alpha1.BrickUnknown}
		switch {
		case b.Known && b.Online:
			st.State = v1alpha1.BrickOnline
		case b.Known:
			st.State = v1alpha1.BrickOffline
		}
		if names[st.Name] || len(st.Name) > brickNameMax || len(out) == bricksMax {
			continue
		}
		names[st.Name] = true
		out = append(out, st)
	}
	return out
}
