package planner

import (
	"testing"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// Operations that completed for nothing are counted by tenure: a restart is how
// a person lets them be tried again.
func TestRepeatsAreOfThisEpoch(t *testing.T) {
	op := func(intent string, in journal.Epoch, state view.OpState) view.Op {
		return view.Op{State: state, EndedIn: in, Plan: journal.Plan{Intent: intent}}
	}
	ended := []view.Op{
		op("a", 2, view.Completed), op("a", 2, view.Superseded), op("b", 2, view.Completed), op("a", 1, view.Completed), op("a", 1, view.Completed),
	}
	cases := map[string]struct {
		reason string
		epoch  journal.Epoch
		times  int
	}{
		"This":    {"what completed in this epoch counts", 2, 1},
		"Earlier": {"so it was in the one before", 1, 2},
		"Next":    {"a restart begins anew", 3, 0},
		"Untold":  {"without epochs all are one", 0, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCycle(&Snapshot{Epoch: tc.epoch, Ended: ended})
			if _, times := c.repeats("a"); times != tc.times {
				t.Errorf("%s: counted %d, want %d", tc.reason, times, tc.times)
			}
		})
	}
}
