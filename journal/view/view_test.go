package view

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var op = journaltest.ID(1)

// A stream builds events by hand, numbered as a journal would.
type stream struct {
	t      *testing.T
	events []journal.Event
	ver    map[journal.OpID]uint64
	epoch  journal.Epoch
}

func (s *stream) add(typ journal.Type, id journal.OpID, step string, attempt int, data any) *stream {
	s.t.Helper()
	ev, err := journal.New(typ, id, data)
	if err != nil {
		s.t.Fatal(err)
	}
	if typ == journal.EpochOpened {
		s.epoch++
	}
	ev.Seq = journal.Seq(len(s.events) + 1)
	ev.Time, ev.Epoch, ev.Step, ev.Attempt = int64(ev.Seq)*int64(time.Second), s.epoch, step, attempt
	if id != uuid.Nil {
		s.ver[id]++
		ev.OpVer = s.ver[id]
	}
	s.events = append(s.events, ev)
	return s
}

func plan() journal.Plan {
	return journal.Plan{
		Kind: "add-brick", Scope: "pool", Intent: "i", Locks: []string{"node:n1", "volume:v1/layout"},
		Reason: journal.Reason{Generation: 3},
		Steps: []journal.Step{
			{ID: "mkdir", Name: "mkdir@1", Stage: journal.Compensatable},
			{ID: "add", Name: "add@1", Stage: journal.Pivot},
		},
	}
}

func newStream(t *testing.T) *stream {
	t.Helper()
	s := &stream{t: t, ver: map[journal.OpID]uint64{}}
	return s.add(journal.EpochOpened, uuid.Nil, "", 0, journal.Opened{}).add(journal.OpPlanned, op, "", 0, plan())
}

// running is an operation whose first step is under way.
func running(t *testing.T) *stream {
	t.Helper()
	return newStream(t).add(journal.OpStarted, op, "", 0, nil).add(journal.StepStarted, op, "mkdir", 1, journal.Started{AttemptID: "a1", Fence: 7})
}

// TestFold folds a stream and compares what matters of the operation.
func TestFold(t *testing.T) {
	type want struct {
		State   OpState
		Steps   string // states, in order
		Current int
		Pivot   bool
		Locks   bool
		Unset   bool
	}
	busy := journal.Failure{Class: "busy", Error: "e1"}
	cases := map[string]struct {
		reason string
		stream *stream
		want   want
	}{
		"Planned":   {"nothing happened", newStream(t), want{State: Planned, Steps: "pending pending"}},
		"Started":   {"intent, no outcome", running(t), want{State: Running, Steps: "started pending", Locks: true, Unset: true}},
		"Failed":    {"no effect", running(t).add(journal.StepFailed, op, "mkdir", 1, busy), want{State: Running, Steps: "pending pending", Locks: true}},
		"Unknown":   {"perhaps an effect", running(t).add(journal.StepUnknown, op, "mkdir", 1, busy), want{State: Running, Steps: "unknown pending", Locks: true, Unset: true}},
		"Resolved":  {"a person saw it done", running(t).add(journal.StepUnknown, op, "mkdir", 1, busy).add(journal.StepResolved, op, "mkdir", 0, journal.Decision{Outcome: "done"}), want{State: Running, Steps: "succeeded pending", Current: 1, Locks: true}},
		"NotDone":   {"a person saw it not done", running(t).add(journal.StepUnknown, op, "mkdir", 1, busy).add(journal.StepResolved, op, "mkdir", 0, journal.Decision{Outcome: "not-done"}), want{State: Running, Steps: "pending pending", Locks: true}},
		"Succeeded": {"seen", running(t).add(journal.StepSucceeded, op, "mkdir", 1, journal.Succeeded{}), want{State: Running, Steps: "succeeded pending", Current: 1, Locks: true}},
		"Pivot": {"only forward", running(t).add(journal.StepSucceeded, op, "mkdir", 1, journal.Succeeded{}).add(journal.StepStarted, op, "add", 1, journal.Started{}),
			want{State: Running, Steps: "succeeded started", Current: 1, Pivot: true, Locks: true, Unset: true}},
		"PivotAdopted": {"found done is as irreversible", running(t).add(journal.StepSucceeded, op, "mkdir", 1, journal.Succeeded{}).add(journal.StepSucceeded, op, "add", 0, journal.Succeeded{Adopted: true}),
			want{State: Running, Steps: "succeeded succeeded", Current: 2, Pivot: true, Locks: true}},
		"Suspended":        {"parked, with its locks", running(t).add(journal.OpSuspended, op, "", 0, journal.Suspended{Cause: "Conflict"}), want{State: Suspended, Steps: "started pending", Locks: true, Unset: true}},
		"SuspendedPlanned": {"parked before it had any", newStream(t).add(journal.OpSuspended, op, "", 0, journal.Suspended{}), want{State: Suspended, Steps: "pending pending"}},
		"ResumedPlanned":   {"back to where it was", newStream(t).add(journal.OpSuspended, op, "", 0, journal.Suspended{}).add(journal.OpResumed, op, "", 0, nil), want{State: Planned, Steps: "pending pending"}},
		"Resumed":          {"goes on", running(t).add(journal.OpSuspended, op, "", 0, journal.Suspended{}).add(journal.OpResumed, op, "", 0, nil), want{State: Running, Steps: "started pending", Locks: true, Unset: true}},
		"Cancelling": {"a suspension does not undo it", running(t).add(journal.StepSucceeded, op, "mkdir", 1, nil).add(journal.OpCancelling, op, "", 0, journal.Decision{Reason: "r"}).
			add(journal.OpSuspended, op, "", 0, journal.Suspended{}).add(journal.OpResumed, op, "", 0, nil), want{State: Cancelling, Steps: "succeeded pending", Current: 1, Locks: true}},
		"CancellingPlanned": {"it never had any lock", newStream(t).add(journal.OpCancelling, op, "", 0, journal.Decision{Reason: "r"}), want{State: Cancelling, Steps: "pending pending"}},
		"Cancelled": {"undone", running(t).add(journal.StepSucceeded, op, "mkdir", 1, nil).add(journal.OpCancelling, op, "", 0, nil).
			add(journal.StepCompensated, op, "mkdir", 0, nil).add(journal.OpCancelled, op, "", 0, nil), want{State: Cancelled, Steps: "compensated pending"}},
		"Completed": {"there", running(t).add(journal.StepSucceeded, op, "mkdir", 1, nil).add(journal.StepSucceeded, op, "add", 0, nil).
			add(journal.OpCompleted, op, "", 0, journal.Completed{Warning: "RebalanceIncomplete"}), want{State: Completed, Steps: "succeeded succeeded", Current: 2, Pivot: true}},
		"Superseded": {"a newer plan", newStream(t).add(journal.OpSuperseded, op, "", 0, journal.Decision{By: journaltest.ID(2)}), want{State: Superseded, Steps: "pending pending"}},
		"OpFailed":   {"ended without its goal", running(t).add(journal.StepFailed, op, "mkdir", 1, busy).add(journal.OpFailed, op, "", 0, busy), want{State: Failed, Steps: "pending pending"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Fold(tc.stream.events).Op(op)
			var steps []string
			for _, s := range o.Steps {
				steps = append(steps, string(s.State))
			}
			got := want{State: o.State, Steps: strings.Join(steps, " "), Current: o.Current(), Pivot: o.PastPivot(), Locks: o.HoldsLocks(), Unset: o.Unsettled()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			alone := FoldOp(tc.stream.events[1:], []journal.Tenure{{Epoch: 1, Opened: 1}})
			if diff := cmp.Diff(o, alone); diff != "" {
				t.Errorf("%s: folded alone (-all +alone):\n%s", tc.reason, diff)
			}
			if o.Alien != "" {
				t.Errorf("%s: alien %q", tc.reason, o.Alien)
			}
			if _, err := json.Marshal(o); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestOnlyWaits: what is left of an operation, and whether any of it may land.
func TestOnlyWaits(t *testing.T) {
	st := func(stage journal.Stage, state StepState) Step {
		return Step{Step: journal.Step{Stage: stage}, State: state}
	}
	cases := map[string]struct {
		reason       string
		steps        []Step
		waits, unset bool
	}{
		"Pending":  {"it will wait", []Step{st(journal.Pivot, Succeeded), st(journal.Waiting, Pending)}, true, false},
		"Waiting":  {"a step that waits has no command", []Step{st(journal.Pivot, Succeeded), st(journal.Waiting, Started), st(journal.Waiting, Pending)}, true, false},
		"ThenActs": {"it would go on to act", []Step{st(journal.Waiting, Started), st(journal.Retriable, Pending)}, false, false},
		"Acts":     {"its command may land", []Step{st(journal.Pivot, Unknown), st(journal.Waiting, Pending)}, false, true},
		"Done":     {"nothing is left", []Step{st(journal.Pivot, Succeeded), st(journal.Waiting, Succeeded)}, false, false},
		"Nothing":  {"there are no steps", nil, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Op{Steps: tc.steps}
			if o.OnlyWaits() != tc.waits || o.Unsettled() != tc.unset {
				t.Errorf("%s: waits %v, unsettled %v; want %v, %v", tc.reason, o.OnlyWaits(), o.Unsettled(), tc.waits, tc.unset)
			}
		})
	}
}

// TestDetails follows the fields of a step through two attempts.
func TestDetails(t *testing.T) {
	one, two := journal.Failure{Class: "busy", Error: "one"}, journal.Failure{Class: "transient", Error: "two"}
	s := running(t).
		add(journal.StepReceipt, op, "mkdir", 1, journal.Receipt{Receipt: []byte(`{"task":1}`)}).
		add(journal.StepProgress, op, "mkdir", 1, journal.Progress{Percent: 5}).
		add(journal.StepFailed, op, "mkdir", 1, one).
		add(journal.StepStarted, op, "mkdir", 2, journal.Started{AttemptID: "a2", Deadline: 9}).
		add(journal.StepUnknown, op, "mkdir", 2, two).
		add(journal.StepSucceeded, op, "mkdir", 2, journal.Succeeded{Adopted: true, Message: "there", Receipt: []byte(`{"task":2}`)})
	got := Fold(s.events).Op(op)
	at := func(seq int64) time.Time { return time.Unix(seq, 0).UTC() }
	want := &Op{
		ID: op, Plan: plan(), State: Running, Ver: 9, First: 2, Last: 10, Epoch: 1, Planned: at(2), Started: at(3),
		Steps: []Step{
			{
				Step: plan().Steps[0], State: Succeeded, Attempt: 2, Start: &journal.Started{AttemptID: "a2", Deadline: 9}, StartedIn: 1, StartedAt: at(8),
				Receipt: []byte(`{"task":2}`), First: &one, Failure: &two, Failures: 1, Adopted: true, Message: "there", EndedAt: at(10),
			},
			{Step: plan().Steps[1], State: Pending},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCrashes counts the epochs that ended, unclosed, under a step.
func TestCrashes(t *testing.T) {
	s := running(t).
		add(journal.EpochOpened, uuid.Nil, "", 0, journal.Opened{}).
		add(journal.EpochClosed, uuid.Nil, "", 0, nil).
		add(journal.EpochOpened, uuid.Nil, "", 0, journal.Opened{Clean: true}).
		add(journal.EpochOpened, uuid.Nil, "", 0, journal.Opened{}).
		add(journal.StepUnknown, op, "mkdir", 1, journal.Failure{}).
		add(journal.EpochOpened, uuid.Nil, "", 0, journal.Opened{})
	before := Fold(s.events[:4]).Op(op)
	v := Fold(s.events)
	got := v.Op(op)
	if got.Steps[0].Crashes != 2 || got.Steps[1].Crashes != 0 || v.Epoch() != 5 {
		t.Errorf("crashes %d and %d in epoch %d; want 2 (one epoch was closed, the last was not under way), 0, 5", got.Steps[0].Crashes, got.Steps[1].Crashes, v.Epoch())
	}
	if before.Steps[0].Crashes != 0 {
		t.Error("an operation that was handed out changed")
	}
	var stream []journal.Event
	var epochs []journal.Tenure
	for _, ev := range s.events {
		switch {
		case ev.Op == op:
			stream = append(stream, ev)
		case ev.Type == journal.EpochOpened:
			var o journal.Opened
			if err := json.Unmarshal(ev.Data, &o); err != nil {
				t.Fatal(err)
			}
			epochs = append(epochs, journal.Tenure{Epoch: ev.Epoch, Opened: ev.Seq, By: o})
		}
	}
	if diff := cmp.Diff(got, FoldOp(stream, epochs)); diff != "" {
		t.Errorf("folded alone (-all +alone):\n%s", diff)
	}
}

func TestTombstones(t *testing.T) {
	abandoned := newStream(t).add(journal.OpAbandoned, op, "", 0, journal.Decision{Reason: "later"})
	cases := map[string]struct {
		reason string
		stream *stream
		want   map[string]Tombstone
	}{
		"Abandoned": {"it leaves one", abandoned, map[string]Tombstone{"i": {Intent: "i", Op: op, Generation: 3, Reason: "later"}}},
		"Released":  {"a person retries", newStream(t).add(journal.OpAbandoned, op, "", 0, journal.Decision{}).add(journal.IntentReleased, uuid.Nil, "", 0, journal.Decision{Intent: "i"}), nil},
		"Planned":   {"planned again", newStream(t).add(journal.OpAbandoned, op, "", 0, journal.Decision{}).add(journal.OpPlanned, journaltest.ID(2), "", 0, plan()), nil},
		"Failed":    {"only abandoning leaves one", newStream(t).add(journal.OpFailed, op, "", 0, journal.Failure{}), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Fold(tc.stream.events).Tombstones(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLocksAndFences(t *testing.T) {
	v := Fold(running(t).
		add(journal.FenceRaised, uuid.Nil, "", 0, journal.Fence{Scope: "pool", Fence: 4}).
		add(journal.FenceRaised, uuid.Nil, "", 0, journal.Fence{Scope: "pool", Fence: 2}).events)
	if diff := cmp.Diff(map[string]journal.OpID{"pool/node:n1": op, "pool/volume:v1/layout": op}, v.Locks()); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]uint64{"pool": 4}, v.Fences()); diff != "" {
		t.Errorf("fences (-want +got):\n%s", diff)
	}
}

// TestAlien: what a newer release wrote is shown, not carried out.
func TestAlien(t *testing.T) {
	future := func(change func(*journal.Event)) *stream {
		s := running(t).add(journal.StepSucceeded, op, "mkdir", 1, nil)
		change(&s.events[len(s.events)-1])
		return s
	}
	cases := map[string]struct {
		reason string
		stream *stream
		want   string
	}{
		"Critical":   {"an unknown event that changes what is next", future(func(ev *journal.Event) { ev.Type, ev.Step = "op.migrated", "" }), "op.migrated"},
		"Note":       {"an unknown event that does not", future(func(ev *journal.Event) { ev.Type, ev.Step, ev.Crit = "note.added", "", false }), ""},
		"StepEvent":  {"of a step", future(func(ev *journal.Event) { ev.Type = "step.skipped" }), "step.skipped"},
		"NewSchema":  {"a payload of another meaning", future(func(ev *journal.Event) { ev.SV = 2 }), "step.succeeded@2"},
		"NoSuchStep": {"the plan does not have it", future(func(ev *journal.Event) { ev.Step = "x" }), "step.succeeded"},
		"BadPayload": {"it does not decode", future(func(ev *journal.Event) { ev.Data = []byte(`{"message":1}`) }), "step.succeeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Fold(tc.stream.events).Op(op)
			if o.Alien != tc.want {
				t.Errorf("%s: alien %q, want %q", tc.reason, o.Alien, tc.want)
			}
			if o.Steps[0].State != Started {
				t.Errorf("%s: the step is %s", tc.reason, o.Steps[0].State)
			}
		})
	}
}

// TestUpcasters brings payloads of two earlier versions up to date.
func TestUpcasters(t *testing.T) {
	var schemas Schemas
	rename := func(from, to string) Upcaster {
		return func(d json.RawMessage) (json.RawMessage, error) {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(d, &m); err != nil {
				return nil, err
			}
			m[to] = m[from]
			delete(m, from)
			return json.Marshal(m)
		}
	}
	schemas.Register(journal.OpFailed, 1, rename("why", "cause"))
	schemas.Register(journal.OpFailed, 2, rename("cause", "error"))
	schemas.Register(journal.OpCompleted, 1, func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("cannot") })
	cases := map[string]struct {
		reason string
		typ    journal.Type
		sv     int
		data   string
		want   string
		alien  string
	}{
		"First":   {"two steps", journal.OpFailed, 1, `{"why":"x"}`, "x", ""},
		"Second":  {"one step", journal.OpFailed, 2, `{"cause":"x"}`, "x", ""},
		"Current": {"none", journal.OpFailed, 3, `{"error":"x"}`, "x", ""},
		"Future":  {"nobody knows", journal.OpFailed, 4, `{"error":"x"}`, "", "op.failed@4"},
		"Fails":   {"an upcaster that cannot", journal.OpCompleted, 1, `{}`, "", "op.completed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := New(&schemas)
			for _, ev := range running(t).add(tc.typ, op, "", 0, json.RawMessage(tc.data)).events {
				if ev.Type == tc.typ {
					ev.SV = tc.sv
				}
				v.Apply(ev)
			}
			o := v.Op(op)
			got := ""
			if o.Failure != nil {
				got = o.Failure.Error
			}
			if got != tc.want || o.Alien != tc.alien {
				t.Errorf("%s: error %q, alien %q; want %q, %q", tc.reason, got, o.Alien, tc.want, tc.alien)
			}
		})
	}
	defer func() {
		if recover() == nil {
			t.Error("a second upcaster from the same version: no panic")
		}
	}()
	schemas.Register(journal.OpFailed, 1, nil)
}

// TestFoldFragments: streams without a beginning fold to nothing.
func TestFoldFragments(t *testing.T) {
	s := running(t)
	if o := FoldOp(nil, nil); o != nil {
		t.Errorf("no events: %+v", o)
	}
	if o := FoldOp(s.events[2:], nil); o != nil {
		t.Errorf("without op.planned: %+v", o)
	}
	if o := Fold(s.events[2:]).Op(op); o != nil {
		t.Errorf("without op.planned: %+v", o)
	}
}

// life is the whole stream of an operation of a scope.
func life(t *testing.T, n int, scope string, open bool) []journal.Event {
	t.Helper()
	events, err := journaltest.Life(n, open)
	if err != nil {
		t.Fatal(err)
	}
	var p journal.Plan
	if err := json.Unmarshal(events[0].Data, &p); err != nil {
		t.Fatal(err)
	}
	p.Scope = scope
	if events[0].Data, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	return events
}

// TestTrackerKeepsEachScopesOwn: what a busy scope does makes no other one
// forget what it did.
func TestTrackerKeepsEachScopesOwn(t *testing.T) {
	j := journaltest.Open(t)
	tracker, err := Track(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"quiet": 2, "busy": RecentMax}
	for n := 1; n <= RecentMax+10; n++ {
		scope := "busy"
		if n <= 2 {
			scope = "quiet"
		}
		if _, err := j.Append(t.Context(), journal.Guard{}, life(t, n, scope, false)...); err != nil {
			t.Fatal(err)
		}
	}
	now, err := tracker.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for i, o := range now.Recent {
		have[o.Plan.Scope]++
		if i > 0 && o.Last < now.Recent[i-1].Last {
			t.Errorf("operation %s is not in the order of the ends", o.ID)
		}
		if o.EndedIn != j.Epoch() {
			t.Errorf("operation %s ended in epoch %d, want %d", o.ID, o.EndedIn, j.Epoch())
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("kept by scope (-want +got):\n%s", diff)
	}
	if now.Op(journaltest.ID(3)) != nil || now.Op(journaltest.ID(RecentMax+10)) == nil {
		t.Error("of the busy scope the last ones are kept, not the first")
	}
}

// TestTracker follows a journal over more operations than it keeps.
func TestTracker(t *testing.T) {
	j := journaltest.Open(t)
	early, err := Track(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	const ops = RecentMax + 8
	for n := 1; n <= ops; n++ {
		life := life(t, n, "pool", n == ops)
		if _, err := j.Append(t.Context(), journal.Guard{}, life...); err != nil {
			t.Fatal(err)
		}
		if o, err := early.Op(journaltest.ID(n)); err != nil || o.Last != j.Head().Seq {
			t.Fatalf("operation %d right after its append: %+v, %v", n, o, err)
		}
	}
	late, err := Track(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	a, err := early.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	b, err := late.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("begun early and late (-early +late):\n%s", diff)
	}
	if len(a.Open) != 1 || a.Open[0].ID != journaltest.ID(ops) || len(a.Recent) != RecentMax || a.Recent[RecentMax-1].ID != journaltest.ID(ops-1) {
		t.Errorf("open %d, recent %d", len(a.Open), len(a.Recent))
	}
	if o := a.Op(journaltest.ID(ops)); o == nil || o.State != Running {
		t.Errorf("the open one in the picture: %+v", o)
	}
	if o := a.Op(journaltest.ID(1)); o != nil {
		t.Error("the picture holds what ended long ago")
	}
	first, err := late.Op(journaltest.ID(1))
	if err != nil || first.State != Completed || first.Current() != 3 {
		t.Errorf("what ended long ago: %+v, %v", first, err)
	}
	if _, err := late.Op(journaltest.ID(999)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("what never was: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Snapshot(); err != nil && !errors.Is(err, journal.ErrClosed) {
		t.Errorf("of a closed journal: %v", err)
	}
}

// BenchmarkFold folds whole operations.
func BenchmarkFold(b *testing.B) {
	var events []journal.Event
	for n := range 1000 {
		life, err := journaltest.Life(n+1, false)
		if err != nil {
			b.Fatal(err)
		}
		events = append(events, life...)
	}
	for i := range events {
		events[i].Seq = journal.Seq(i + 1)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if v := Fold(events); len(v.Open()) != 0 {
			b.Fatal("not folded")
		}
	}
	b.ReportMetric(float64(len(events)*b.N)/b.Elapsed().Seconds(), "events/s")
}
