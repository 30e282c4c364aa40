package journalctl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
)

// scriptStart is the time of the script's first event; each next one is 10 s
// later. scriptNow is when people look.
var (
	scriptStart = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	scriptNow   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

const (
	scriptPool   = "0193c0de-0000-7000-8000-0000000000aa"
	scriptVolume = "GlusterVolume/storage/v1"
)

// opID is the id of the n-th operation of the script.
func opID(n int) journal.OpID {
	return uuid.MustParse(fmt.Sprintf("019c5a%02x-7e00-7a11-8000-00000000%04x", n, n))
}

// A script writes a journal by hand.
type script struct {
	t    testing.TB
	path string
	id   string // of a new journal
	j    *journal.Journal
	tick int
}

// newScript makes a journal in a folder of its own and opens its first epoch.
func newScript(t testing.TB) *script {
	t.Helper()
	s := &script{t: t, path: filepath.Join(t.TempDir(), "journal.db"), id: "5c71e4a0-0000-4000-8000-000000000001"}
	s.open()
	return s
}

func (s *script) open() {
	s.t.Helper()
	j, err := journal.Open(s.t.Context(), s.path, journal.Options{
		Build:   "v0.1.0",
		MaxSize: 16 << 20,
		Clock: func() time.Time {
			s.tick++
			return scriptStart.Add(time.Duration(s.tick) * 10 * time.Second)
		},
		NewID: func() (uuid.UUID, error) { return uuid.Parse(s.id) },
	})
	if err != nil {
		s.t.Fatalf("opening journal: %v", err)
	}
	s.j = j
	if _, err := j.OpenEpoch(s.t.Context(), journal.Opened{Instance: "anthill/operator", Host: "operator-0", PID: 7}); err != nil {
		s.t.Fatalf("opening epoch: %v", err)
	}
}

// die ends the operator as SIGKILL does: what is on disk goes on in a copy.
func (s *script) die() {
	s.t.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatalf("copying journal: %v", err)
	}
	s.close()
	s.path = filepath.Join(s.t.TempDir(), "journal.db")
	if err := os.WriteFile(s.path, b, 0o600); err != nil {
		s.t.Fatalf("copying journal: %v", err)
	}
	s.open()
}

func (s *script) close() {
	s.t.Helper()
	if err := s.j.Close(); err != nil {
		s.t.Fatalf("closing journal: %v", err)
	}
}

// add appends events in one go.
func (s *script) add(events ...journal.Event) {
	s.t.Helper()
	if _, err := s.j.Append(s.t.Context(), journal.Guard{}, events...); err != nil {
		s.t.Fatalf("appending %s: %v", events[0].Type, err)
	}
}

func (s *script) op(typ journal.Type, n int, data any) journal.Event {
	s.t.Helper()
	ev, err := journal.New(typ, opID(n), data)
	if err != nil {
		s.t.Fatalf("making event: %v", err)
	}
	ev.Actor = "executor"
	return ev
}

func (s *script) step(typ journal.Type, n int, step string, attempt int, data any) journal.Event {
	s.t.Helper()
	ev := s.op(typ, n, data)
	ev.Step, ev.Attempt = step, attempt
	return ev
}

func (s *script) plan(n int, kind, target string, change func(*journal.Plan)) journal.Event {
	s.t.Helper()
	p := journal.Plan{
		Kind: kind, Scope: scriptPool, Object: scriptVolume, Target: target,
		Reason: journal.Reason{Action: "Bricks", Difference: "volume v1 has 1 set, 2 are wanted", Generation: 3},
		Intent: fmt.Sprintf("%064x", n),
		Steps: []journal.Step{
			{ID: "guard", Name: "bricks-healthy@1", Stage: journal.Waiting},
			{ID: "dirs", Name: "make-bricks@1", Stage: journal.Compensatable},
			{ID: "add-brick", Name: "add-brick@1", Stage: journal.Pivot},
			{ID: "rebalance", Name: "rebalance@1", Stage: journal.Retriable},
		},
		Locks: []string{fmt.Sprintf("volume:v%d/layout", n)},
	}
	if change != nil {
		change(&p)
	}
	ev := s.op(journal.OpPlanned, n, p)
	ev.Actor = "planner"
	return ev
}

// done is a step that went well in its first attempt.
func (s *script) done(n int, step, originator, command string) {
	s.t.Helper()
	s.add(s.step(journal.StepStarted, n, step, 1, journal.Started{
		AttemptID: fmt.Sprintf("a-%d-%s", n, step), Originator: originator, Argv: []string{"gluster", "volume", command, "v1"}, Fence: 4,
	}))
	s.add(s.step(journal.StepSucceeded, n, step, 1, journal.Succeeded{Receipt: json.RawMessage(`{"taskID":"t-1"}`)}))
}

// allStates writes an operation in every state, an event of a newer release and
// two epochs, the first of which ended badly. The journal is closed.
func allStates(t testing.TB) *script {
	t.Helper()
	s := newScript(t)
	s.add(mustFence(t))
	// 1: completed with a reservation.
	s.add(s.plan(1, "add-brick", "volume/v1", nil))
	s.add(s.op(journal.OpStarted, 1, nil), s.step(journal.StepSucceeded, 1, "guard", 0, journal.Succeeded{Adopted: true, Message: "6 of 6 bricks healthy"}))
	s.done(1, "dirs", "n1", "make-bricks")
	s.done(1, "add-brick", "n1", "add-brick")
	s.done(1, "rebalance", "n2", "rebalance")
	s.add(s.op(journal.OpCompleted, 1, journal.Completed{Warning: "RebalanceIncomplete", Message: "3 files skipped"}))
	// 2: failed.
	s.add(s.plan(2, "join-node", "node/n2", nil), s.op(journal.OpStarted, 2, nil))
	s.add(s.op(journal.OpFailed, 2, journal.Failure{Class: "permanent", Error: "the server belongs to another pool"}))
	// 3: superseded by 4; 4: cancelled before it started.
	s.add(s.plan(3, "set-options", "volume/v3", nil))
	s.add(s.op(journal.OpSuperseded, 3, journal.Decision{Reason: "generation 4 wants something else", By: opID(4)}),
		s.plan(4, "set-options", "volume/v3", func(p *journal.Plan) { p.Supersedes = []journal.OpID{opID(3)} }))
	cancelled := s.op(journal.OpCancelled, 4, journal.Decision{Reason: "not today"})
	cancelled.Actor = "person:ada"
	s.add(cancelled)
	// 5: abandoned, with a tombstone.
	s.add(s.plan(5, "delete-volume", "volume/v5", nil))
	abandoned := s.op(journal.OpAbandoned, 5, journal.Decision{Reason: "the volume is needed after all"})
	abandoned.Actor = "person:ada"
	s.add(abandoned)
	// 6: suspended, its outcome in doubt.
	s.add(s.plan(6, "add-brick", "volume/v6", nil), s.op(journal.OpStarted, 6, nil))
	s.add(s.step(journal.StepSucceeded, 6, "guard", 0, journal.Succeeded{Adopted: true}))
	s.done(6, "dirs", "n1", "make-bricks")
	s.add(s.step(journal.StepStarted, 6, "add-brick", 1, journal.Started{
		AttemptID: "a-6-add-brick", Originator: "n1", Argv: []string{"gluster", "volume", "add-brick", "v6", "n3:/bricks/a b"}, Fence: 4,
	}))
	s.add(s.step(journal.StepUnknown, 6, "add-brick", 1, journal.Failure{Class: "unknown", Error: "connection to n1 lost", Output: "Warning\x1b[31m red\nsecond line"}))
	s.add(s.op(journal.OpSuspended, 6, journal.Suspended{
		Cause: "NeedsDecision", Message: "it cannot be told whether the bricks were added", First: "connection to n1 lost",
		Last: "n1 does not answer", Attempts: 1, Next: "anthill journal resolve " + opID(6).String() + "/add-brick --done|--not-done --reason '...'",
	}))
	// 7: being cancelled.
	s.add(s.plan(7, "add-brick", "volume/v7", nil), s.op(journal.OpStarted, 7, nil))
	cancelling := s.op(journal.OpCancelling, 7, journal.Decision{Reason: "wrong volume"})
	cancelling.Actor = "person:bob"
	s.add(cancelling)
	// 8: started when the operator dies, running after.
	s.add(s.plan(8, "add-brick", "volume/v8", nil), s.op(journal.OpStarted, 8, nil))
	s.add(s.step(journal.StepSucceeded, 8, "guard", 0, journal.Succeeded{Adopted: true}))
	s.add(s.step(journal.StepStarted, 8, "dirs", 1, journal.Started{AttemptID: "a-8-1", Originator: "n1", Fence: 4}))
	s.die()
	s.add(s.step(journal.StepUnknown, 8, "dirs", 1, journal.Failure{Class: "unknown", Error: "the operator ended"}))
	s.add(s.step(journal.StepFailed, 8, "dirs", 1, journal.Failure{Class: "transient", Error: "n1: no space left on device", RetryAt: scriptNow.UnixNano()}))
	s.add(s.step(journal.StepStarted, 8, "dirs", 2, journal.Started{AttemptID: "a-8-2", Originator: "n1", Fence: 5}))
	s.add(s.step(journal.StepProgress, 8, "dirs", 2, journal.Progress{Percent: 50, Message: "1 of 2 directories made"}))
	// 9: planned, waits for 8.
	s.add(s.plan(9, "set-options", "volume/v8", func(p *journal.Plan) {
		p.After = []journal.OpID{opID(8)}
		p.Reason.Difference = "option performance.cache-size is unset, 256MB is wanted"
		p.Steps = []journal.Step{{ID: "set-performance.cache-size", Name: "set-option@1", Stage: journal.Retriable}}
	}))
	// 10: holds a critical event of a newer release.
	s.add(s.plan(10, "migrate-brick", "volume/v10", nil))
	s.add(s.op(journal.OpSuspended, 10, journal.Suspended{Cause: "Newer"}))
	s.add(s.op(journal.OpResumed, 10, journal.Decision{Reason: "kept\x1b[2J by a newer release"}))
	s.close()
	forge(t, s.path, "op.rebased")
	return s
}

func mustFence(t testing.TB) journal.Event {
	t.Helper()
	ev, err := journal.New(journal.FenceRaised, journal.OpID{}, journal.Fence{Scope: scriptPool, Fence: 4})
	if err != nil {
		t.Fatal(err)
	}
	ev.Actor = "executor"
	return ev
}
