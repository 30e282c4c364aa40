package executor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A process that is to end waits for the command it has sent, records what
// became of it, and begins nothing new; but not for ever.
func TestGrace(t *testing.T) {
	cases := map[string]struct {
		reason string
		takes  time.Duration
		want   string // the last event
	}{
		"Soon": {"the outcome is known when the process ends", 3 * time.Second, "step.succeeded:a"},
		"Late": {"the process does not wait for ever: the next one looks", time.Hour, "step.started:a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				acts := make(chan struct{})
				r.w.slow["a"] = c.takes
				r.w.act["a"] = func(n int) error {
					if n == 1 {
						close(acts)
					}
					r.w.done["a"] = n > 1 || c.takes < graceDefault
					return nil
				}
				id := r.plan(nil, nil, step("a", "slow@1", journal.Pivot), step("b", "do@1", journal.Retriable))
				<-acts
				begun := time.Now()
				r.end()
				if took := time.Since(begun); took > graceDefault {
					t.Errorf("ending took %v", took)
				}
				story := r.story(id)
				if !strings.HasSuffix(story, c.want) {
					t.Errorf("%s: %s", c.reason, story)
				}
				if err := r.j.Close(); err != nil {
					t.Fatal(err)
				}
				r.w.slow["a"] = 0
				r.open()
				defer func() { r.stop() }()
				r.awaitState(id, view.Completed)
			})
		})
	}
}
