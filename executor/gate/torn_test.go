package gate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tools makes mkfs.xfs another program for this world; the others are the
// system's.
func (w *world) tools(mkfs string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "tools")
	w.write(filepath.Join(dir, "mkfs.xfs"), mkfs)
	if err := os.Chmod(filepath.Join(dir, "mkfs.xfs"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.o.ToolDirs = []string{dir, "/usr/sbin", "/sbin"}
}

// whole asserts that the device has our file system and that nothing is wrong
// with it.
func (l *loop) whole(uuid string) {
	l.t.Helper()
	if out, err := exec.Command("xfs_repair", "-n", l.device).CombinedOutput(); err != nil {
		l.t.Errorf("xfs_repair: %v: %s", err, out)
	}
	if out := run(l.t, "blkid", "-p", "-o", "value", "-s", "UUID", l.device); strings.TrimSpace(out) != uuid {
		l.t.Errorf("UUID %s, want %s", out, uuid)
	}
}

// killedAt makes mkfs.xfs die of SIGKILL at its nth write.
func (w *world) killedAt(n int) {
	w.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		w.t.Fatalf("killing mkfs.xfs at a given write needs strace: %v", err)
	}
	w.tools(fmt.Sprintf("#!/bin/sh\nexec %s -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=%d mkfs.xfs \"$@\"\n", strace, n))
}

// mkfs.xfs, killed at any of its writes, leaves what the next attempt makes to
// its end, or nothing.
func TestTornFormatIsFinished(t *testing.T) {
	writes, step := 70, 7
	switch {
	case os.Getenv("ANTHILL_TEST_FULL") == "1":
		step = 1
	case testing.Short():
		step = 23
	}
	l := newLoop(t, 320)
	torn, whole := 0, 0
	for n := 1; n <= writes+step; n += step {
		w := l.pod()
		l.write(0, make([]byte, 1<<20)) // as new
		w.killedAt(n)
		attempt := fmt.Sprintf("f%d", n)
		first := w.do(formatReq(attempt, uuidOurs))
		d := w.must(Request{Verb: Observe}).State.Devices[0]
		switch {
		case first.Exit == ExitOK:
			whole++ // it has fewer writes
		case d.Unfinished:
			torn++
		}
		if d.Unfinished {
			if rep := w.do(mountReq("m"+attempt, uuidOurs)); rep.Reason != ReasonDevice {
				t.Errorf("killed at write %d: what is torn was mounted: %+v", n, rep)
			}
		}
		w.o.ToolDirs = nil
		w.must(formatReq(attempt, uuidOurs)) // the same attempt, sent again
		l.whole(uuidOurs)
		w.must(mountReq("mm"+attempt, uuidOurs))
		if err := unix.Unmount(filepath.Join(w.o.BricksDir, "b1"), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("torn %d times, whole %d times", torn, whole)
	if torn == 0 || whole == 0 {
		t.Errorf("torn %d times, whole %d times: the test does not kill where it should", torn, whole)
	}
}

// A plan that was made anew has another UUID; what an earlier one began is still
// ours by its record, until it was seen whole.
func TestTornFormatOfAnotherPlan(t *testing.T) {
	l := newLoop(t, 320)
	w := l.pod()
	w.killedAt(20)
	w.do(formatReq("f1", uuidOther))
	w.o.ToolDirs = nil
	w.must(formatReq("f2", uuidOurs))
	l.whole(uuidOurs)
	if rep := w.do(formatReq("f3", uuidOther)); rep.Reason != ReasonDevice {
		t.Errorf("what is whole: %+v", rep)
	}
}

// A gate that is killed leaves mkfs.xfs running, and the lock with it: nobody
// formats at the same time.
func TestFormatOutlivesItsGate(t *testing.T) {
	l := newLoop(t, 320)
	w := l.pod()
	flag := filepath.Join(t.TempDir(), "go")
	w.tools(fmt.Sprintf("#!/bin/sh\necho begun >>%s.begun\nwhile [ ! -e %s ]; do sleep 0.01; done\nexec /usr/sbin/mkfs.xfs \"$@\"\n", flag, flag))
	p := w.spawn(formatReq("f1", uuidOurs))
	w.until("mkfs.xfs to begin", func() bool { _, err := os.Stat(flag + ".begun"); return err == nil })
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait()
	if rep := w.do(formatReq("f2", uuidOther)); rep.Reason != ReasonBusy || rep.Receipt == nil || rep.Receipt.Attempt != "f1" {
		t.Errorf("while mkfs.xfs runs: %+v", rep)
	}
	w.write(flag, "")
	req := formatReq("f1", uuidOurs)
	req.LockWait = 20 * time.Second
	w.must(req)
	l.whole(uuidOurs)
	b, err := os.ReadFile(flag + ".begun")
	if err != nil || strings.Count(string(b), "begun") != 1 {
		t.Errorf("mkfs.xfs ran %d times (%v)", strings.Count(string(b), "begun"), err)
	}
}
