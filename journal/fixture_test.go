package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
)

// testID is a version 7 UUID whose order is n's.
func testID(n int) OpID {
	var id OpID
	binary.BigEndian.PutUint32(id[:], uint32(n))
	id[6], id[8] = 0x70, 0x80
	return id
}

func mustEvent(t testing.TB, typ Type, id OpID, data any) Event {
	t.Helper()
	ev, err := New(typ, id, data)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// testOptions are deterministic: clock and ids count.
func testOptions(t testing.TB) Options {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	return Options{
		Build: "test",
		Clock: func() time.Time { now = now.Add(time.Millisecond); return now },
		NewID: func() (uuid.UUID, error) { return testID(0xABCD), nil },
		Fatal: func(err error) { t.Errorf("journal ended the process: %v", err) },
	}
}

func testPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "journal.db")
}

// memoryDir is a directory on tmpfs, where syncs cost nothing.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// openTest opens the journal at path with an epoch; it is closed and must
// verify when the test ends.
func openTest(t testing.TB, path string, o Options) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		mustVerify(t, path)
	})
	if _, err := j.OpenEpoch(t.Context(), Opened{Instance: "test"}); err != nil {
		t.Fatalf("opening an epoch: %v", err)
	}
	return j
}

func mustVerify(t testing.TB, path string) Report {
	t.Helper()
	r, err := Verify(context.Background(), path)
	if err != nil {
		t.Fatalf("verifying: %v", err)
	}
	for _, f := range r.Findings {
		t.Errorf("does not verify: %v", f)
	}
	return r
}

// testPlan is a plan of a wait, a compensatable step, a pivot and a retriable one.
func testPlan(n int) Plan {
	return Plan{
		Kind: "add-brick", Scope: fmt.Sprintf("pool-%d", n%3), Object: "GlusterVolume/default/v1", Target: "volume/v1",
		Reason: Reason{Action: "volumeGrown", Difference: "1 set, wants 2", Generation: int64(n)},
		Intent: fmt.Sprintf("intent-%d", n),
		Locks:  []string{fmt.Sprintf("volume:v%d/layout", n)},
		Steps: []Step{
			{ID: "guard", Name: "guard@1", Stage: Waiting},
			{ID: "mkdir", Name: "mkdir@1", Stage: Compensatable},
			{ID: "add", Name: "add@1", Stage: Pivot},
			{ID: "rebalance", Name: "rebalance@1", Stage: Retriable},
		},
	}
}

func step(t testing.TB, typ Type, id OpID, name string, attempt int, data any) Event {
	t.Helper()
	ev := mustEvent(t, typ, id, data)
	ev.Step, ev.Attempt, ev.Actor = name, attempt, "executor"
	return ev
}

// runOp appends the whole life of an operation, some events at a time.
func runOp(t testing.TB, j *Journal, n int) {
	t.Helper()
	id := testID(n)
	appends := [][]Event{
		{mustEvent(t, OpPlanned, id, testPlan(n))},
		{{Type: OpStarted, Op: id}, step(t, StepStarted, id, "guard", 1, Started{AttemptID: "a"})},
	}
	last := "guard"
	for _, s := range []string{"mkdir", "add", "rebalance"} {
		appends = append(appends, []Event{
			step(t, StepSucceeded, id, last, 1, Succeeded{Message: "seen"}),
			step(t, StepStarted, id, s, 1, Started{AttemptID: s, Originator: "n1", Argv: []string{"volume", "add-brick"}}),
		})
		last = s
	}
	appends = append(appends, []Event{step(t, StepSucceeded, id, last, 1, Succeeded{}), mustEvent(t, OpCompleted, id, Completed{})})
	for _, evs := range appends {
		if _, err := j.Append(t.Context(), Guard{}, evs...); err != nil {
			t.Fatalf("operation %d: %v", n, err)
		}
	}
}
