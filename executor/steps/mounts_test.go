package steps

import (
	"testing"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

func TestRooted(t *testing.T) {
	at := func(dir string, registered, same bool) planner.Mount {
		return planner.Mount{Dir: dir, Registered: registered, Same: same}
	}
	cases := map[string]struct {
		reason string
		mounts []planner.Mount
		held   bool
	}{
		"Same":         {reason: "the registered file system is there", mounts: []planner.Mount{at("/b1", true, true)}},
		"Other":        {"another one is there", []planner.Mount{at("/b1", true, false)}, true},
		"OtherElse":    {reason: "a directory without a planned brick does not matter", mounts: []planner.Mount{at("/b1", true, true), at("/b2", true, false)}},
		"NameIsPrefix": {reason: "/b is not what /b1 is in", mounts: []planner.Mount{at("/b", true, false), at("/b1", true, true)}},
		"Unregistered": {reason: "the gate refuses what was never registered", mounts: []planner.Mount{at("/b1", false, false)}},
	}
	p := planner.BricksParams{VolumeID: "id", Bricks: []planner.BrickRef{{Node: "n1", Root: "/b1", Leaf: "0-0-1"}}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &sight{obs: planner.Observed{Servers: map[string]planner.Server{"n1": {Mounts: tc.mounts}}}}
			err := s.rooted(p)
			if class, reason := executor.ClassOf(err, false); (err != nil) != tc.held || tc.held && (class != executor.Transient || reason != "BrickDirNotMounted") {
				t.Errorf("%s: got %v, want held back %v", tc.reason, err, tc.held)
			}
		})
	}
}

// A disk that goes away after the plan holds the operation back for as long as
// it is away; that is no failure, which would park it in the end.
func TestUnmountedDirectoryHoldsBack(t *testing.T) {
	b := newBox(t, 5, 3)
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	for i := 1; i <= 3; i++ {
		b.addNode(i)
	}
	b.settle(400)
	b.stop()
	b.addVolume(1)
	b.cycle()
	for _, dir := range []string{"/bricks/b1", "/bricks/b2"} {
		if err := b.pool.Mount("s2", dir, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.j.Close(); err != nil {
		t.Fatal(err)
	}
	b.open()
	begun := b.pool.Now()
	for b.pool.Now().Sub(begun) < 3*time.Hour {
		time.Sleep(time.Millisecond) // the engine's turns move the pool's time
	}
	now, err := b.state.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(now.Open) != 1 {
		t.Fatalf("%d operations are open, want one:\n%s", len(now.Open), b.account())
	}
	op := now.Open[0]
	if note := b.e.Notes()[op.ID]; op.State != view.Planned || op.Steps[0].Failures > 0 || note.Reason != "BrickDirNotMounted" {
		t.Errorf("after hours it is %s with %d failures, waiting for %+v; want it planned, none, for the directory", op.State, op.Steps[0].Failures, note)
	}
	for _, dir := range []string{"/bricks/b1", "/bricks/b2"} {
		if err := b.pool.Mount("s2", dir, true); err != nil {
			t.Fatal(err)
		}
	}
	b.settle(400)
	if vol := b.volume(); len(vol.Bricks) != 3 || !vol.Started {
		t.Errorf("volume %+v; want three bricks, started", vol)
	}
}
