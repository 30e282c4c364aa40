package steps

import (
	"fmt"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// volumeEverywhere is the volume as all members see it. found is false when no
// member knows it. An error of class Transient says that they do not agree, or
// cannot all be asked.
func (s *sight) volumeEverywhere(pool, name string) (vol planner.Volume, found bool, err error) {
	views, err := s.everyView(pool)
	if err != nil {
		return vol, false, err
	}
	nodes := sortedKeys(views)
	vol, found = views[nodes[0]].Volume(name)
	for _, n := range nodes[1:] {
		if d := planner.Differ(only(views[nodes[0]], name), only(views[n], name)); d != "" {
			return vol, false, executor.Errorf(executor.Transient, "ViewsDiffer", "%s and %s do not agree: %s", nodes[0], n, d)
		}
	}
	return vol, found, nil
}

// only is a view of just one volume.
func only(v *planner.PoolView, name string) *planner.PoolView {
	out := &planner.PoolView{UUID: v.UUID}
	if vol, ok := v.Volume(name); ok {
		out.Volumes = []planner.Volume{vol}
	}
	return out
}

// ours says why the volume is not the one the parameters mean; empty if it is.
// It is recognised by its marker or, before the marker is set, by brick paths
// that contain its id.
func ours(vol planner.Volume, volumeID string, bricks []planner.BrickRef) string {
	if m := vol.Options[planner.Marker]; m != "" {
		if m != volumeID {
			return fmt.Sprintf("volume %s carries the marker %s, not %s", vol.Name, m, volumeID)
		}
		return ""
	}
	if len(bricks) == 0 || !sameBricks(vol.Bricks, bricks, volumeID) {
		return fmt.Sprintf("volume %s was not made by Anthill", vol.Name)
	}
	return ""
}

// sameBricks compares by (peer UUID, path) and slot.
func sameBricks(have []planner.Brick, want []planner.BrickRef, volumeID string) bool {
	if len(have) != len(want) {
		return false
	}
	for i := range have {
		if have[i].PeerUUID != want[i].UUID || have[i].Path != want[i].Path(volumeID) {
			return false
		}
	}
	return true
}

// origin chooses where a volume command is sent: any member will do; the first
// by name keeps the history in one place.
func origin(views map[string]*planner.PoolView) string { return sortedKeys(views)[0] }
