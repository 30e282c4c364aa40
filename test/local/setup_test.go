package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
)

func TestSetupOfACompleteMachineDoesNothing(t *testing.T) {
	needRoot(t)
	if missing := missingPackages(everything); len(missing) > 0 {
		t.Fatalf("this machine lacks %q: run make setup", missing)
	}
	var out bytes.Buffer
	must(t, Setup(t.Context(), &out))
	if got := out.String(); got != "setup: every package is there\n" {
		t.Errorf("Setup() says %q", got)
	}
}

// TestSetupStopsWhatAPackageStarted stands a copy of sleep in for a daemon.
func TestSetupStopsWhatAPackageStarted(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	must(t, err)
	sleep, err = filepath.EvalSymlinks(sleep)
	must(t, err)
	d := daemon{path: filepath.Join(t.TempDir(), "daemon"), unit: "anthill-none.service"}
	must(t, copyFile(sleep, d.path, 0o700))
	all := []daemon{d}

	// Orphans become this process's children, in place of pid 1's.
	must(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { must(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	start := func() proc {
		t.Helper()
		earlier := running(all, os.Getpid())
		must(t, exec.CommandContext(t.Context(), "sh", "-c", "setsid "+d.path+" 60 >/dev/null 2>&1 &").Run())
		var found proc
		must(t, await.Until(t.Context(), 10*time.Second, "the daemon runs", "", func(context.Context) error {
			for p := range running(all, os.Getpid()) {
				if !earlier[p] {
					found = p
					return nil
				}
			}
			return errors.New("not yet")
		}))
		t.Cleanup(func() {
			_ = found.kill(context.Background())
			_, _ = unix.Wait4(found.PID, nil, 0, nil)
		})
		return found
	}
	old := start()
	before := running(all, os.Getpid())
	young := start()
	// One in the foreground of a shell, which is what would end it.
	shell := exec.CommandContext(t.Context(), "sh", "-c", d.path+" 60 & echo $!; wait")
	out1, err := shell.StdoutPipe()
	must(t, err)
	must(t, shell.Start())
	var pid int
	_, err = fmt.Fscan(out1, &pid)
	must(t, err)
	inFront, err := newProc(pid, "")
	must(t, err)
	defer func() {
		_ = inFront.kill(context.Background())
		_ = shell.Wait()
	}()

	var out bytes.Buffer
	must(t, stopNew(t.Context(), &out, all, os.Getpid(), before, map[string]bool{}))
	must(t, await.Until(t.Context(), 10*time.Second, "the new daemon ends", "", func(context.Context) error {
		if young.alive() {
			return errors.New("it runs")
		}
		return nil
	}))
	if !old.alive() || !inFront.alive() {
		t.Errorf("alive: the daemon from before %v, the one in the foreground %v; want both", old.alive(), inFront.alive())
	}
	if want := fmt.Sprintf("process %d,", young.PID); !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("stopNew() says %q, want one line about %q", out.String(), want)
	}
}
