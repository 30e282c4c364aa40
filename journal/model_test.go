package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A model is what a journal must be equal to: the events that were
// acknowledged, and their fold by the other implementation, journal/view.
type model struct {
	dir    string
	path   string
	files  int
	j      *journal.Journal
	track  *view.Tracker
	events []journal.Event
	view   *view.View
	ops    []journal.OpID
}

func id(n int) journal.OpID {
	var id journal.OpID
	binary.BigEndian.PutUint32(id[:], uint32(n))
	id[6], id[8] = 0x70, 0x80
	return id
}

func event(t *rapid.T, typ journal.Type, op journal.OpID, step string, attempt int, data any) journal.Event {
	ev, err := journal.New(typ, op, data)
	if err != nil {
		t.Fatal(err)
	}
	ev.Step, ev.Attempt, ev.Actor = step, attempt, "model"
	return ev
}

func (m *model) open(t *rapid.T) {
	j, err := journal.Open(t.Context(), m.path, journal.Options{Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	if r := j.Repaired(); len(r) > 0 {
		t.Fatalf("repaired: %v", r)
	}
	m.j = j
	if _, err := j.OpenEpoch(t.Context(), journal.Opened{Instance: "model"}); err != nil {
		t.Fatalf("opening an epoch: %v", err)
	}
	m.acknowledged(t, true)
	if m.track, err = view.Track(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

// acknowledged reads and folds what is new. After an opening everything is read:
// what was acknowledged before must be there, unchanged.
func (m *model) acknowledged(t *rapid.T, opened bool) {
	all := slices.Clone(m.events)
	if opened {
		all = nil
	}
	for from := journal.Seq(len(all) + 1); ; {
		list, err := m.j.Read(from, 7)
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		if len(list) == 0 {
			break
		}
		all = append(all, list...)
		from = list[len(list)-1].Seq + 1
	}
	if len(all) < len(m.events) {
		t.Fatalf("%d events, %d were acknowledged", len(all), len(m.events))
	}
	if opened {
		if diff := cmp.Diff(m.events, all[:len(m.events)], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("acknowledged events changed (-want +got):\n%s", diff)
		}
	}
	for _, ev := range all[len(m.events):] {
		m.view.Apply(ev)
	}
	m.events = all
}

// try appends and checks what must hold whatever the answer.
func (m *model) try(t *rapid.T, g journal.Guard, evs ...journal.Event) error {
	before := m.j.Head()
	seq, err := m.j.Append(t.Context(), g, evs...)
	switch {
	case err == nil && (seq != before.Seq+journal.Seq(len(evs)) || seq != m.j.Head().Seq):
		t.Fatalf("appended %d events after %d, got %d, head %d", len(evs), before.Seq, seq, m.j.Head().Seq)
	case err != nil && !journal.IsIllegal(err) && !journal.IsConflict(err):
		t.Fatalf("append: %v", err)
	case err != nil && m.j.Head() != before:
		t.Fatalf("refused, yet the head moved: %v", err)
	}
	if err == nil {
		m.acknowledged(t, false)
		for i, ev := range m.events[before.Seq:] {
			if ev.Type != evs[i].Type || ev.Epoch != m.j.Epoch() || !bytes.Equal(ev.Data, evs[i].Data) {
				t.Fatalf("appended %+v, stored %+v", evs[i], ev)
			}
		}
	}
	return err
}

func (m *model) plan(t *rapid.T) {
	n := len(m.ops) + 1
	stages := []journal.Stage{journal.Waiting, journal.Compensatable, journal.Pivot, journal.Retriable, journal.Waiting, journal.Waiting}
	p := journal.Plan{Kind: "k", Scope: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "scope"), Intent: rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "intent")}
	for i := range rapid.IntRange(0, len(stages)).Draw(t, "steps") {
		p.Steps = append(p.Steps, journal.Step{ID: fmt.Sprint("s", i), Name: "s@1", Stage: stages[i]})
	}
	for _, l := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, "lock "+l) {
			p.Locks = append(p.Locks, l)
		}
	}
	if len(m.ops) > 0 && rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
		p.After = []journal.OpID{rapid.SampledFrom(m.ops).Draw(t, "after")}
	}
	if m.try(t, journal.Guard{OpVer: map[journal.OpID]uint64{id(n): 0}}, event(t, journal.OpPlanned, id(n), "", 0, p)) == nil {
		m.ops = append(m.ops, id(n))
	}
}

// advance does what an executor would do next: it must be accepted, but for
// locks and operations that must end first.
func (m *model) advance(t *rapid.T) {
	open := m.view.Open()
	if len(open) == 0 {
		return
	}
	o := rapid.SampledFrom(open).Draw(t, "op")
	g := journal.Guard{Epoch: m.j.Epoch(), OpVer: map[journal.OpID]uint64{o.ID: o.Ver}}
	ev := func(typ journal.Type, data any) journal.Event { return event(t, typ, o.ID, "", 0, data) }
	var evs []journal.Event
	switch i := o.Current(); {
	case o.State == view.Planned:
		if err := m.try(t, g, ev(journal.OpStarted, nil)); err != nil {
			m.blocked(t, o, err)
		}
		return
	case o.State == view.Suspended:
		evs = append(evs, ev(journal.OpResumed, nil))
	case o.State == view.Cancelling && !o.Unsettled():
		for k := i - 1; k >= 0; k-- {
			evs = append(evs, event(t, journal.StepCompensated, o.ID, o.Steps[k].ID, 0, nil))
		}
		evs = append(evs, ev(journal.OpCancelled, journal.Decision{Reason: "r"}))
	case i == len(o.Steps):
		evs = append(evs, ev(journal.OpCompleted, journal.Completed{}))
	default:
		s := o.Steps[i]
		st := func(typ journal.Type, data any) journal.Event { return event(t, typ, o.ID, s.ID, 0, data) }
		if s.State == view.Pending {
			evs = append(evs, event(t, journal.StepStarted, o.ID, s.ID, s.Attempt+1, journal.Started{AttemptID: "a"}))
			break
		}
		evs = append(evs, rapid.SampledFrom([]journal.Event{
			st(journal.StepSucceeded, journal.Succeeded{}),
			st(journal.StepFailed, journal.Failure{Class: "transient", Error: "e"}),
			st(journal.StepUnknown, journal.Failure{Class: "unknown", Error: "e"}),
			st(journal.StepReceipt, journal.Receipt{Receipt: []byte(`{"a":1}`)}),
		}).Draw(t, "outcome"))
	}
	if err := m.try(t, g, evs...); err != nil {
		t.Fatalf("operation %+v: %v", o, err)
	}
}

func (m *model) blocked(t *rapid.T, o *view.Op, err error) {
	locks := m.view.Locks()
	for _, l := range o.Plan.Locks {
		if _, held := locks[journal.LockKey(o.Plan.Scope, l)]; held && journal.IsConflict(err) {
			return
		}
	}
	for _, dep := range o.Plan.After {
		if !m.view.Op(dep).State.Terminal() && journal.IsIllegal(err) {
			return
		}
	}
	t.Fatalf("starting %+v: %v", o, err)
}

// meddle appends events at random; most are refused.
func (m *model) meddle(t *rapid.T) {
	types := []journal.Type{
		journal.OpStarted, journal.OpSuspended, journal.OpResumed, journal.OpCancelling, journal.OpCompleted, journal.OpFailed,
		journal.OpCancelled, journal.OpSuperseded, journal.OpAbandoned, journal.StepStarted, journal.StepSucceeded, journal.StepFailed,
		journal.StepUnknown, journal.StepResolved, journal.StepCompensated, journal.StepProgress, journal.FenceRaised, journal.IntentReleased,
	}
	op := id(rapid.IntRange(1, len(m.ops)+1).Draw(t, "op"))
	var evs []journal.Event
	for range rapid.IntRange(1, 3).Draw(t, "events") {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		step, attempt, data := "", 0, any(journal.Decision{Reason: "r", Outcome: "done"})
		switch typ {
		case journal.FenceRaised:
			evs = append(evs, event(t, typ, uuid.Nil, "", 0, journal.Fence{Scope: "p", Fence: rapid.Uint64Range(0, 9).Draw(t, "fence")}))
			continue
		case journal.IntentReleased:
			evs = append(evs, event(t, typ, uuid.Nil, "", 0, journal.Decision{Intent: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "intent")}))
			continue
		case journal.StepStarted, journal.StepSucceeded, journal.StepFailed, journal.StepUnknown, journal.StepResolved, journal.StepCompensated, journal.StepProgress:
			step = fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "step"))
			if typ == journal.StepStarted {
				attempt = rapid.IntRange(1, 3).Draw(t, "attempt")
			}
		}
		evs = append(evs, event(t, typ, op, step, attempt, data))
	}
	_ = m.try(t, journal.Guard{}, evs...) // what must hold either way is checked there
}

// end lets an open operation go, or another one take its place. It is accepted
// exactly if no command may still land and, of one that has started, nothing but
// waiting is left to whoever takes its place.
func (m *model) end(t *rapid.T) {
	open := m.view.Open()
	if len(open) == 0 {
		return
	}
	o := rapid.SampledFrom(open).Draw(t, "op")
	lands, acts, left := false, false, 0
	for _, s := range o.Steps {
		waits := s.Stage == journal.Waiting
		lands = lands || !waits && (s.State == view.Started || s.State == view.Unknown)
		if s.State != view.Succeeded {
			left++
			acts = acts || !waits
		}
	}
	typ := rapid.SampledFrom([]journal.Type{journal.OpAbandoned, journal.OpSuperseded}).Draw(t, "type")
	evs := []journal.Event{event(t, typ, o.ID, "", 0, journal.Decision{Reason: "r"})}
	allowed := !lands
	if typ == journal.OpSuperseded && !o.Started.IsZero() {
		by := rapid.Bool().Draw(t, "taken over")
		allowed = by && !acts && left > 0 && o.State != view.Cancelling && !o.CancelAsked
		if n := len(m.ops) + 1; by {
			evs = append(evs, event(t, journal.OpPlanned, id(n), "", 0, journal.Plan{Kind: "k", Scope: "p", Supersedes: []journal.OpID{o.ID}}))
		}
	}
	err := m.try(t, journal.Guard{}, evs...)
	if (err == nil) != allowed {
		t.Fatalf("%s of %+v: %v; allowed: %v", typ, o, err, allowed)
	}
	if err == nil && len(evs) > 1 {
		m.ops = append(m.ops, id(len(m.ops)+1))
	}
}

// reopen closes in good order and opens again.
func (m *model) reopen(t *rapid.T) {
	if err := m.j.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	m.open(t)
}

// crash goes on from a copy of the file at a commit.
func (m *model) crash(t *rapid.T) {
	m.files++
	path := filepath.Join(m.dir, fmt.Sprintf("crashed-%d.db", m.files))
	b, err := os.ReadFile(m.path)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.j.Close(); err != nil {
		t.Fatal(err)
	}
	m.path = path
	m.open(t)
}

// check compares everything that is derived with the fold of the events.
func (m *model) check(t *rapid.T) {
	p, err := m.track.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if p.Head != m.j.Head() || p.Epoch != m.j.Epoch() {
		t.Fatalf("tracked head %v epoch %d, journal %v %d", p.Head, p.Epoch, m.j.Head(), m.j.Epoch())
	}
	want := m.view.Open()
	for name, diff := range map[string]string{
		"open operations": cmp.Diff(want, p.Open),
		"locks":           cmp.Diff(m.view.Locks(), p.Locks),
		"tombstones":      cmp.Diff(m.view.Tombstones(), p.Tombstones),
		"fences":          cmp.Diff(m.view.Fences(), p.Fences),
		"fence":           cmp.Diff(m.view.Fences()["p"], m.j.MaxFence("p")),
	} {
		if diff != "" {
			t.Fatalf("%s (-fold +tracked):\n%s", name, diff)
		}
	}
	ids := m.j.OpenOps()
	if len(ids) != len(want) {
		t.Fatalf("open operations: journal %v, fold %d", ids, len(want))
	}
	heads, err := m.j.Ops(uuid.Nil, 0, journal.Filter{})
	if err != nil || len(heads) != len(m.ops) {
		t.Fatalf("listed %d operations of %d: %v", len(heads), len(m.ops), err)
	}
	for i, h := range heads {
		o := m.view.Op(h.ID)
		if h.ID != m.ops[len(m.ops)-1-i] || h.State != string(o.State) || h.Ver != o.Ver || h.Last != o.Last || h.Terminal() != o.State.Terminal() {
			t.Fatalf("listed %+v, folded %+v", h, o)
		}
		got, err := m.track.Op(h.ID)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(o, got) {
			continue
		}
		if diff := cmp.Diff(o, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("operation %s (-fold +read):\n%s", h.ID, diff)
		}
	}
}

// memoryDir is a directory on tmpfs, where syncs cost nothing.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestModel appends, meddles, reopens and crashes at random. After each action
// every projection equals the fold of the events; at the end the file verifies.
func TestModel(t *testing.T) {
	dir := memoryDir(t)
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // unless asked for more
		if err := f.Value.Set("25"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &model{dir: filepath.Join(dir, fmt.Sprint(n)), view: view.New(nil)}
		if err := os.Mkdir(m.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		m.path = filepath.Join(m.dir, "journal.db")
		m.open(t)
		defer func() {
			if err := errors.Join(m.j.Close(), os.RemoveAll(m.dir)); err != nil {
				t.Errorf("closing: %v", err)
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"Plan":    m.plan,
			"Advance": m.advance, "Advance2": m.advance, "Advance3": m.advance,
			"Meddle": m.meddle,
			"End":    m.end,
			"Reopen": m.reopen,
			"Crash":  m.crash,
			"":       m.check,
		})
		r, err := m.j.Verify(t.Context())
		if err != nil || !r.OK() {
			t.Fatalf("verify: %+v, %v", r, err)
		}
	})
}
