package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gluster/anthill/journal"
)

// A follower prints what the journal records, as it happens.
type follower struct {
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

// again follows the journal of a newly started operator from where f ended.
func (f *follower) again(ctx context.Context, d *demo) *follower {
	g := &follower{done: make(chan struct{}), plans: map[journal.OpID]journal.Plan{}, next: 1}
	if f != nil {
		f.stop()
		g.next, g.plans = f.next, f.plans
	}
	ctx, g.cancel = context.WithCancel(ctx)
	go func() {
		defer close(g.done)
		c, err := journal.Dial(ctx, journal.SocketPath(d.rig.Operator.Journal()))
		if err != nil {
			d.detailf("following the journal: %v", err)
			return
		}
		defer c.Close()
		_ = c.Follow(ctx, g.next, func(ev journal.Event) error {
			g.event(d, ev)
			return nil
		})
	}()
	return g
}

func (f *follower) stop() {
	f.cancel()
	<-f.done
}

// when returns a function that waits for the next event of a type and step.
func (f *follower) when(typ, step string) func(context.Context, time.Duration) error {
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

func (f *follower) event(d *demo, ev journal.Event) {
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
		d.detailf("%s", text)
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
func (f *follower) text(ev journal.Event) string {
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
