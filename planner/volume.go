package planner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A volume is a GlusterVolume with what the pool has under its name.
type volume struct {
	cr  *v1alpha1.GlusterVolume
	ops []*openOp

	// seen is set when the pool could be asked; g is nil when it has no volume
	// of that name.
	seen  bool
	g     *Volume
	index int    // of g in the canonical view
	id    string // Anthill's; empty: none yet
	// marked is set when the volume carries the marker. One of ours without it
	// is told by its brick paths.
	marked bool
	wrong  *problem // not ours, or not as it was made

	bricks []brick
	sets   int
	waits  string // for what a placement waits; it passes by itself

	users     string   // PersistentVolumes that use it
	protected *problem // what keeps it although it is being deleted
}

// A brick of a volume, with who carries it.
type brick struct {
	Brick
	node   *node // nil: no GlusterNode is that peer
	dir    *dir  // nil: not in a brick directory of the node
	online bool
	known  bool // online was seen by its own server
}

func (v *volume) name() string                   { return v.cr.Name }
func (v *volume) object() string                 { return volumeObject(v.cr.Name) }
func (v *volume) deleting() bool                 { return v.cr.DeletionTimestamp != nil }
func (v *volume) layout() *v1alpha1.VolumeLayout { return &v.cr.Spec.Layout }

// exists reports whether the pool has the volume and it is ours.
func (v *volume) exists() bool { return v.g != nil && v.wrong == nil }

// findVolumes matches GlusterVolumes with what the pool has, and counts what
// lies on each brick directory, of all volumes.
func (c *cycle) findVolumes() {
	seen := c.pool.view()
	for _, v := range c.volumes {
		v.id = v.cr.Status.VolumeID
		v.seen = seen != nil
	}
	if seen != nil {
		c.lookup = ownViews()
		for i := range seen.Volumes {
			g := &seen.Volumes[i]
			bricks := c.findBricks(i, g)
			if v := c.volume(g.Name); v != nil {
				v.g, v.index, v.bricks = g, i, bricks
				v.sets = len(bricks) / g.SetSize()
				c.judgeVolume(v)
			}
		}
	}
	for _, v := range c.volumes {
		if v.seen && v.g == nil && v.cr.Status.GlusterID != "" && of(v.ops, KindCreateVolume) == nil && !v.deleting() {
			v.wrong = problemf(v1alpha1.ReasonLayoutDiffers, "the volume was in the pool (gluster id %s) and is not any more; it is not made anew, since that would hide whatever is left of it: delete this GlusterVolume, or bring the volume back", v.cr.Status.GlusterID)
		}
	}
	c.countPromised()
}

// judgeVolume decides whose volume it is: by name and marker, or by brick paths
// that hold the id we gave it, which is what a volume has whose making did not
// get as far as the marker.
func (c *cycle) judgeVolume(v *volume) {
	marker := v.g.Options[Marker]
	v.marked = marker != ""
	switch {
	case marker != "" && v.id == "":
		if !pathsHold(v.g, marker) {
			v.wrong = problemf(v1alpha1.ReasonVolumeExistsWithoutMarker, "the pool has a volume of this name with the marker %s, but none of its bricks is where Anthill would have put them; it is left alone", marker)
			return
		}
		v.id = marker // the status was lost, or the object was made anew
		c.out.VolumeIDs[v.name()] = marker
	case marker != "" && marker != v.id:
		v.wrong = problemf(v1alpha1.ReasonVolumeExistsWithoutMarker, "the volume in the pool is %s, this GlusterVolume is %s; it is left alone", marker, v.id)
		return
	case marker == "" && (v.id == "" || !pathsHold(v.g, v.id)):
		v.wrong = problemf(v1alpha1.ReasonVolumeExistsWithoutMarker, "the pool has a volume of this name that Anthill did not make; it is left alone: choose another name, or remove that volume")
		return
	}
	if want, have := shapeOf(v.layout()), shapeIn(v.g); want != have {
		v.wrong = problemf(v1alpha1.ReasonLayoutDiffers, "the volume in the pool is %s, declared is %s", have, want)
		return
	}
	if size := v.g.SetSize(); len(v.g.Bricks)%size != 0 {
		v.wrong = problemf(v1alpha1.ReasonLayoutDiffers, "the volume in the pool has %d bricks, which are no whole sets of %d", len(v.g.Bricks), size)
	}
}

// pathsHold reports whether at least one brick lies below a folder named by the
// id: bricks may have been added, or replaced, by hand.
func pathsHold(g *Volume, id string) bool {
	for _, b := range g.Bricks {
		if _, ok := leafOf(b.Path, id); ok {
			return true
		}
	}
	return false
}

// leafOf splits <root>/<id>/<leaf>/brick.
func leafOf(path, id string) (brickRef, bool) {
	rest, ok := strings.CutSuffix(path, "/brick")
	if !ok {
		return brickRef{}, false
	}
	root, leaf, ok := strings.Cut(rest, "/"+id+"/")
	if !ok || leaf == "" || strings.Contains(leaf, "/") {
		return brickRef{}, false
	}
	return brickRef{root: root, leaf: leaf}, true
}

type brickRef struct{ root, leaf string }

// generation of a brick's folder; it grows when a brick is made anew in place.
const generation = 1

func leaf(set, position int) string {
	return strconv.Itoa(set) + "-" + strconv.Itoa(position) + "-" + strconv.Itoa(generation)
}

// A shape is what a volume is but for its number of sets.
type shape struct{ replica, arbiter, disperse, redundancy int }

func shapeOf(l *v1alpha1.VolumeLayout) shape {
	switch l.Kind() {
	case v1alpha1.LayoutReplicate:
		return shape{replica: l.BricksPerSet(), arbiter: int(l.Replicate.Arbiter)}
	case v1alpha1.LayoutDisperse:
		return shape{replica: 1, disperse: l.BricksPerSet(), redundancy: int(l.Disperse.Redundancy)}
	}
	return shape{replica: 1}
}

func shapeIn(g *Volume) shape {
	return shape{replica: max(g.Replica, 1), arbiter: g.Arbiter, disperse: g.Disperse, redundancy: g.Redundancy}
}

func (s shape) String() string {
	switch {
	case s.disperse > 0:
		return fmt.Sprintf("disperse %d + %d", s.disperse-s.redundancy, s.redundancy)
	case s.arbiter > 0:
		return fmt.Sprintf("replicate %d + %d", s.replica-s.arbiter, s.arbiter)
	case s.replica > 1:
		return fmt.Sprintf("replicate %d", s.replica)
	}
	return "distribute"
}

// quorum is how many bricks of a set must serve for clients to read and write.
func (s shape) quorum() int {
	switch {
	case s.disperse > 0:
		return s.disperse - s.redundancy
	case s.replica > 2:
		return s.replica/2 + 1
	}
	return 1
}
