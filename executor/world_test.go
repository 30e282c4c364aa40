package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
	"github.com/gluster/anthill/journal/view"
)

// A world is what scripted steps act upon: effects by step id, and a log of
// every act, in order.
type world struct {
	mu      sync.Mutex
	done    map[string]bool
	acts    []string
	probes  int
	act     map[string]func(n int) error // by step id; n counts its acts from 1; default: done
	probe   map[string]func() (Observation, error)
	prepare map[string]func() error
	over    map[string]func() (bool, string, error)
	undone  []string
	slow    map[string]time.Duration
}

func newWorld() *world {
	return &world{slow: map[string]time.Duration{}, done: map[string]bool{}, act: map[string]func(int) error{}, probe: map[string]func() (Observation, error){},
		prepare: map[string]func() error{}, over: map[string]func() (bool, string, error){}}
}

// scripted is a step whose behaviour is the world's script for its id.
type scripted struct{ w *world }

func (s scripted) Probe(_ context.Context, t *Turn) (Observation, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.probes++
	if f := s.w.probe[t.Step.ID]; f != nil {
		return f()
	}
	if s.w.done[t.Step.ID] {
		return Observation{Verdict: Done, Message: t.Step.ID + " is done", Receipt: json.RawMessage(`{"handle":"` + t.Step.ID + `-receipt"}`)}, nil
	}
	return Observation{Verdict: NotDone, Message: t.Step.ID + " is not done"}, nil
}

func (s scripted) Prepare(_ context.Context, t *Turn) (Intent, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if f := s.w.prepare[t.Step.ID]; f != nil {
		if err := f(); err != nil {
			return Intent{}, err
		}
	}
	return Intent{Originator: "n1", Argv: []string{"do", t.Step.ID, string(t.Params)}}, nil
}

// slowly takes its time after the effect.
type slowly struct{ scripted }

func (s slowly) Act(ctx context.Context, t *Turn) (json.RawMessage, error) {
	raw, err := s.scripted.Act(ctx, t)
	select {
	case <-time.After(s.w.slow[t.Step.ID]):
		return raw, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s scripted) Act(_ context.Context, t *Turn) (json.RawMessage, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	n := 1
	for _, a := range s.w.acts {
		if strings.HasPrefix(a, t.Step.ID+" ") {
			n++
		}
	}
	s.w.acts = append(s.w.acts, t.Step.ID+" "+string(t.Params))
	if f := s.w.act[t.Step.ID]; f != nil {
		return nil, f(n)
	}
	s.w.done[t.Step.ID] = true
	return nil, nil
}

// settling can tell whether an attempt is over; undoing can be compensated.
type settling struct{ scripted }

func (s settling) Over(_ context.Context, t *Turn) (bool, string, error) {
	if f := s.w.over[t.Step.ID]; f != nil {
		return f()
	}
	return true, "", nil
}

type undoing struct{ scripted }

func (s undoing) Compensate(_ context.Context, t *Turn) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.undone = append(s.w.undone, t.Step.ID)
	delete(s.w.done, t.Step.ID)
	return nil
}

// watching only looks.
type watching struct{ w *world }

func (s watching) Probe(ctx context.Context, t *Turn) (Observation, error) {
	return scripted(s).Probe(ctx, t)
}

func registry(t *testing.T, w *world) *Registry {
	t.Helper()
	r, err := NewRegistry(
		Spec{Name: "do@1", Step: scripted{w}, Safety: Idempotent},
		Spec{Name: "slow@1", Step: slowly{scripted{w}}, Safety: Idempotent, Timeout: 2 * time.Hour},
		Spec{Name: "settle@1", Step: settling{scripted{w}}, Safety: ProbeDecidable},
		Spec{Name: "undo@1", Step: undoing{scripted{w}}, Safety: Idempotent},
		Spec{Name: "once@1", Step: scripted{w}, Safety: AtMostOnce},
		Spec{Name: "wait@1", Step: watching{w}, Safety: Idempotent, Poll: time.Second, MaxWait: time.Minute},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A rig is a journal with an engine on it.
type rig struct {
	t     *testing.T
	w     *world
	path  string
	j     *journal.Journal
	state *view.Tracker
	e     *Engine
	opts  Options
	stop  func() // ends the engine and closes the journal
	end   func() // ends the engine
	ids   byte
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, w: newWorld(), path: t.TempDir() + "/journal.db", opts: Options{Rand: func() float64 { return 0 }}}
	r.open()
	return r
}

// open begins an epoch, recovers and lets the engine run.
func (r *rig) open() {
	r.t.Helper()
	r.openIdle()
	r.run()
}

func (r *rig) openIdle() {
	r.t.Helper()
	r.j = journaltest.OpenAt(r.t, r.path)
	if _, err := r.j.OpenEpoch(r.t.Context(), journal.Opened{Instance: "test"}); err != nil && !strings.Contains(err.Error(), "open") {
		r.t.Fatal(err)
	}
	var err error
	if r.state, err = view.Track(r.t.Context(), r.j); err != nil {
		r.t.Fatal(err)
	}
	if _, err := Recover(r.t.Context(), r.j, r.state, r.j.Epoch()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.e = New(r.j, r.state, registry(r.t, r.w), r.j.Epoch(), r.opts)
	done := make(chan error, 1)
	go func() { done <- r.e.Run(ctx) }()
	r.end = func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	}
	r.stop = func() {
		r.end()
		if err := r.j.Close(); err != nil {
			r.t.Error(err)
		}
	}
}

// crash leaves the journal as it is on disk at this moment, in the middle of
// its epoch, and goes on with that.
func (r *rig) crash() {
	r.t.Helper()
	data, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.j.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.path = r.t.TempDir() + "/journal.db"
	if err := os.WriteFile(r.path, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func step(id, name string, stage journal.Stage, params ...string) journal.Step {
	s := journal.Step{ID: id, Name: name, Stage: stage}
	if len(params) > 0 {
		s.Params = json.RawMessage(params[0])
	}
	return s
}

// plan appends an operation and returns its id.
func (r *rig) plan(locks []string, after []journal.OpID, steps ...journal.Step) journal.OpID {
	r.t.Helper()
	ev := r.planned(journal.Plan{Locks: locks, After: after, Steps: steps})
	r.append(ev)
	return ev.Op
}

// takeOver appends an operation that takes the place of another one.
func (r *rig) takeOver(old journal.OpID, locks []string, steps ...journal.Step) journal.OpID {
	r.t.Helper()
	ev := r.planned(journal.Plan{Locks: locks, Steps: steps, Supersedes: []journal.OpID{old}})
	end, err := journal.New(journal.OpSuperseded, old, journal.Decision{Reason: "another one is wanted", By: ev.Op})
	if err != nil {
		r.t.Fatal(err)
	}
	r.append(end, ev)
	return ev.Op
}

func (r *rig) append(events ...journal.Event) {
	r.t.Helper()
	if _, err := r.j.Append(r.t.Context(), journal.Guard{}, events...); err != nil {
		r.t.Fatal(err)
	}
}

// planned is the event of a plan, with an id of its own.
func (r *rig) planned(p journal.Plan) journal.Event {
	r.t.Helper()
	r.ids++
	id := uuid.UUID{0: 1, 6: 0x70, 8: 0x80, 15: r.ids}
	p.Kind, p.Scope, p.Object, p.Reason = "test", "pool", "Test/x", journal.Reason{Action: "a", Difference: "d"}
	p.Target, p.Intent = fmt.Sprintf("thing/%d", r.ids), fmt.Sprintf("%064x", r.ids)
	ev, err := journal.New(journal.OpPlanned, id, p)
	if err != nil {
		r.t.Fatal(err)
	}
	return ev
}

// await waits until the operation satisfies ok.
func (r *rig) await(id journal.OpID, what string, ok func(*view.Op) bool) *view.Op {
	r.t.Helper()
	for range 20000 {
		op, err := r.state.Op(id)
		if err != nil {
			r.t.Fatal(err)
		}
		if ok(op) {
			return op
		}
		time.Sleep(time.Second) // of the bubble's clock
	}
	op, _ := r.state.Op(id)
	text, _ := json.MarshalIndent(op, "", " ")
	r.t.Fatalf("never %s: %s", what, text)
	return nil
}

func (r *rig) awaitState(id journal.OpID, s view.OpState) *view.Op {
	r.t.Helper()
	return r.await(id, string(s), func(o *view.Op) bool { return o.State == s })
}

// story is the operation's events as one line.
func (r *rig) story(id journal.OpID) string {
	r.t.Helper()
	events, err := r.j.ReadOp(id)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, ev := range events {
		s := string(ev.Type)
		if ev.Step != "" {
			s += ":" + ev.Step
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func (r *rig) decide(d Decision) (string, error) {
	d.Person, d.Reason = "alice", "because"
	return r.e.Decide(r.t.Context(), d)
}

var errLost = errors.New("connection lost")
