package main

import (
	"path/filepath"
	"testing"

	"github.com/gluster/anthill/planner"
)

// The plans that are run must be those of the real planner, whole.
func TestStepPlans(t *testing.T) {
	plans, err := stepPlans()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{planner.KindJoinNode: 2, planner.KindCreateVolume: 5, planner.KindAddBrick: 5}
	for _, p := range plans {
		if len(p.Steps) != want[p.Kind] {
			t.Errorf("%s has %d steps, want %d", p.Kind, len(p.Steps), want[p.Kind])
		}
	}
	if len(plans) != len(want) {
		t.Errorf("%d plans, want %d", len(plans), len(want))
	}
}

func TestRunPlan(t *testing.T) {
	plans, err := stepPlans()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		commits, bytes, err := runPlan(t.Context(), filepath.Join(t.TempDir(), "journal.db"), p)
		if err != nil {
			t.Fatal(err)
		}
		if commits <= 0 || commits > 1 || bytes < 100 {
			t.Errorf("%s: %v commits and %v bytes a step", p.Kind, commits, bytes)
		}
	}
}

// A pool that is made for planning must be one that the planner has nothing to
// do for.
func TestPlannedPool(t *testing.T) {
	p, err := plannedPool(60)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(planner.Plan(p.all).Plan); n != 6 {
		t.Errorf("%d plans for a pool without its volumes, want 6", n)
	}
	if n := len(planner.Plan(p.idle).Plan); n != 0 {
		t.Errorf("%d plans for a pool at rest", n)
	}
}
