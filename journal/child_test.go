package journal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// childPathEnv and childCountEnv tell a child its journal and how much to do.
const (
	childPathEnv  = "JOURNAL_TEST_PATH"
	childCountEnv = "JOURNAL_TEST_COUNT"
	childCrashEnv = "JOURNAL_TEST_CRASH" // name of the crash point to die at
)

// child is the command that runs a child of this test binary under wrapper.
func child(t testing.TB, name, path string, count int, wrapper ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(wrapper, self)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+name, childPathEnv+"="+path, childCountEnv+"="+strconv.Itoa(count))
	return cmd
}

const exitCrash = 137

// childAppend opens a journal, opens an epoch and appends operations; after
// each append that returned it prints "ack <seq>".
func childAppend() error {
	ctx := context.Background()
	count, err := strconv.Atoi(os.Getenv(childCountEnv))
	if err != nil {
		return err
	}
	j, err := Open(ctx, os.Getenv(childPathEnv), Options{MaxSize: maxSizeMin, CrashPoint: func(name string) {
		if name == os.Getenv(childCrashEnv) {
			os.Exit(exitCrash)
		}
	}})
	if err != nil {
		return err
	}
	if _, err := j.OpenEpoch(ctx, Opened{Instance: "child"}); err != nil {
		return err
	}
	ack := func(seq Seq) { fmt.Printf("ack %d\n", seq) }
	ack(j.Head().Seq)
	base := int(j.Head().Seq) * 1000
	for n := range count {
		id := testID(base + n)
		ev, err := New(OpPlanned, id, testPlan(base+n))
		if err != nil {
			return err
		}
		for _, evs := range [][]Event{
			{ev, {Type: OpStarted, Op: id}},
			{{Type: StepStarted, Op: id, Step: "guard", Attempt: 1}},
			{{Type: StepSucceeded, Op: id, Step: "guard", Attempt: 1}, {Type: OpFailed, Op: id}},
		} {
			seq, err := j.Append(ctx, Guard{}, evs...)
			if err != nil {
				return err
			}
			ack(seq)
		}
	}
	return j.Close()
}

// childHold opens a journal, says so, and holds it until its input ends.
func childHold() error {
	j, err := Open(context.Background(), os.Getenv(childPathEnv), Options{})
	if err != nil {
		return err
	}
	fmt.Println("held")
	var b [1]byte
	_, _ = os.Stdin.Read(b[:])
	return j.Close()
}
