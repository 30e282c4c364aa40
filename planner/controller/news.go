package controller

import (
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// A newsItem is one Kubernetes event.
type newsItem struct{ kind, reason, note string }

// reached is what people are told when an operation of a kind has reached its
// goal, besides that it has.
var reached = map[string]struct{ reason, text string }{
	planner.KindBootstrapPool: {v1alpha1.EventPoolCreated, "the pool has its first server"},
	planner.KindJoinNode:      {v1alpha1.EventNodeJoined, "the server is a peer of the pool"},
	planner.KindCreateVolume:  {v1alpha1.EventVolumeCreated, "the volume was created and serves"},
	planner.KindAddBrick:      {v1alpha1.EventVolumeExpanded, "the volume has more bricks"},
	planner.KindDeleteVolume:  {v1alpha1.EventVolumeDeleted, "the volume was deleted; its brick directories are retired, not erased"},
	planner.KindSetOptions:    {v1alpha1.EventOptionsChanged, "options were changed"},
}

// newsOf is what an event of an operation means to people; nothing for most.
// What it says comes from the event and the plan, not from what became of the
// operation since.
func newsOf(ev *journal.Event, op *view.Op) []newsItem {
	what := fmt.Sprintf("%s of %s (operation %s)", op.Plan.Kind, op.Plan.Target, op.ID)
	switch ev.Type {
	case journal.OpPlanned:
		return []newsItem{{normal, v1alpha1.EventOperationPlanned, what + ": " + op.Plan.Reason.Difference}}
	case journal.OpCompleted:
		return completed(ev, op, what)
	case journal.OpSuspended:
		var s journal.Suspended
		decode(ev, &s)
		note := fmt.Sprintf("%s is suspended, %s: %s", what, s.Cause, s.Message)
		if s.Next != "" {
			note += "; to go on: " + s.Next
		}
		return []newsItem{{warning, v1alpha1.EventOperationSuspended, note}}
	case journal.OpFailed:
		var f journal.Failure
		decode(ev, &f)
		return []newsItem{{warning, v1alpha1.EventOperationEnded, what + " failed: " + f.Error}}
	case journal.OpCancelled, journal.OpSuperseded, journal.OpAbandoned:
		var d journal.Decision
		decode(ev, &d)
		verb := map[journal.Type]string{journal.OpCancelled: "was cancelled", journal.OpSuperseded: "was superseded", journal.OpAbandoned: "was abandoned"}[ev.Type]
		note := what + " " + verb
		if d.By != (journal.OpID{}) {
			note += " by operation " + d.By.String()
		}
		if d.Reason != "" {
			note += ": " + d.Reason
		}
		return []newsItem{{warning, v1alpha1.EventOperationEnded, note}}
	}
	return nil
}

func completed(ev *journal.Event, op *view.Op, what string) []newsItem {
	var done journal.Completed
	decode(ev, &done)
	note := what + " completed"
	if done.Message != "" {
		note += ": " + done.Message
	}
	out := []newsItem{{normal, v1alpha1.EventOperationCompleted, note}}
	if r, ok := reached[op.Plan.Kind]; ok {
		out = append(out, newsItem{normal, r.reason, fmt.Sprintf("%s: %s (operation %s)", op.Plan.Target, r.text, op.ID)})
	}
	if done.Warning != "" {
		out = append(out, newsItem{warning, done.Warning, note})
	}
	return out
}

// decode reads a payload. One that cannot be read leaves v empty: the event is
// told with less, which is better than not at all.
func decode(ev *journal.Event, v any) {
	if len(ev.Data) > 0 {
		_ = json.Unmarshal(ev.Data, v)
	}
}
