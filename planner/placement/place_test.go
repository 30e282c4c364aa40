package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pools are written as "zone/node=root:sizeGiB+bricks", bricks optional.
func dirs(t *testing.T, specs ...string) []Dir {
	t.Helper()
	var out []Dir
	for _, s := range specs {
		var d Dir
		var gib uint64
		at, rest, _ := strings.Cut(s, "=")
		d.Zone, d.Node, _ = strings.Cut(at, "/")
		root, size, _ := strings.Cut(rest, ":")
		d.Root = root
		if _, err := fmt.Sscanf(size, "%d+%d", &gib, &d.Bricks); err != nil {
			t.Fatalf("directory %q: %v", s, err)
		}
		d.SizeBytes = gib << 30
		out = append(out, d)
	}
	return out
}

func show(sets [][]Location) []string {
	var out []string
	for _, s := range sets {
		var bricks []string
		for _, l := range s {
			bricks = append(bricks, l.Node+l.Root)
		}
		out = append(out, strings.Join(bricks, " "))
	}
	return out
}

func TestPlace(t *testing.T) {
	cases := map[string]struct {
		reason string
		req    Request
		want   []string
	}{
		"OnePerNode": {
			reason: "LAB-12: two directories of one node never carry two bricks of one set",
			req: Request{Sets: 1, SetSize: 3, Dirs: dirs(t,
				"a/n1=/1:100+0", "a/n1=/2:100+0", "a/n2=/1:10+0", "a/n3=/1:10+0")},
			want: []string{"n1/1 n2/1 n3/1"},
		},
		"OnePerZone": {
			reason: "R53: with enough zones no two bricks share one, however roomy its other nodes are",
			req: Request{Sets: 2, SetSize: 3, Dirs: dirs(t,
				"a/n1=/1:100+0", "a/n2=/1:100+0", "b/n3=/1:1+0", "c/n4=/1:1+0")},
			want: []string{"n1/1 n3/1 n4/1", "n2/1 n3/1 n4/1"},
		},
		"FewerZonesThanBricks": {
			reason: "three bricks over two zones: two and one, never three and none",
			req: Request{Sets: 1, SetSize: 3, Dirs: dirs(t,
				"a/n1=/1:100+0", "a/n2=/1:100+0", "a/n3=/1:100+0", "b/n4=/1:1+0")},
			want: []string{"n1/1 n4/1 n2/1"},
		},
		"SetsTakeTurns": {
			reason: "equal directories fill up evenly",
			req: Request{Sets: 2, SetSize: 3, Dirs: dirs(t,
				"a/n1=/1:10+0", "a/n1=/2:10+0", "b/n2=/1:10+0", "b/n2=/2:10+0", "c/n3=/1:10+0", "c/n3=/2:10+0")},
			want: []string{"n1/1 n2/1 n3/1", "n1/2 n2/2 n3/2"},
		},
		"NewSetGoesToNewNodes": {
			reason: "growing from three to six nodes: the second set uses the empty ones, the first stays",
			req: Request{Sets: 2, SetSize: 3,
				Existing: [][]Location{{{"n1", "/1"}, {"n2", "/1"}, {"n3", "/1"}}},
				Dirs: dirs(t, "a/n1=/1:10+1", "b/n2=/1:10+1", "c/n3=/1:10+1",
					"a/n4=/1:10+0", "b/n5=/1:10+0", "c/n6=/1:10+0")},
			want: []string{"n1/1 n2/1 n3/1", "n4/1 n5/1 n6/1"},
		},
		"SharedWithOtherVolumes": {
			reason: "a big directory with one brick still offers more than a small empty one",
			req:    Request{Sets: 1, SetSize: 1, Dirs: dirs(t, "a/n1=/1:100+1", "b/n2=/1:40+0")},
			want:   []string{"n1/1"},
		},
		"ArbiterLast": {
			reason: "the arbiter is the last brick and goes to the idlest node, not the roomiest",
			req: Request{Sets: 1, SetSize: 3, Arbiters: 1, Dirs: dirs(t,
				"a/n1=/1:90+2", "b/n2=/1:90+2", "c/n3=/1:50+2", "d/n4=/1:1+0")},
			want: []string{"n1/1 n2/1 n4/1"},
		},
		"ArbitersTakeNoShare": {
			reason: "a directory with arbiters offers as much room as before",
			req: Request{Sets: 1, SetSize: 1, Dirs: append(dirs(t, "a/n1=/1:10+0"),
				Dir{Node: "n2", Zone: "b", Root: "/1", SizeBytes: 11 << 30, Arbiters: 3})},
			want: []string{"n2/1"},
		},
		"ExistingWithoutDirectory": {
			reason: "a set on a node that is no candidate now is kept as it is",
			req: Request{Sets: 2, SetSize: 1, Existing: [][]Location{{{"gone", "/1"}}},
				Dirs: dirs(t, "a/n1=/1:10+0")},
			want: []string{"gone/1", "n1/1"},
		},
		"MoreThanWanted": {
			reason: "sets that exist are never taken away here, and need no node",
			req:    Request{Sets: 1, SetSize: 1, Existing: [][]Location{{{"n1", "/1"}}, {{"n2", "/1"}}}},
			want:   []string{"n1/1", "n2/1"},
		},
		"SizeUnknown": {
			reason: "a directory of unknown size is used when there is no other",
			req:    Request{Sets: 1, SetSize: 2, Dirs: dirs(t, "a/n1=/1:0+0", "b/n2=/1:1+0")},
			want:   []string{"n2/1 n1/1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Place(tc.req)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, show(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	many := make([]Exclusion, 10)
	for i := range many {
		many[i] = Exclusion{Node: fmt.Sprintf("x%d", 9-i), Why: "unreachable"}
	}
	cases := map[string]struct {
		reason    string
		req       Request
		want      string
		notEnough bool
	}{
		"TooFewNodes": {
			reason: "says how many are missing and which are there",
			req:    Request{Sets: 1, SetSize: 3, Dirs: dirs(t, "a/n2=/1:1+0", "b/n1=/1:1+0", "b/n1=/2:1+0")},
			want:   "a set needs 3 servers, each with a usable brick directory; there are 2 (n1, n2): 1 more needed", notEnough: true,
		},
		"TooFewInZones": {
			reason: "says where they are missing, and why others do not count",
			req: Request{Sets: 1, SetSize: 6, Dirs: dirs(t, "a/n1=/1:1+0"), Zones: []string{"b", "a"},
				Excluded: []Exclusion{{"n3", "unreachable"}, {"n2", "/1 is not mounted"}}},
			want: "a set needs 6 servers in zones a, b, each with a usable brick directory; there is 1 (n1): 5 more needed; " +
				"not usable are n2: /1 is not mounted, n3: unreachable", notEnough: true,
		},
		"None": {
			reason: "the list of what is not usable is bounded",
			req:    Request{Sets: 1, SetSize: 1, Excluded: many},
			want: "a set needs 1 server, each with a usable brick directory; there is none: 1 more needed; not usable are " +
				"x0: unreachable, x1: unreachable, x2: unreachable, x3: unreachable, x4: unreachable, x5: unreachable, x6: unreachable, x7: unreachable and 2 more", notEnough: true,
		},
		"NoLayout": {
			reason: "a set has at least one brick",
			req:    Request{Sets: 1},
			want:   "placing 1 sets of 0 bricks with 0 arbiters: no such layout",
		},
		"OnlyArbiters": {
			reason: "a set of arbiters holds nothing",
			req:    Request{Sets: 1, SetSize: 2, Arbiters: 2},
			want:   "placing 1 sets of 2 bricks with 2 arbiters: no such layout",
		},
		"TwoZones": {
			reason: "a node is in one zone",
			req:    Request{Sets: 1, SetSize: 1, Dirs: dirs(t, "b/n1=/1:1+0", "a/n1=/2:1+0")},
			want:   `placing bricks: node "n1" is said to be in zones "a" and "b"`,
		},
		"SameDirTwice": {
			reason: "one directory is one place",
			req:    Request{Sets: 1, SetSize: 1, Dirs: dirs(t, "a/n1=/1:1+0", "a/n1=/1:1+0")},
			want:   `placing bricks: directory "/1" of node "n1" is there twice`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sets, err := Place(tc.req)
			if fmt.Sprint(err) != tc.want || sets != nil {
				t.Errorf("%s:\n got %v, %v\nwant %s", tc.reason, sets, err, tc.want)
			}
			if got := IsNotEnoughServers(err); got != tc.notEnough {
				t.Errorf("%s: IsNotEnoughServers is %t, want %t", tc.reason, got, tc.notEnough)
			}
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	var r Request
	for i := range 1000 {
		for d := range 2 {
			r.Dirs = append(r.Dirs, Dir{Node: fmt.Sprintf("n%04d", i), Zone: fmt.Sprintf("z%d", i%7), Root: fmt.Sprintf("/%d", d), SizeBytes: 1 << 40})
		}
	}
	r.Sets, r.SetSize = 3333, 3
	for b.Loop() {
		if _, err := Place(r); err != nil {
			b.Fatal(err)
		}
	}
}
