package narration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gluster/anthill/journal"
)

// A Source reads a journal from an event on: it calls each for every event, as
// they come, until ctx ends or the operator does.
type Source func(ctx context.Context, from journal.Seq, each func(journal.Event) error) error

// A Follower tells what the journal records, as it happens.
type Follower struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	next  journal.Seq
	plans map[journal.OpID]journal.Plan
	waits []wait
}

type wait struct {
	typ, step string
	hit       chan struct{}
}

// After has seen the journal up to an event: Again goes on behind it.
func After(seq journal.Seq) *Follower {
	done := make(chan struct{})
	close(done)
	return &Follower{cancel: func() {}, done: done, plans: map[journal.OpID]journal.Plan{}, next: seq + 1}
}

// Again follows the journal of a newly started operator from where f, which may
// be nil, ended.
func (f *Follower) Again(ctx context.Context, t *Teller, source Source) *Follower {
	g := &Follower{done: make(chan struct{}), plans: map[journal.OpID]journal.Plan{}, next: 1}
	if f != nil {
		f.Stop()
		g.next, g.plans = f.next, f.plans
	}
	ctx, g.cancel = context.WithCancel(ctx)
	go func() {
		defer close(g.done)
		err := source(ctx, g.next, func(ev journal.Event) error {
			g.event(t, ev)
			return nil
		})
		if err != nil && ctx.Err() == nil {
			t.Detailf("following the journal: %v", err)
		}
	}()
	return g
}

// Stop ends the following. Nil is not followed.
func (f *Follower) Stop() {
	if f == nil {
		return
	}
	f.cancel()
	<-f.done
}

// When returns a function that waits for the next event of a type and step.
func (f *Follower) When(typ, step string) func(context.Context, time.Duration) error {
	w := wait{typ: typ, step: step, hit: make(chan struct{})}
	f.mu.Lock()
	f.waits = append(f.waits, w)
	f.mu.Unlock()
	return func(ctx context.Context, max time.Duration) error {
		select {
		case <-w.hit:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max):
			return fmt.Errorf("waiting %v for %s of step %s: it was not recorded", max, typ, step)
		}
	}
}

func (f *Follower) event(t *Teller, ev journal.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = ev.Seq + 1
	if ev.Type == journal.OpPlanned {
		var p journal.Plan
		if json.Unmarshal(ev.Data, &p) == nil {
			f.plans[ev.Op] = p
		}
	}
	if text := f.text(ev); text != "" {
		t.Detailf("%s", text)
	}
	f.waits = deleteHit(f.waits, ev)
}

func deleteHit(waits []wait, ev journal.Event) []wait {
	var rest []wait
	for _, w := range waits {
		if string(ev.Type) == w.typ && (ev.Step == w.step || strings.HasPrefix(ev.Step, w.step)) {
			close(w.hit)
			continue
		}
		rest = append(rest, w)
	}
	return rest
}

// text is what an event means to somebody who watches; empty: nothing.
func (f *Follower) text(ev journal.Event) string {
	p := f.plans[ev.Op]
	what := p.Kind + " " + p.Target
	var data struct {
		Argv       []string `json:"argv"`
		Originator string   `json:"originator"`
		Message    string   `json:"message"`
		Error      string   `json:"error"`
		Cause      string   `json:"cause"`
		Adopted    bool     `json:"adopted"`
	}
	_ = json.Unmarshal(ev.Data, &data)
	switch ev.Type {
	case journal.OpPlanned:
		return fmt.Sprintf("planned   %s: %s", what, p.Reason.Difference)
	case journal.StepStarted:
		if len(data.Argv) > 0 {
			return fmt.Sprintf("doing     %s: %s (on %s)", what, ev.Step, data.Originator)
		}
		return fmt.Sprintf("doing     %s: %s", what, ev.Step)
	case journal.StepProgress:
		return fmt.Sprintf("waiting   %s: %s", what, data.Message)
	case journal.StepUnknown:
		return fmt.Sprintf("unknown   %s: %s: %s", what, ev.Step, data.Error)
	case journal.StepFailed:
		return fmt.Sprintf("again     %s: %s: %s", what, ev.Step, data.Error)
	case journal.StepSucceeded:
		if data.Adopted {
			return fmt.Sprintf("found     %s: %s: %s", what, ev.Step, data.Message)
		}
		return fmt.Sprintf("seen      %s: %s: %s", what, ev.Step, data.Message)
	case journal.OpCompleted:
		return "completed " + what
	case journal.OpSuspended:
		return fmt.Sprintf("parked    %s: %s: %s", what, data.Cause, data.Message)
	case journal.EpochOpened:
		return fmt.Sprintf("tenure    the operator opens epoch %d of its journal", ev.Epoch)
	}
	return ""
}
