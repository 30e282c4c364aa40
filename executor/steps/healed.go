package steps

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// healed is the heal gate as a wait: nothing stands against taking the node
// away, several polls in a row. Zero right after a change proves nothing: what
// is to be healed is not known yet (F2, LAB-11).
type healed struct{ base }

// The polls of a streak are counted in the receipt, so that it goes on after the
// operator was replaced; one that was interrupted for long does not.
const (
	healedPolls  = 3
	healedApart  = time.Second
	healedWithin = time.Minute
)

type healStreak struct {
	Clean int   `json:"clean"`
	At    int64 `json:"at,omitempty"` // of the last poll, nanoseconds
}

// Probe is one poll.
func (b healed) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.HealedParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	b.w.Changed(t.Scope()) // each poll sees the servers anew
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	why, err := b.unhealed(ctx, t, s, healQuestion{node: p.Node, uuid: p.UUID, without: p.Without})
	if class, _ := executor.ClassOf(err, false); err != nil {
		if class != executor.Transient {
			return executor.Observation{}, err
		}
		why = err.Error() // who cannot look has not seen that it is healed
	}
	var was healStreak
	if len(t.Step.Receipt) > 0 {
		_ = json.Unmarshal(t.Step.Receipt, &was) // else it begins again
	}
	is := was.next(why == "", t.Now)
	receipt, err := json.Marshal(is)
	if err != nil {
		return executor.Observation{}, err
	}
	switch {
	case why != "":
		return executor.Observation{Verdict: executor.InProgress, Message: why, Receipt: receipt}, nil
	case is.Clean < healedPolls:
		return executor.Observation{Verdict: executor.InProgress, Message: "nothing waits to be healed; looking again", Receipt: receipt}, nil
	}
	return executor.Observation{Verdict: executor.Done, Message: "nothing waits to be healed", Receipt: receipt}, nil
}

// next is the streak after one more poll.
func (s healStreak) next(clean bool, now time.Time) healStreak {
	since := now.Sub(time.Unix(0, s.At))
	switch {
	case !clean:
		return healStreak{}
	case s.Clean == 0 || since > healedWithin || since < 0:
		return healStreak{Clean: 1, At: now.UnixNano()}
	case since < healedApart:
		return s // too soon to be another one
	}
	return healStreak{Clean: s.Clean + 1, At: now.UnixNano()}
}
