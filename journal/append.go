package journal

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// appendBytesMax bounds the events of one Append, in bytes.
const appendBytesMax = 4 << 20

// OpenEpoch begins this process's tenure: one above every epoch before. It
// must come before any Append and succeeds once. Opened.Clean is filled in.
// Errors as of Append.
func (j *Journal) OpenEpoch(ctx context.Context, o Opened) (Epoch, error) {
	j.mu.RLock()
	next, open := j.led.epoch+1, j.led.opened
	n := len(j.led.tenures)
	o.Clean = n == 0 || j.led.tenures[n-1].Closed != 0
	j.mu.RUnlock()
	if open {
		return 0, fmt.Errorf("epoch %d is open already: %w", next-1, ErrIllegal)
	}
	ev, err := New(EpochOpened, uuid.Nil, o)
	if err != nil {
		return 0, err
	}
	ev.Build = j.o.Build
	if _, err := j.submit(ctx, &request{events: []Event{ev}, own: true}); err != nil {
		return 0, fmt.Errorf("opening epoch %d: %w", next, err)
	}
	return next, nil
}

// Append writes events, all or none, and returns the number of the last one
// once they are on stable storage. Seq, Epoch, OpVer and Time are filled in, in
// copies; the numbers are dense, so the first is last-len+1. Concurrent
// appends share commits. If ctx ends before the append is part of a commit
// nothing was written; afterwards Append waits for the outcome.
//
// Errors, all but the last of which mean that nothing was written: ErrConflict,
// ErrIllegal, ErrTooLarge, ErrFull, ErrNoEpoch, ErrClosed, the context's,
// ErrPoisoned.
func (j *Journal) Append(ctx context.Context, g Guard, events ...Event) (Seq, error) {
	if len(events) == 0 {
		return 0, fmt.Errorf("appending: no events: %w", ErrUsage)
	}
	seq, err := j.submit(ctx, &request{guard: g, events: append([]Event(nil), events...)})
	if err != nil {
		return 0, fmt.Errorf("appending %s: %w", events[0].Type, err)
	}
	return seq, nil
}

// check refuses what needs no look at the journal's state, and decodes the
// payloads, on the caller's goroutine.
func (r *request) check() error {
	if len(r.events) > AppendEventsMax {
		return fmt.Errorf("%d events in one append, at most %d: %w", len(r.events), AppendEventsMax, ErrTooLarge)
	}
	for i := range r.events {
		ev := &r.events[i]
		switch {
		case len(ev.Data) > DataMax:
			return fmt.Errorf("payload of %s has %d bytes, at most %d: %w", ev.Type, len(ev.Data), DataMax, ErrTooLarge)
		case known[string(ev.Type)] == "":
			return fmt.Errorf("event type %q is unknown: %w", ev.Type, ErrIllegal)
		case !r.own && ev.Build != "":
			return fmt.Errorf("%s carries a build: %w", ev.Type, ErrIllegal)
		case !r.own && (ev.Type == JournalInitialized || ev.Type == EpochOpened || ev.Type == EpochClosed):
			return fmt.Errorf("%s is written by the journal itself: %w", ev.Type, ErrIllegal)
		case ev.SV < 0 || ev.SV > schemaMax:
			return fmt.Errorf("schema version %d of %s is unknown: %w", ev.SV, ev.Type, ErrIllegal)
		case len(ev.Step) > nameMax || len(ev.Actor) > nameMax:
			return fmt.Errorf("step or actor of %s is longer than %d bytes: %w", ev.Type, nameMax, ErrTooLarge)
		case len(ev.Data) > 0 && ev.Data[0] != '{':
			return fmt.Errorf("payload of %s is not a JSON object: %w", ev.Type, ErrIllegal)
		}
		ev.SV, ev.Crit = max(ev.SV, 1), critical[ev.Type]
		f, err := parseFact(ev)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrIllegal)
		}
		r.facts = append(r.facts, f)
		r.bytes += 256 + len(ev.Data)
	}
	if r.bytes > appendBytesMax {
		return fmt.Errorf("append of %d bytes, at most %d: %w", r.bytes, appendBytesMax, ErrTooLarge)
	}
	return nil
}

const nameMax = 256 // bytes of a step's id, an actor, an intent

// submit takes a request through a commit.
func (j *Journal) submit(ctx context.Context, r *request) (Seq, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if err := j.poisoned(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.wake = make(chan bool, 1)
	lead, err := j.queue.enter(r)
	if err != nil {
		return 0, err
	}
	if lead {
		j.lead(r, false)
		return r.seq, r.err
	}
	select {
	case lead = <-r.wake:
	case <-ctx.Done():
		if r.quit() {
			return 0, ctx.Err()
		}
		lead = <-r.wake
	}
	if lead {
		j.lead(r, true)
	}
	return r.seq, r.err
}
