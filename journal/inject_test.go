package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// strace finds the tool that injects errors into system calls.
func strace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace (Debian package strace)")
	}
	return path
}

// runInjected runs a child that appends while strace fails system calls, and
// returns its exit status and what it acknowledged last.
func runInjected(t *testing.T, path, inject string) (exit int, acked Seq, out string) {
	t.Helper()
	syscall, _, _ := strings.Cut(inject, ":")
	cmd := child(t, "append", path, 2, strace(t), "-f", "-qq", "-o", "/dev/null", "-e", "trace="+syscall, "-e", "inject="+inject)
	cmd.WaitDelay = 10 * time.Second
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	exit = 0
	if ee := (*exec.ExitError)(nil); errors.As(err, &ee) {
		exit = ee.ExitCode()
	} else if err != nil {
		t.Fatalf("running %v: %v", cmd.Args, err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(both.Bytes())); sc.Scan(); {
		if num, ok := strings.CutPrefix(sc.Text(), "ack "); ok {
			n, err := strconv.ParseUint(num, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acked = Seq(n)
		}
	}
	return exit, acked, both.String()
}

// TestInjectedFaults fails or kills at the n-th system call of a kind, for many
// n, while a journal is made and appended to. Whatever happens, the process
// ends rather than goes on after a commit of unknown outcome, and the next one
// finds a journal that verifies and holds everything that was acknowledged.
func TestInjectedFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		inject string
		upTo   int
		exits  map[int]int // exit statuses that must occur, and how often at least
	}{
		"SyncFails":  {"a failed sync leaves the outcome unknown", "fdatasync:error=EIO:when=%d", 12, map[int]int{ExitPoisoned: 3, 3: 1}},
		"WriteFails": {"a failed write may have changed anything", "pwrite64:error=EIO:when=%d", 14, map[int]int{ExitPoisoned: 1, 3: 1}},
		"NoSpace":    {"without space only what ends things is written", "pwrite64:error=ENOSPC:when=%d+", 12, map[int]int{3: 2}},
		"Killed":     {"killed in a sync", "fdatasync:signal=SIGKILL:when=%d", 12, map[int]int{-1: 3}},
		"NoRename":   {"the journal cannot be put into place", "renameat2:error=EIO:when=%d", 1, map[int]int{3: 1}},
		"NoDirSync":  {"the directory cannot be synced", "fsync:error=EIO:when=%d", 3, map[int]int{3: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[int]int{}
			for n := 1; n <= tc.upTo; n++ {
				inject := fmt.Sprintf(tc.inject, n)
				path := filepath.Join(t.TempDir(), "journal.db")
				exit, acked, out := runInjected(t, path, inject)
				got[exit]++
				if exit == 2 || strings.Contains(out, "panic:") || strings.Contains(out, "fatal error") {
					t.Errorf("%s: the process crashed: %s", inject, out)
				}
				j, err := Open(t.Context(), path, testOptions(t))
				if err != nil {
					t.Errorf("%s: exit %d, then Open: %v\n%s", inject, exit, err, out)
					continue
				}
				if head := j.Head().Seq; head < acked {
					t.Errorf("%s: event %d was acknowledged, the journal ends at %d", inject, acked, head)
				}
				if r := j.Repaired(); len(r) > 0 {
					t.Errorf("%s: repaired %v", inject, r)
				}
				if err := j.Close(); err != nil {
					t.Errorf("%s: closing: %v", inject, err)
				}
				mustVerify(t, path)
			}
			t.Logf("exit statuses: %v", got)
			for exit, least := range tc.exits {
				if got[exit] < least {
					t.Errorf("%s: exit %d occurred %d times, want %d: the faults do not reach the code", tc.reason, exit, got[exit], least)
				}
			}
		})
	}
}

// TestCrashPoints ends a process at each named point; the points are those
// that are listed.
func TestCrashPoints(t *testing.T) {
	var met []string
	o := testOptions(t)
	o.CrashPoint = func(name string) { met = append(met, name) }
	openTest(t, testPath(t), o)
	if diff := cmp.Diff(CrashPoints, met); diff != "" {
		t.Errorf("crash points of a fresh journal (-listed +met):\n%s", diff)
	}
	ends := map[string]Seq{
		"journal.create.before-write":  1,
		"journal.create.before-rename": 1,
		"journal.create.after-rename":  1,
		"journal.append.before-commit": 1,
		"journal.append.after-commit":  2,
	}
	for _, name := range CrashPoints {
		t.Run(name, func(t *testing.T) {
			path := testPath(t)
			cmd := child(t, "append", path, 1)
			cmd.Env = append(cmd.Env, childCrashEnv+"="+name)
			if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitCrash {
				t.Fatalf("the child ended with %v\n%s", err, out)
			}
			j, err := Open(t.Context(), path, testOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Head().Seq; got != ends[name] {
				t.Errorf("the journal ends at %d, want %d", got, ends[name])
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			mustVerify(t, path)
		})
	}
}
