package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/journal"
)

// An account is where the time of one operation went, and what it took.
type account struct {
	wall        time.Duration // from op.planned to op.completed
	commands    time.Duration // in which a gluster command of it ran, by the gates' receipts
	transitions time.Duration // in which what a command had begun was waited for
	gluster     time.Duration // in which any gluster command ran on any server, those that look included
	changes     int           // commands that its servers' glusterds were given and that change something
	looks       int           // get-state commands
	steps       int
	bytes       int // of its events, as stored
}

// overhead is the part of the wall time that was neither gluster's nor spent
// waiting for what it had begun, in percent.
func (a account) overhead() float64 {
	return 100 * float64(a.wall-a.commands-a.transitions) / float64(a.wall)
}

// outside is the part of the wall time in which no gluster command ran for us at
// all and none was waited for, in percent. Looks run on all servers at once.
func (a account) outside() float64 {
	return 100 * float64(max(0, a.wall-a.gluster-a.transitions)) / float64(a.wall)
}

// A span is a time from one moment to another.
type span struct{ from, to time.Time }

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// accountOf adds up an operation that has completed. receipts are those of its
// attempts, by attempt id; history is what all its servers' glusterds were given;
// runs are when gluster commands ran there.
func accountOf(events []journal.Event, receipts map[string]gate.Receipt, history []given, runs []span) (account, error) {
	a := account{}
	whole, err := wholeOf(events)
	if err != nil {
		return a, err
	}
	a.wall = whole.length()
	var plan journal.Plan
	if err := json.Unmarshal(events[0].Data, &plan); err != nil {
		return a, fmt.Errorf("reading the plan of operation %s: %w", events[0].Op, err)
	}
	a.steps = len(plan.Steps)
	for i := range events {
		a.bytes += events[i].StoredSize()
		took, err := commandOf(&events[i], receipts)
		if err != nil {
			return a, err
		}
		a.commands += took
	}
	a.transitions = waited(events, plan)
	a.gluster = covered(runs, whole)
	for _, g := range history {
		switch {
		case g.at.Before(whole.from) || g.at.After(whole.to):
		case strings.HasPrefix(g.text, "get-state"):
			a.looks++
		default:
			a.changes++
		}
	}
	return a, nil
}

func wholeOf(events []journal.Event) (span, error) {
	if len(events) == 0 || events[0].Type != journal.OpPlanned {
		return span{}, errors.New("an operation without a plan")
	}
	last := events[len(events)-1]
	if last.Type != journal.OpCompleted {
		return span{}, fmt.Errorf("operation %s ended with %s", last.Op, last.Type)
	}
	return span{from: time.Unix(0, events[0].Time), to: time.Unix(0, last.Time)}, nil
}

// commandOf is how long the gluster command of an attempt ran, if it has one.
func commandOf(ev *journal.Event, receipts map[string]gate.Receipt) (time.Duration, error) {
	if ev.Type != journal.StepStarted {
		return 0, nil
	}
	var s journal.Started
	if err := json.Unmarshal(ev.Data, &s); err != nil {
		return 0, fmt.Errorf("reading the intent of step %s: %w", ev.Step, err)
	}
	if len(s.Argv) == 0 {
		return 0, nil
	}
	r, ok := receipts[s.AttemptID]
	if !ok || r.Result == nil {
		return 0, fmt.Errorf("attempt %s: no gate has a receipt that is complete", s.AttemptID)
	}
	return r.Result.Elapsed, nil
}

// waited adds up the waits of an operation.
func waited(events []journal.Event, plan journal.Plan) time.Duration {
	var sum time.Duration
	for _, s := range waits(events, plan) {
		sum += s.length()
	}
	return sum
}

// waits are the waits that the journal has of an operation: a step that only
// waits, from when it was found not to be so yet, and an effect that was seen
// under way, from its receipt; each to the outcome.
func waits(events []journal.Event, plan journal.Plan) []span {
	only := map[string]bool{}
	for _, s := range plan.Steps {
		only[s.ID] = s.Stage == journal.Waiting
	}
	var out []span
	since := map[string]int64{}
	for _, ev := range events {
		switch ev.Type {
		case journal.StepStarted:
			if only[ev.Step] {
				since[ev.Step] = ev.Time
			}
		case journal.StepReceipt:
			if since[ev.Step] == 0 {
				since[ev.Step] = ev.Time
			}
		case journal.StepSucceeded, journal.StepFailed:
			if from := since[ev.Step]; from != 0 {
				out = append(out, span{time.Unix(0, from), time.Unix(0, ev.Time)})
			}
			delete(since, ev.Step)
		}
	}
	return out
}

// covered is how much of whole lies in any of the spans.
func covered(spans []span, whole span) time.Duration {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var sum time.Duration
	end := whole.from
	for _, s := range spans {
		if s.from.Before(end) {
			s.from = end
		}
		if s.to.After(whole.to) {
			s.to = whole.to
		}
		if s.to.After(s.from) {
			sum += s.length()
			end = s.to
		}
	}
	return sum
}

// receiptsOf reads the receipts of an operation's attempts on all servers; of all
// operations if op is zero.
func receiptsOf(op journal.OpID, servers []place) (map[string]gate.Receipt, error) {
	pattern := "*.json"
	if op != (journal.OpID{}) {
		pattern = op.String() + ".*.json"
	}
	out := map[string]gate.Receipt{}
	for _, s := range servers {
		files, err := filepath.Glob(filepath.Join(s.root, gate.StateDir, "receipts", pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				return nil, fmt.Errorf("reading a receipt of %s: %w", s.name, err)
			}
			var r gate.Receipt
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, fmt.Errorf("reading receipt %q of %s: %w", filepath.Base(f), s.name, err)
			}
			out[r.Attempt] = r
		}
	}
	return out, nil
}
