package placement

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func drawDirs(t *rapid.T, prefix string, nodes int) []Dir {
	var out []Dir
	for i := range nodes {
		zone := fmt.Sprintf("z%d", rapid.IntRange(0, 4).Draw(t, "zone"))
		for d := range rapid.IntRange(1, 3).Draw(t, "dirs") {
			out = append(out, Dir{
				Node: fmt.Sprintf("%s%d", prefix, i), Zone: zone, Root: fmt.Sprintf("/%d", d),
				SizeBytes: rapid.Uint64Range(0, 5).Draw(t, "size") << 30,
				Bricks:    rapid.IntRange(0, 3).Draw(t, "bricks"),
				Arbiters:  rapid.IntRange(0, 2).Draw(t, "arbiters"),
			})
		}
	}
	return out
}

func drawRequest(t *rapid.T) Request {
	r := Request{
		Dirs:    drawDirs(t, "n", rapid.IntRange(0, 9).Draw(t, "nodes")),
		Sets:    rapid.IntRange(0, 6).Draw(t, "sets"),
		SetSize: rapid.IntRange(1, 5).Draw(t, "size"),
	}
	if r.SetSize > 1 {
		r.Arbiters = rapid.IntRange(0, 1).Draw(t, "arbiters")
	}
	return r
}

// Whatever is placed keeps the copies of a set apart: on different nodes, and
// over zones as evenly as the number of nodes in each allows.
func TestSetsAreSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		inZone := map[string]map[string]bool{}
		zoneOf := map[string]string{}
		known := map[Location]bool{}
		for _, d := range r.Dirs {
			if inZone[d.Zone] == nil {
				inZone[d.Zone] = map[string]bool{}
			}
			inZone[d.Zone][d.Node], zoneOf[d.Node], known[Location{d.Node, d.Root}] = true, d.Zone, true
		}
		sets, err := Place(r)
		if r.Sets > 0 && len(zoneOf) < r.SetSize {
			if !IsNotEnoughServers(err) {
				t.Fatalf("%d nodes for sets of %d: got %v, %v", len(zoneOf), r.SetSize, sets, err)
			}
			return
		}
		if err != nil || len(sets) != r.Sets {
			t.Fatalf("got %d sets, %v; want %d", len(sets), err, r.Sets)
		}
		for _, set := range sets {
			nodes, zones := map[string]bool{}, map[string]int{}
			for _, l := range set {
				if !known[l] {
					t.Fatalf("brick on %v, which was not offered", l)
				}
				nodes[l.Node] = true
				zones[zoneOf[l.Node]]++
			}
			if len(set) != r.SetSize || len(nodes) != r.SetSize {
				t.Fatalf("set %v of %d bricks is on %d nodes", set, r.SetSize, len(nodes))
			}
			if len(inZone) >= r.SetSize && len(zones) != r.SetSize {
				t.Fatalf("set %v shares zones although there are %d", set, len(inZone))
			}
			most := slices.Max(slices.Collect(maps.Values(zones)))
			for z, members := range inZone {
				if zones[z] < most-1 && zones[z] < len(members) {
					t.Fatalf("set %v: zone %s has %d bricks on %d nodes while another has %d", set, z, zones[z], len(members), most)
				}
			}
		}
	})
}

// The order in which directories are given means nothing.
func TestOrderMeansNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		want, wantErr := Place(r)
		other := r
		other.Dirs = rapid.Permutation(r.Dirs).Draw(t, "order")
		got, err := Place(other)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("got error %v, then %v", wantErr, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order gave another placement (-first +other):\n%s", diff)
		}
	})
}

// Growing the pool and the volume leaves every brick where it was.
func TestNothingMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		before, err := Place(r)
		if err != nil {
			return
		}
		r.Existing = before
		r.Dirs = append(r.Dirs, drawDirs(t, "m", rapid.IntRange(1, 4).Draw(t, "more nodes"))...)
		again, err := Place(r)
		if err != nil || !cmp.Equal(before, again, cmpopts.EquateEmpty()) {
			t.Fatalf("more nodes, same volume: got %v, %v; want %v", again, err, before)
		}
		r.Sets += rapid.IntRange(0, 3).Draw(t, "more sets")
		after, err := Place(r)
		if err != nil {
			if IsNotEnoughServers(err) && len(before) == 0 {
				return // with no set to place the request had needed no node
			}
			t.Fatal(err)
		}
		if !cmp.Equal(before, after[:len(before)], cmpopts.EquateEmpty()) {
			t.Fatalf("bricks moved:\nbefore %v\nafter  %v", before, after)
		}
	})
}

// Equal directories differ by at most one brick, as long as zones do not force
// more.
func TestEqualDirsFillEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(3, 8).Draw(t, "nodes")
		r := Request{Sets: rapid.IntRange(1, 9).Draw(t, "sets"), SetSize: rapid.IntRange(1, 3).Draw(t, "size")}
		for i := range nodes {
			r.Dirs = append(r.Dirs, Dir{Node: fmt.Sprintf("n%d", i), Zone: fmt.Sprintf("z%d", i), Root: "/1", SizeBytes: 1 << 40})
		}
		sets, err := Place(r)
		if err != nil {
			t.Fatal(err)
		}
		load := map[string]int{}
		for _, d := range r.Dirs {
			load[d.Node] = 0
		}
		for _, s := range sets {
			for _, l := range s {
				load[l.Node]++
			}
		}
		counts := slices.Sorted(maps.Values(load))
		if counts[len(counts)-1]-counts[0] > 1 {
			t.Fatalf("bricks per node: %v", load)
		}
	})
}
