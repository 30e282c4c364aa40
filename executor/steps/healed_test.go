package steps

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

func TestHealStreak(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	cases := map[string]struct {
		reason string
		polls  []int // seconds; negative: not clean
		want   int
	}{
		"InARow":      {"one after the other", []int{1, 3, 5}, 3},
		"OneBad":      {"a poll that is not clean ends it", []int{1, 3, -4, 5}, 1},
		"BackToBack":  {"looks at the same moment are one", []int{1, 1, 1, 1}, 1},
		"Interrupted": {"nobody looked for long", []int{1, 3, 100}, 1},
		"BadAtOnce":   {"nothing is known yet", []int{-1}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s healStreak
			for _, p := range tc.polls {
				s = s.next(p > 0, at(max(p, -p)))
			}
			if s.Clean != tc.want {
				t.Errorf("%s: %d polls count, want %d", tc.reason, s.Clean, tc.want)
			}
		})
	}
}

// A brick that is away is told of by its name alone, and one of the same path on
// another server is another one.
func TestHealOf(t *testing.T) {
	told := []gluster.HealBrick{
		{Brick: gluster.Brick{Host: "a", Path: "/b", PeerUUID: "u1"}, Status: "one"},
		{Brick: gluster.Brick{Host: "b", Path: "/b"}, Status: "two"},
	}
	cases := map[string]struct {
		reason string
		brick  planner.Brick
		want   string
		ok     bool
	}{
		"ByUUID":  {"whatever its name", planner.Brick{PeerUUID: "u1", Host: "other", Path: "/b"}, "one", true},
		"ByName":  {"it is away", planner.Brick{PeerUUID: "u2", Host: "b", Path: "/b"}, "two", true},
		"Unknown": {"nothing is told of it", planner.Brick{PeerUUID: "u3", Host: "c", Path: "/b"}, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, ok := healOf(told, tc.brick)
			if d := cmp.Diff(tc.want, h.Status); d != "" || ok != tc.ok {
				t.Errorf("%s: found %v: %s", tc.reason, ok, d)
			}
		})
	}
}
