package executor

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// An outcome is one commit with the intent that follows, unless looking takes
// long: who dies during the next look has got a step further all the same.
func TestOutcomesDoNotWaitForSlowLooks(t *testing.T) {
	cases := map[string]struct {
		reason string
		look   time.Duration
		want   string // the last event while the next step is looked at
	}{
		"Quick": {"the outcome waits for the next intent", slowLook / 2, "step.started:a"},
		"Slow":  {"the outcome is written before the next look", 2 * slowLook, "step.succeeded:a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer func() { r.stop() }()
				look := func(id string) (Observation, error) {
					time.Sleep(c.look)
					if r.w.done[id] {
						return Observation{Verdict: Done}, nil
					}
					return Observation{Verdict: NotDone}, nil
				}
				next := make(chan struct{})
				first := sync.OnceFunc(func() { close(next); time.Sleep(time.Minute) })
				r.w.probe["a"] = func() (Observation, error) { return look("a") }
				r.w.probe["b"] = func() (Observation, error) { first(); return look("b") }
				id := r.plan(nil, nil, step("a", "do@1", journal.Pivot), step("b", "do@1", journal.Retriable))
				<-next
				if story := r.story(id); !strings.HasSuffix(story, c.want) {
					t.Errorf("%s: %s", c.reason, story)
				}
				r.awaitState(id, view.Completed)
			})
		})
	}
}
