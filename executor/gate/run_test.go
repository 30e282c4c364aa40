package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRunRunsOncePerAttempt(t *testing.T) {
	w := newWorld(t).claim()
	w.glusterd(77, 1234)
	first := w.must(runReq("a1", "fail"))
	if first.Result.Exit != 3 || string(first.Result.Stderr) != "volume set: failed\n" || first.Result.TimedOut {
		t.Errorf("result %+v", first.Result)
	}
	if r := first.Receipt; r.Ended == 0 || r.Attempt != "a1" || r.Verb != Run || r.Fence != 1 || r.GlusterdStart != "boot-1:77:1234" {
		t.Errorf("receipt %+v", r)
	}
	w.process(77, "glusterd", 9999) // restarted meanwhile
	again := w.must(runReq("a1", "fail"))
	if again.Result.Exit != 3 || string(again.Result.Stderr) != string(first.Result.Stderr) {
		t.Errorf("resent: %+v", again.Result)
	}
	if again.Receipt.GlusterdStart != first.Receipt.GlusterdStart {
		t.Errorf("the receipt changed: %+v", again.Receipt)
	}
	if got := w.runs(); !slices.Equal(got, []string{"begin fail", "end fail"}) {
		t.Errorf("the command ran as %v", got)
	}
	w.refused(runReq("a1", "ok"), ExitUsage, ReasonAttemptReused)
	rep := w.must(Request{Verb: GetRecv, Attempt: "a1"})
	if r := rep.Receipt; r.Running || r.Result == nil || r.Result.Exit != 3 || !slices.Equal(r.Argv, set("fail")) {
		t.Errorf("receipt read: %+v", r)
	}
	w.refused(Request{Verb: GetRecv, Attempt: "a2"}, ExitFailed, ReasonNoReceipt)
}

func TestRunIsFenced(t *testing.T) {
	w := newWorld(t)
	w.refused(runReq("a0", "ok"), ExitFailed, ReasonUnclaimed)
	w.must(Request{Verb: Claim, Fence: 5})
	cases := map[string]struct {
		reason string
		req    Request
		why    Reason
	}{
		"Lower":    {"an operator of an earlier epoch", Request{Fence: 4}, ReasonLowerFence},
		"Pool":     {"another pool", Request{Pool: poolB, Fence: 9}, ReasonForeignPool},
		"Instance": {"another operator", Request{Instance: "op-2", Fence: 9}, ReasonOtherInstance},
		"TakeOver": {"only Claim takes over", Request{Instance: "op-2", TakeOver: "op-1", Fence: 9}, ReasonOtherInstance},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, v := range []Verb{Run, Register, MakeBrick, Drop, Retire, Reclaim, Release} {
				req := tc.req
				req.Verb, req.Attempt, req.Argv = v, "x-"+string(v), set("ok")
				req.Dirs = []string{"/nowhere"}
				req.Brick, req.VolumeID = &BrickPath{Root: "/nowhere", Volume: "v", Leaf: "0-0-0"}, poolA
				if v == Retire {
					req.Brick.Leaf = ""
				}
				rep := w.refused(req, ExitFenced, tc.why)
				if rep.Owner == nil || rep.Owner.Fence != 5 {
					t.Errorf("%s: %s names owner %+v", tc.reason, v, rep.Owner)
				}
			}
		})
	}
	if got := w.runs(); got != nil {
		t.Errorf("something ran: %v", got)
	}
	if e, _ := os.ReadDir(filepath.Join(w.o.StateDir, "receipts")); len(e) != 0 {
		t.Errorf("refused requests left %d receipts", len(e))
	}
	higher := runReq("a1", "ok")
	higher.Fence = 6
	w.must(higher)
	w.refused(runReq("a2", "ok"), ExitFenced, ReasonLowerFence)
	if got := w.must(Request{Verb: Hello}).Owner; got.Fence != 6 {
		t.Errorf("a higher fence was not recorded: %+v", got)
	}
}

func TestRunRefusesOtherCommands(t *testing.T) {
	w := newWorld(t).claim()
	w.refused(Request{Verb: Run, Attempt: "a1", Argv: []string{"rm", "-rf", "/"}}, ExitUsage, ReasonNotAllowed)
	w.refused(Request{Verb: Read, Argv: set("ok")}, ExitUsage, ReasonNotAllowed)
	if got := w.runs(); got != nil {
		t.Errorf("something ran: %v", got)
	}
	w.o.Gluster = filepath.Join(t.TempDir(), "gluster")
	rep := w.must(runReq("a2", "ok"))
	if rep.Result.Exit != ExitMissing {
		t.Errorf("without a gluster command: %+v", rep.Result)
	}
	w.refused(Request{Verb: Read, Argv: []string{"gluster", "pool", "list"}}, ExitMissing, ReasonNoGluster)
}

func TestRunChildSeesNothingOfOurs(t *testing.T) {
	t.Setenv("SECRET_OF_THE_LOGIN", "x")
	w := newWorld(t).claim()
	rep := w.must(runReq("a1", "env"))
	want := []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/",
		"PYTHONPATH=" + filepath.Join(w.o.StateDir, "python"), "PYTHONDONTWRITEBYTECODE=1", w.o.Env[0]}
	got := strings.Split(strings.TrimSuffix(string(rep.Result.Stdout), "\n<cliOutput/>\n"), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestRunBoundsTheOutput(t *testing.T) {
	w := newWorld(t).claim()
	rep := w.must(runReq("a1", "flood"))
	if r := rep.Result; len(r.Stdout) != OutputBytesMax || !r.Truncated || r.Exit != 0 {
		t.Errorf("%d bytes, truncated %t, exit %d", len(r.Stdout), r.Truncated, r.Exit)
	}
	if got := w.runs(); !slices.Contains(got, "end flood") {
		t.Errorf("the command did not reach its end: %v", got)
	}
	if r := w.must(Request{Verb: GetRecv, Attempt: "a1"}).Receipt.Result; len(r.Stdout) != keptOutputMax || !r.Truncated {
		t.Errorf("receipt keeps %d bytes, truncated %t", len(r.Stdout), r.Truncated)
	}
}

func TestRunTellsHowTheChildEnded(t *testing.T) {
	w := newWorld(t).claim()
	if r := w.must(runReq("a1", "kill")).Result; r.Exit != 128+15 || r.TimedOut {
		t.Errorf("killed by SIGTERM: %+v", r)
	}
	late := runReq("a2", "brood:stay")
	late.Deadline = 300 * time.Millisecond
	if r := w.must(late).Result; r.Exit != 128+9 || !r.TimedOut {
		t.Errorf("past its deadline: %+v", r)
	}
	w.gone("the process it left at its deadline")
	if err := os.Remove(w.log); err != nil {
		t.Fatal(err)
	}
	if r := w.must(runReq("a3", "brood")).Result; r.Exit != 0 || r.TimedOut {
		t.Errorf("left a process behind: %+v", r)
	}
	w.gone("the process it left behind")
	w.must(runReq("a4", "ok")) // and the lock is free
}

// gone waits until the process noted in the log has ended.
func (w *world) gone(what string) {
	w.t.Helper()
	var pid int
	for _, l := range w.runs() {
		if s, ok := strings.CutPrefix(l, "pid "); ok {
			pid, _ = strconv.Atoi(s)
		}
	}
	if pid == 0 {
		w.t.Fatalf("%s was never there", what)
	}
	w.until("the end of "+what, func() bool {
		s, err := readStat("/proc", pid)
		return err != nil || !s.live()
	})
}

func TestRunIsBusyWhileAnotherRuns(t *testing.T) {
	w := newWorld(t).claim()
	release := filepath.Join(t.TempDir(), "go")
	long := runReq("long", "wait:"+release)
	p := w.spawn(long)
	w.began("wait:" + release)

	rep := w.refused(runReq("other", "ok"), ExitBusy, ReasonBusy)
	if r := rep.Receipt; r == nil || r.Attempt != "long" || !r.Running || r.Argv == nil {
		t.Errorf("busy with %+v", r)
	}
	w.refused(long, ExitBusy, ReasonBusy) // the same attempt
	w.refused(Request{Verb: Claim, Fence: 2}, ExitBusy, ReasonBusy)
	// Reads are not held up, nor do they disturb the lock.
	if r := w.must(Request{Verb: GetRecv, Attempt: "long"}).Receipt; !r.Running || r.Ended != 0 {
		t.Errorf("receipt of what runs: %+v", r)
	}
	w.must(Request{Verb: Read, Argv: []string{"gluster", "--version"}})
	if got := w.must(Request{Verb: Hello}).Owner.Fence; got != 1 {
		t.Errorf("fence %d was raised under a running command", got)
	}

	// A claim with patience gets its turn, and only then is the fence up.
	done := make(chan Reply)
	go func() {
		done <- Handle(context.Background(), w.fill(Request{Verb: Claim, Fence: 2, LockWait: 20 * time.Second}), w.o)
	}()
	select {
	case rep := <-done:
		t.Fatalf("the claim did not wait: %+v", rep)
	case <-time.After(100 * time.Millisecond):
	}
	w.write(release, "")
	if rep := <-done; rep.Exit != ExitOK || rep.Owner.Fence != 2 {
		t.Fatalf("the claim that waited: %+v", rep)
	}
	if err := p.wait(); err != nil {
		t.Fatal(err)
	}
	if rep, err := Decode(&p.out); err != nil || rep.Result.Exit != 0 {
		t.Errorf("the long command: %+v, %v", rep, err)
	}
	if !slices.Contains(w.runs(), "end wait:"+release) {
		t.Errorf("runs %v", w.runs())
	}
	w.refused(runReq("late", "ok"), ExitFenced, ReasonLowerFence)
}

func TestReadingReceiptsNeverMakesTheServerBusy(t *testing.T) {
	w := newWorld(t).claim()
	w.must(runReq("a0", "ok"))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				Handle(context.Background(), w.fill(Request{Verb: GetRecv, Attempt: "a0"}), w.o)
			}
		}
	}()
	for i := range 30 {
		w.must(Request{Verb: Claim, Fence: uint64(i + 2)})
	}
	close(stop)
	<-done
}

func TestReceiptsAreBounded(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	fake := func(name string, at time.Time, body string) {
		p := g.receiptPath(name)
		w.write(p, body)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
	base := time.Unix(1_700_000_000, 0)
	for i := range ReceiptsMax + pruneSlack + 1 {
		name := fmt.Sprintf("a%d", i)
		ended := `,"ended":5`
		if i == 3 {
			ended = "" // its gate was killed
		}
		fake(name, base.Add(time.Duration(i)*time.Second), fmt.Sprintf(`{"attempt":%q,"verb":"run","fence":1,"started":4%s}`, name, ended))
	}
	w.must(runReq("new", "ok"))
	e, err := os.ReadDir(g.receiptDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(e) > ReceiptsMax+2 {
		t.Errorf("%d receipts are left", len(e))
	}
	for _, name := range []string{"a3", "new", fmt.Sprintf("a%d", ReceiptsMax+pruneSlack)} {
		w.must(Request{Verb: GetRecv, Attempt: name})
	}
	w.refused(Request{Verb: GetRecv, Attempt: "a0"}, ExitFailed, ReasonNoReceipt)
}

func TestReceiptsOnAFullDisk(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	mountTmpfs(t, w.o.StateDir, "size=256k")
	w.claim()
	release := filepath.Join(t.TempDir(), "go")
	p := w.spawn(runReq("a1", "wait:"+release))
	w.began("wait:" + release)
	fill(t, w.o.StateDir)
	w.write(release, "")
	if err := p.wait(); err != nil {
		t.Fatal(err)
	}
	// What ran is on record, without its output.
	r := w.must(Request{Verb: GetRecv, Attempt: "a1"}).Receipt
	if r.Ended == 0 || r.Result == nil || r.Result.Exit != 0 || !r.Result.Truncated {
		t.Errorf("receipt %+v", r)
	}
	// What cannot be put on record does not run.
	w.refused(runReq("a2", "ok"), ExitFailed, ReasonState)
	if slices.Contains(w.runs(), "begin ok") {
		t.Error("a command ran without a receipt")
	}
	if err := os.Remove(filepath.Join(w.o.StateDir, "filler")); err != nil {
		t.Fatal(err)
	}
	w.must(runReq("a2", "ok"))
}

func TestReceiptUnreadableIsInterrupted(t *testing.T) {
	w := newWorld(t).claim()
	w.must(runReq("a1", "ok"))
	w.write(filepath.Join(w.o.StateDir, "receipts/a1.json"), "\x00\x00")
	w.refused(runReq("a1", "ok"), ExitFailed, ReasonInterrupted)
	if got := w.runs(); len(got) != 2 {
		t.Errorf("runs %v", got)
	}
}
