package planner

import (
	"fmt"
	"maps"
	"slices"
)

// Differ says how two servers' views of the pool's volumes differ: the first
// difference in a fixed order, as one line; empty if they agree. Peers agreeing
// that they are connected proves nothing of that (LAB-5).
func Differ(a, b *PoolView) string {
	names := map[string]bool{}
	for _, v := range a.Volumes {
		names[v.Name] = true
	}
	for _, v := range b.Volumes {
		names[v.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		va, oka := a.Volume(name)
		vb, okb := b.Volume(name)
		if !oka || !okb {
			return fmt.Sprintf("volume %s is known to only one of them", name)
		}
		if d := differVolume(va, vb); d != "" {
			return fmt.Sprintf("volume %s: %s", name, d)
		}
	}
	if d := differMap(a.Options, b.Options); d != "" {
		return "cluster options: " + d
	}
	return ""
}

func differVolume(a, b Volume) string {
	switch {
	case a.ID != b.ID:
		return fmt.Sprintf("ids %s and %s", a.ID, b.ID)
	case a.Started != b.Started:
		return "started for only one of them"
	case len(a.Bricks) != len(b.Bricks):
		return fmt.Sprintf("%d and %d bricks", len(a.Bricks), len(b.Bricks))
	case a.Replica != b.Replica || a.Arbiter != b.Arbiter || a.Disperse != b.Disperse || a.Redundancy != b.Redundancy:
		return "different layouts"
	}
	for i := range a.Bricks {
		if a.Bricks[i].PeerUUID != b.Bricks[i].PeerUUID || a.Bricks[i].Path != b.Bricks[i].Path {
			return fmt.Sprintf("brick %d is %s:%s and %s:%s", i+1, a.Bricks[i].Host, a.Bricks[i].Path, b.Bricks[i].Host, b.Bricks[i].Path)
		}
	}
	if d := differMap(a.Options, b.Options); d != "" {
		return "option " + d
	}
	return ""
}

func differMap(a, b map[string]string) string {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if v, ok := b[k]; !ok || v != a[k] {
			return fmt.Sprintf("%s is %q and %q", k, a[k], b[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			return fmt.Sprintf("%s is %q and %q", k, "", b[k])
		}
	}
	return ""
}
