package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A LayoutKind names the one field of a VolumeLayout that is set.
type LayoutKind string

// The kinds of layout.
const (
	LayoutReplicate  LayoutKind = "replicate"
	LayoutDisperse   LayoutKind = "disperse"
	LayoutDistribute LayoutKind = "distribute"
)

// Kind is which field is set; empty for a layout that the API server would
// refuse.
func (l *VolumeLayout) Kind() LayoutKind {
	switch {
	case l.Replicate != nil:
		return LayoutReplicate
	case l.Disperse != nil:
		return LayoutDisperse
	case l.Distribute != nil:
		return LayoutDistribute
	}
	return ""
}

// Sets is the number of sets, each of BricksPerSet bricks. Every brick of a
// distribute layout is a set.
func (l *VolumeLayout) Sets() int {
	switch l.Kind() {
	case LayoutReplicate:
		return int(l.Replicate.Sets)
	case LayoutDisperse:
		return int(l.Disperse.Sets)
	case LayoutDistribute:
		return int(l.Distribute.Bricks)
	}
	return 0
}

// BricksPerSet is the number of bricks of a set, arbiter and redundancy
// included. They go on as many different nodes.
func (l *VolumeLayout) BricksPerSet() int {
	switch l.Kind() {
	case LayoutReplicate:
		return int(l.Replicate.Replica + l.Replicate.Arbiter)
	case LayoutDisperse:
		return int(l.Disperse.Data + l.Disperse.Redundancy)
	case LayoutDistribute:
		return 1
	}
	return 0
}

// DataBricksPerSet is how many bricks' worth of space a set offers: 1 for
// copies, data for erasure coding.
func (l *VolumeLayout) DataBricksPerSet() int {
	switch l.Kind() {
	case LayoutDisperse:
		return int(l.Disperse.Data)
	case LayoutReplicate, LayoutDistribute:
		return 1
	}
	return 0
}

// Bricks is the number of bricks of the volume.
func (l *VolumeLayout) Bricks() int { return l.Sets() * l.BricksPerSet() }

// String is the layout in one line: `replicate 2 x 3`, `replicate 1 x (2 + 1)`
// with an arbiter, `disperse 1 x (4 + 2)`, `distribute 3`.
func (l *VolumeLayout) String() string {
	switch l.Kind() {
	case LayoutReplicate:
		if l.Replicate.Arbiter > 0 {
			return fmt.Sprintf("replicate %d x (%d + %d)", l.Replicate.Sets, l.Replicate.Replica, l.Replicate.Arbiter)
		}
		return fmt.Sprintf("replicate %d x %d", l.Replicate.Sets, l.Replicate.Replica)
	case LayoutDisperse:
		return fmt.Sprintf("disperse %d x (%d + %d)", l.Disperse.Sets, l.Disperse.Data, l.Disperse.Redundancy)
	case LayoutDistribute:
		return fmt.Sprintf("distribute %d", l.Distribute.Bricks)
	}
	return "none"
}

// DeleteConfirmed reports what a person said about deleting the volume with
// the object: confirmed is true when AnnotationConfirmDelete has the object's
// name; mistaken is true when it is there with any other value.
func (v *GlusterVolume) DeleteConfirmed() (confirmed, mistaken bool) {
	return deleteConfirmed(&v.ObjectMeta)
}

func deleteConfirmed(m *metav1.ObjectMeta) (confirmed, mistaken bool) {
	value, ok := m.Annotations[AnnotationConfirmDelete]
	return ok && value == m.Name, ok && value != m.Name
}
