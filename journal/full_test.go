package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fillUp plans operations and appends to the first until the journal is full,
// then checks what a full journal must and must not take. It leaves the
// operations ended.
func fillUp(ctx context.Context, j *Journal) error {
	const ops = 20
	for n := 1; n <= ops; n++ {
		ev, err := New(OpPlanned, testID(n), testPlan(n))
		if err != nil {
			return err
		}
		if _, err := j.Append(ctx, Guard{}, ev, Event{Type: OpStarted, Op: testID(n)}, Event{Type: StepStarted, Op: testID(n), Step: "guard", Attempt: 1}); err != nil {
			return fmt.Errorf("preparing: %w", err)
		}
	}
	var err error
	for range 10_000 {
		ev := Event{Type: StepProgress, Op: testID(1), Step: "guard", Data: []byte(`{"message":"` + strings.Repeat("x", 32<<10) + `"}`)}
		if _, err = j.Append(ctx, Guard{}, ev); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) || !j.Full() {
		return errors.Join(fmt.Errorf("filling up ended otherwise than with ErrFull, full %t", j.Full()), err)
	}
	head := j.Head()
	ev, err := New(OpPlanned, testID(ops+1), testPlan(ops+1))
	if err != nil {
		return err
	}
	if _, err := j.Append(ctx, Guard{}, ev); !errors.Is(err, ErrFull) || j.Head() != head {
		return errors.Join(fmt.Errorf("a full journal took a plan, or refused it otherwise than with ErrFull; head %v", j.Head()), err)
	}
	for n := 1; n <= ops; n++ {
		if _, err := j.Append(ctx, Guard{},
			Event{Type: StepFailed, Op: testID(n), Step: "guard"},
			Event{Type: OpSuspended, Op: testID(n)}); err != nil {
			return fmt.Errorf("recording an outcome in a full journal: %w", err)
		}
		if _, err := j.Append(ctx, Guard{}, Event{Type: OpAbandoned, Op: testID(n)}); err != nil {
			return fmt.Errorf("ending an operation in a full journal: %w", err)
		}
	}
	if got := j.OpenOps(); len(got) != 0 {
		return fmt.Errorf("open in the end: %v", got)
	}
	return nil
}

func TestFullBySize(t *testing.T) {
	path := testPath(t)
	o := testOptions(t)
	o.MaxSize = maxSizeMin
	j := openTest(t, path, o)
	if err := fillUp(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if s, err := j.Stats(); err != nil || !s.Full || s.FileBytes > o.MaxSize {
		t.Errorf("stats: %+v, %v", s, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openTest(t, path, o)
	if !j.Full() {
		t.Error("reopened with the same size, yet not full")
	}
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, testID(50), testPlan(50))); !errors.Is(err, ErrFull) {
		t.Errorf("planning: %v, want ErrFull", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	o.MaxSize *= 4
	j = openTest(t, path, o)
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, testID(50), testPlan(50))); err != nil || j.Full() {
		t.Errorf("planning with a larger size: %v, full %t", err, j.Full())
	}
}

// TestFullDisk fills a file system of its own, in a mount namespace of its own.
func TestFullDisk(t *testing.T) {
	cmd := child(t, "full", t.TempDir(), 0)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// childFull is TestFullDisk inside the namespace.
func childFull() error {
	ctx, dir := context.Background(), os.Getenv(childPathEnv)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		return fmt.Errorf("mounting: %w", err)
	}
	path := filepath.Join(dir, "journal.db")
	j, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if _, err := j.OpenEpoch(ctx, Opened{}); err != nil {
		return err
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, 16<<20), 0o600); err != nil {
		return err
	}
	if err := fillUp(ctx, j); err != nil {
		return err
	}
	if err := os.Remove(other); err != nil {
		return err
	}
	ev, err := New(OpPlanned, testID(90), testPlan(90))
	if err != nil {
		return err
	}
	if _, err := j.Append(ctx, Guard{}, ev); err != nil || j.Full() {
		return errors.Join(fmt.Errorf("planning with space again, full %t", j.Full()), err)
	}
	r, err := j.Verify(ctx)
	if err != nil || !r.OK() {
		return errors.Join(fmt.Errorf("verify: %+v", r), err)
	}
	return j.Close()
}

// TestPoisoned: after a commit of unknown outcome nothing goes on.
func TestPoisoned(t *testing.T) {
	o := testOptions(t)
	fatal := make(chan error, 1)
	o.Fatal = func(err error) { fatal <- err }
	boom := false
	o.Clock = func() time.Time {
		if boom { // inside the writer's transaction
			panic("a fault in the middle of a commit")
		}
		return time.Unix(1, 0)
	}
	path := testPath(t)
	j, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.OpenEpoch(t.Context(), Opened{}); err != nil {
		t.Fatal(err)
	}
	boom = true
	ev := mustEvent(t, OpPlanned, testID(1), testPlan(1))
	if _, err := j.Append(t.Context(), Guard{}, ev); !errors.Is(err, ErrPoisoned) {
		t.Errorf("append: %v, want ErrPoisoned", err)
	}
	if err := <-fatal; !errors.Is(err, ErrPoisoned) {
		t.Errorf("Fatal got %v", err)
	}
	boom = false
	_, rerr := j.Read(1, 0)
	_, aerr := j.Append(t.Context(), Guard{}, ev)
	if !errors.Is(rerr, ErrPoisoned) || !errors.Is(aerr, ErrPoisoned) {
		t.Errorf("after it: read %v, append %v; want ErrPoisoned", rerr, aerr)
	}
	if err := j.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if r := mustVerify(t, path); r.Ops != 0 {
		t.Errorf("the append is there: %+v", r)
	}
}
