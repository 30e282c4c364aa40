package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/journal"
)

// at is a moment so many milliseconds after the operation was planned.
func at(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }

// line is an event so many milliseconds after the plan.
func line(t *testing.T, ms int, typ journal.Type, step string, data any) journal.Event {
	t.Helper()
	ev, err := journal.New(typ, journal.OpID{1}, data)
	if err != nil {
		t.Fatal(err)
	}
	ev.Step, ev.Time = step, at(ms).UnixNano()
	return ev
}

func growth(t *testing.T) []journal.Event {
	t.Helper()
	plan := journal.Plan{Kind: "add-brick", Steps: []journal.Step{
		{ID: "bricks", Stage: journal.Compensatable}, {ID: "add", Stage: journal.Pivot},
		{ID: "rebalance", Stage: journal.Retriable}, {ID: "healthy", Stage: journal.Waiting},
	}}
	argv := []string{"gluster", "volume"}
	return []journal.Event{
		line(t, 0, journal.OpPlanned, "", plan),
		line(t, 10, journal.OpStarted, "", nil),
		line(t, 10, journal.StepStarted, "bricks", journal.Started{AttemptID: "o.bricks.1"}),
		line(t, 100, journal.StepSucceeded, "bricks", journal.Succeeded{}),
		line(t, 100, journal.StepStarted, "add", journal.Started{AttemptID: "o.add.1", Argv: argv}),
		line(t, 400, journal.StepFailed, "add", journal.Failure{Class: "busy"}),
		line(t, 500, journal.StepStarted, "add", journal.Started{AttemptID: "o.add.2", Argv: argv}),
		line(t, 900, journal.StepSucceeded, "add", journal.Succeeded{}),
		line(t, 900, journal.StepStarted, "rebalance", journal.Started{AttemptID: "o.rebalance.1", Argv: argv}),
		line(t, 2000, journal.StepReceipt, "rebalance", journal.Receipt{Receipt: json.RawMessage(`{"taskID":"t"}`)}),
		line(t, 2500, journal.StepReceipt, "rebalance", journal.Receipt{Receipt: json.RawMessage(`{"taskID":"u"}`)}),
		line(t, 4000, journal.StepSucceeded, "rebalance", journal.Succeeded{}),
		line(t, 4100, journal.StepStarted, "healthy", journal.Started{AttemptID: "o.healthy.1"}),
		line(t, 4800, journal.StepSucceeded, "healthy", journal.Succeeded{}),
		line(t, 5000, journal.OpCompleted, "", journal.Completed{}),
	}
}

func receipts() map[string]gate.Receipt {
	out := map[string]gate.Receipt{}
	for attempt, ms := range map[string]int{"o.bricks.1": 50, "o.add.1": 200, "o.add.2": 300, "o.rebalance.1": 1000} {
		out[attempt] = gate.Receipt{Attempt: attempt, Result: &gate.Result{Elapsed: time.Duration(ms) * time.Millisecond}}
	}
	return out
}

func TestAccount(t *testing.T) {
	history := []given{
		{at(-1), "peer probe n4 : SUCCESS"},
		{at(50), "get-state odir /x file y : SUCCESS"},
		{at(350), "volume add-brick v : FAILED : busy"},
		{at(850), "volume add-brick v : SUCCESS"},
		{at(1900), "volume rebalance v start : SUCCESS"},
		{at(1950), "get-state odir /x file z : SUCCESS"},
		{at(5001), "get-state odir /x file a : SUCCESS"},
	}
	runs := []span{{at(3900), at(9000)}, {at(-50), at(50)}, {at(40), at(60)}, {at(200), at(300)}, {at(220), at(250)}}
	got, err := accountOf(growth(t), receipts(), history, runs)
	if err != nil {
		t.Fatal(err)
	}
	want := account{
		wall: 5 * time.Second, commands: 1500 * time.Millisecond, // every attempt's command, but not what the gate does itself
		transitions: 2700 * time.Millisecond, // 2 s of the rebalance from its first receipt, 700 ms of the bricks
		gluster:     1260 * time.Millisecond, // 60 and 100 ms, and the last 1100
		changes:     3, looks: 2, steps: 4,
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(account{}), cmpopts.IgnoreFields(account{}, "bytes")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if o := got.overhead(); o != 16 {
		t.Errorf("overhead %v, want the 800 ms of 5 s that were nobody else's", o)
	}
	if o := got.outside(); o != 20.8 {
		t.Errorf("%v outside gluster, want the 1040 ms of 5 s", o)
	}
	sum := 0
	for _, ev := range growth(t) {
		sum += ev.StoredSize()
	}
	if got.bytes != sum {
		t.Errorf("%d bytes, want %d", got.bytes, sum)
	}
}

func TestAccountRefusesWhatItCannotAddUp(t *testing.T) {
	cases := map[string]struct {
		reason string
		events func([]journal.Event) []journal.Event
		lose   string
		want   string
	}{
		"Nothing":       {"there is no operation", func([]journal.Event) []journal.Event { return nil }, "", "without a plan"},
		"NoPlan":        {"its beginning is missing", func(e []journal.Event) []journal.Event { return e[1:] }, "", "without a plan"},
		"NotCompleted":  {"it is still open", func(e []journal.Event) []journal.Event { return e[:len(e)-1] }, "", "ended with step.succeeded"},
		"NoReceipt":     {"a command without receipt would count as ours", func(e []journal.Event) []journal.Event { return e }, "o.add.2", "no gate has a receipt"},
		"UnneededWhere": {"what is no command needs none", func(e []journal.Event) []journal.Event { return e }, "o.bricks.1", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			have := receipts()
			delete(have, tc.lose)
			_, err := accountOf(tc.events(growth(t)), have, nil, nil)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestParseRuns(t *testing.T) {
	got := parseRuns(`[2026-12-01 02:00:00.900000 +0000] I [input.c:31:cli_batch] 0-: Exiting with: 0
[2026-12-01 02:00:01.000000 +0000] I [cli.c:828:main] 0-cli: Started running gluster with version 10.3
[2026-12-01 02:00:01.100000 +0000] I [cli.c:828:main] 0-cli: Started running gluster with version 10.3
[2026-12-01 02:00:01.150000 +0000] I [cli-cmd-volume.c:1:x] 0-cli: something
[2026-12-01 02:00:01.200000 +0000] I [input.c:31:cli_batch] 0-: Exiting with: 0
[2026-12-01 02:00:01.300000 +0000] I [input.c:31:cli_batch] 0-: Exiting with: 1
[2026-12-01 02:00:02.000000 +0000] I [cli.c:828:main] 0-cli: Started running gluster with version 10.3
[2026-12-01 02:00:02.500000 +0000] I [input.c:31:cli_batch] 0-: Exiting with: 0
`)
	var took []time.Duration
	for _, s := range got {
		took = append(took, s.length())
	}
	if d := cmp.Diff([]time.Duration{300 * time.Millisecond, 500 * time.Millisecond}, took); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestParseHistory(t *testing.T) {
	got := parseHistory(`[2026-12-01 01:57:35.561674 +0000]  : get-state odir /x file y : SUCCESS
[2026-12-01 01:57:36.000000 +0000]  : volume create v n1:/b : FAILED : Staging failed on n2.
Error: Host n3 not connected
[yesterday]  : volume set v a b : SUCCESS
`)
	want := []given{
		{time.Date(2026, 12, 1, 1, 57, 35, 561674000, time.UTC), "get-state odir /x file y : SUCCESS"},
		{time.Date(2026, 12, 1, 1, 57, 36, 0, time.UTC), "volume create v n1:/b : FAILED : Staging failed on n2."},
	}
	same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if d := cmp.Diff(want, got, cmp.AllowUnexported(given{}), same); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
