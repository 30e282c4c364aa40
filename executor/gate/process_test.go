package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A gate that is killed leaves the lock with its child: the next mutation
// waits for the child's end and then finds an attempt of unknown outcome.
func TestKilledGateLeavesTheLockToItsChild(t *testing.T) {
	w := newWorld(t).claim().shell()
	release := filepath.Join(t.TempDir(), "go")
	do := "wait:" + release
	p := w.spawn(runReq("a1", do))
	w.began(do)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait()
	w.refused(runReq("a2", "ok"), ExitBusy, ReasonBusy)
	w.refused(Request{Verb: Claim, Fence: 2}, ExitBusy, ReasonBusy)
	if r := w.must(Request{Verb: GetRecv, Attempt: "a1"}).Receipt; !r.Running || r.Ended != 0 {
		t.Errorf("while the child runs: %+v", r)
	}
	w.write(release, "")
	w.must(Request{Verb: Claim, Fence: 2, LockWait: 20 * time.Second})
	if !slices.Contains(w.runs(), "end "+do) {
		t.Errorf("the fence was raised before the child's end: %v", w.runs())
	}
	if r := w.must(Request{Verb: GetRecv, Attempt: "a1"}).Receipt; r.Running || r.Ended != 0 || r.Result != nil {
		t.Errorf("after the child's end: %+v", r)
	}
	resend := runReq("a1", do)
	resend.Fence = 2
	w.refused(resend, ExitFailed, ReasonInterrupted)
	if n := len(w.runs()); n != 2 {
		t.Errorf("runs %v", w.runs())
	}
}

// The deadline outlives the gate: whoever waits for the lock enforces it.
func TestOrphanIsEndedAtItsDeadline(t *testing.T) {
	w := newWorld(t).claim().shell()
	req := runReq("a1", "sleep:60")
	req.Deadline = 2 * time.Second // the gate has to be killed before
	p := w.spawn(req)
	w.began("sleep:60")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait()
	w.must(Request{Verb: Claim, Fence: 2, LockWait: 50 * time.Second})
	if slices.Contains(w.runs(), "end sleep:60") {
		t.Errorf("runs %v", w.runs())
	}
}

// The same when the gate was killed in the moment before it noted its child.
func TestOrphanThatWasNotNotedIsEnded(t *testing.T) {
	w := newWorld(t).claim().shell()
	req := runReq("a1", "sleep:60")
	req.Deadline = 2 * time.Second
	p := w.spawn(req)
	w.began("sleep:60")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait()
	g := &gate{w.o.withDefaults()}
	r, err := g.load("a1")
	if err != nil {
		t.Fatal(err)
	}
	r.Child = process{}
	if err := g.overwrite(&r); err != nil {
		t.Fatal(err)
	}
	w.must(Request{Verb: Claim, Fence: 2, LockWait: 50 * time.Second})
	if slices.Contains(w.runs(), "end sleep:60") {
		t.Errorf("runs %v", w.runs())
	}
}

// A child that is within its deadline is left alone by who waits.
func TestOrphanWithinItsDeadlineIsLeftAlone(t *testing.T) {
	w := newWorld(t).claim().shell()
	p := w.spawn(runReq("a1", "sleep:3"))
	w.began("sleep:3")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait()
	w.must(Request{Verb: Claim, Fence: 2, LockWait: 30 * time.Second})
	if !slices.Contains(w.runs(), "end sleep:3") {
		t.Errorf("runs %v", w.runs())
	}
}

// Whatever a cut connection does to the gate, it sees its command to the end
// and completes the receipt.
func TestGateSurvivesItsConnection(t *testing.T) {
	cases := map[string]struct {
		reason string
		cut    func(t *testing.T, p *gateProcess, out *os.File)
	}{
		"Hangup": {"the session's end", func(t *testing.T, p *gateProcess, _ *os.File) {
			for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGTERM, unix.SIGINT, unix.SIGPIPE} {
				if err := p.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
		}},
		"OutputClosed": {"nobody reads the reply", func(t *testing.T, _ *gateProcess, out *os.File) {
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).claim()
			release := filepath.Join(t.TempDir(), "go")
			r, wr, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p := w.spawnTo(runReq("a1", "wait:"+release), wr)
			wr.Close()
			w.began("wait:" + release)
			tc.cut(t, p, r)
			w.write(release, "")
			_ = p.wait()
			if rec := w.must(Request{Verb: GetRecv, Attempt: "a1"}).Receipt; rec.Ended == 0 || rec.Result == nil || rec.Result.Exit != 0 {
				t.Errorf("%s: receipt %+v", tc.reason, rec)
			}
			if p.cmd.ProcessState.ExitCode() != 0 {
				t.Errorf("%s: the gate ended with %v", tc.reason, p.cmd.ProcessState)
			}
		})
	}
}

func TestReadStat(t *testing.T) {
	w := newWorld(t)
	tail := " 1 2 3 " + strings.Repeat("0 ", 15) + "77 0"
	cases := map[string]struct {
		reason, text string
		want         stat
		err          bool
	}{
		"Plain":  {"an ordinary line", "5 (glusterfsd) S" + tail, stat{"glusterfsd", 'S', 77}, false},
		"Nasty":  {"a name may hold parentheses and blanks", "5 (a) R (b) Z" + tail, stat{"a) R (b", 'Z', 77}, false},
		"Short":  {"half a line", "5 (a) S 1 2", stat{}, true},
		"NoName": {"no name", "5 a S" + tail, stat{}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.write(filepath.Join(w.o.ProcDir, "5/stat"), tc.text)
			got, err := readStat(w.o.ProcDir, 5)
			if (err != nil) != tc.err || got != tc.want {
				t.Errorf("%s: %+v, %v; want %+v", tc.reason, got, err, tc.want)
			}
		})
	}
	me := thisProcess(os.Getpid())
	if !me.alive() || (process{PID: me.PID, Start: me.Start + 1}).alive() || (process{}).alive() {
		t.Errorf("this process: %+v", me)
	}
	if age := me.age(); age <= 0 || age > time.Hour {
		t.Errorf("this process is %v old", age)
	}
}
