package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestObserve(t *testing.T) {
	w := newWorld(t).claim()
	w.glusterd(77, 1234)
	g := w.o.GlusterdDir
	w.write(filepath.Join(g, "glusterd.info"), "UUID=7acfeb16-a614-467f-9254-b15008b00d24\noperating-version=100000\n")
	w.write(filepath.Join(g, "peers/33333333-3333-4333-8333-333333333333"), "uuid=x\n")
	w.write(filepath.Join(g, "peers/n9.tmp"), "")
	w.write(filepath.Join(g, "vols/v1/info"), "username=u\npassword=hunter2\n")
	w.write(filepath.Join(g, "vols/v1/bricks/n1:-bricks-b-1-x"), "uuid=y\nhostname=n1\npath=/bricks/b-1/x\n")
	w.write(filepath.Join(g, "vols/file"), "")
	run := filepath.Join(w.o.RunDir, "vols/v1")
	for name, pid := range map[string]int{"n1-bricks-b-1-x": 101, "n1-live": 102, "n1-zombie": 103, "n1-reused": 104, "n1-gone": 105} {
		w.write(filepath.Join(run, name+".pid"), fmt.Sprintln(pid))
	}
	w.process(101, "glusterfsd", 5, "glusterfsd", "-s", "n1", "--brick-name", "/other/of/a/multiplexed")
	w.process(102, "glusterfsd", 5, "glusterfsd", "--brick-name", "/live")
	w.process(103, "glusterfsd", 5)
	w.write(filepath.Join(w.o.ProcDir, "103/stat"), "103 (glusterfsd) Z 1 2 3 "+strings.Repeat("0 ", 15)+"5 0")
	w.process(104, "bash", 5)

	rep := w.must(Request{Verb: Observe, Dirs: []string{"/nowhere"}})
	want := &ServerState{
		Glusterd: Glusterd{Running: true, Start: "boot-1:77:1234", Version: "10.3"},
		UUID:     "7acfeb16-a614-467f-9254-b15008b00d24",
		Peers:    []string{"33333333-3333-4333-8333-333333333333"},
		Volumes:  []string{"v1"},
		State:    []byte("[Global]\nMYUUID: u\n"),
		Mounts:   []Mount{{Dir: "/nowhere", Error: "/nowhere does not exist"}},
		Bricks: []Brick{
			{Volume: "v1", Path: "/bricks/b-1/x", PID: 101, Alive: true},
			{Volume: "v1", PID: 105},
			{Volume: "v1", Path: "/live", PID: 102, Alive: true},
			{Volume: "v1", PID: 104},
			{Volume: "v1", PID: 103},
		},
	}
	if d := cmp.Diff(want, rep.State, cmpopts.IgnoreFields(ServerState{}, "Hostname", "FreeMeta")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if rep.State.Hostname == "" || rep.State.FreeMeta == 0 || rep.Digest == "" || rep.Owner == nil {
		t.Errorf("host %q, free %d, digest %q, owner %v", rep.State.Hostname, rep.State.FreeMeta, rep.Digest, rep.Owner)
	}
	if s := string(frame(t, rep)); strings.Contains(s, "hunter2") {
		t.Error("the reply holds a volume's password")
	}
	if e, _ := os.ReadDir(filepath.Join(w.o.StateDir, "tmp")); len(e) != 0 {
		t.Errorf("left %d files of get-state", len(e))
	}
}

func TestObserveWithoutGlusterd(t *testing.T) {
	cases := map[string]struct {
		reason string
		seed   func(w *world)
	}{
		"NoPIDFile":  {"it was never started", func(*world) {}},
		"StaleFile":  {"it ended and left its pid file", func(w *world) { w.write(w.o.PIDFiles[0], "77\n") }},
		"ReusedPID":  {"and its pid went to another program", func(w *world) { w.glusterd(77, 1); w.process(77, "sshd", 2) }},
		"BrokenFile": {"a pid file of nonsense", func(w *world) { w.write(w.o.PIDFiles[0], "-1\n") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).claim()
			tc.seed(w)
			s := w.must(Request{Verb: Observe}).State
			if s.Glusterd.Running || s.Glusterd.Start != "" || s.State != nil || s.StateErr == "" {
				t.Errorf("%s: %+v, %q, %q", tc.reason, s.Glusterd, s.State, s.StateErr)
			}
		})
	}
}

func TestObserveDoesNotWaitForAGlusterdThatHangs(t *testing.T) {
	w := newWorld(t).claim()
	w.glusterd(77, 1234)
	w.o.Env = append(w.o.Env, "GATE_TEST_HANG=1")
	w.o.StateWait = 50 * time.Millisecond
	// What an earlier one wrote after its client was gone.
	late := filepath.Join(w.o.StateDir, "tmp/state-1-1-1")
	w.write(late, "")
	if err := os.Chtimes(late, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	s := w.must(Request{Verb: Observe}).State
	if s.State != nil || !strings.Contains(s.StateErr, "did not answer") || !s.Glusterd.Running {
		t.Errorf("state %q, %q", s.State, s.StateErr)
	}
	if _, err := os.Stat(late); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old answer is still there: %v", err)
	}
}

func TestReadRunsWithoutLockAndFence(t *testing.T) {
	w := newWorld(t) // unclaimed
	rep := w.must(Request{Verb: Read, Argv: []string{"gluster", "--version"}})
	if rep.Result.Exit != 0 || !strings.HasPrefix(string(rep.Result.Stdout), "glusterfs 10.3") {
		t.Errorf("%+v", rep.Result)
	}
	if _, err := os.Stat(w.o.StateDir); err == nil {
		t.Error("a read left a state folder")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := Handle(ctx, w.fill(Request{Verb: Read, Argv: []string{"gluster", "volume", "info"}}), w.o)
	if got.Exit != ExitFailed || got.Reason != ReasonState {
		t.Errorf("a read nobody waits for any more: %+v", got)
	}
}

func TestHistory(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf("[2026-12-01 01:03:20.%06d +0000]  : volume set v1 a b : SUCCESS\n", i)
	}
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	many := HistoryBytesMax/len(line(0)) + 10
	cases := map[string]struct {
		reason, old, new string
		first, last      string
		truncated        bool
	}{
		"None":    {reason: "no command yet"},
		"Short":   {reason: "all of it", new: lines(0, 3), first: line(0), last: line(2)},
		"Rotated": {reason: "reaches back over a rotation", old: lines(0, 3), new: lines(3, 5), first: line(0), last: line(4)},
		"Long":    {reason: "the newest whole lines", new: lines(0, many), first: "[", last: line(many - 1), truncated: true},
		"LongOld": {reason: "as much of the old file as there is room", old: lines(0, many), new: lines(many, many+2), first: "[", last: line(many + 1), truncated: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.new != "" {
				w.write(filepath.Join(w.o.LogDir, "cmd_history.log"), tc.new)
			}
			if tc.old != "" {
				w.write(filepath.Join(w.o.LogDir, "cmd_history.log.1"), tc.old)
			}
			r := w.must(Request{Verb: History}).Result
			got := string(r.Stdout)
			if len(got) > HistoryBytesMax || !strings.HasPrefix(got, tc.first) || !strings.HasSuffix(got, tc.last) || r.Truncated != tc.truncated {
				t.Errorf("%s: %d bytes from %.80q, truncated %t", tc.reason, len(got), got, r.Truncated)
			}
		})
	}
}

// zone is a Resolver over two maps.
type zone struct{ hosts, addrs map[string][]string }

func (z zone) LookupHost(_ context.Context, h string) ([]string, error) { return look(z.hosts, h) }
func (z zone) LookupAddr(_ context.Context, a string) ([]string, error) { return look(z.addrs, a) }

func look(m map[string][]string, k string) ([]string, error) {
	if v, ok := m[k]; ok {
		return slices.Clone(v), nil
	}
	return nil, fmt.Errorf("lookup %s: no such host", k)
}

func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.o.Resolver = zone{
		hosts: map[string][]string{"n1": {"127.0.1.1"}, "n2": {"192.0.2.9", "192.0.2.8"}, "n3": {"192.0.2.3", "192.0.2.3"}},
		addrs: map[string][]string{"192.0.2.8": {"b.example.", "a.example."}, "192.0.2.9": {"a.example."}},
	}
	got := w.must(Request{Verb: Resolve, Names: []string{"n2", "n1", "gone", "n3"}}).Resolved
	want := []Resolved{
		{Name: "n2", Addrs: []string{"192.0.2.8", "192.0.2.9"}, Reverse: []string{"a.example", "b.example"}},
		{Name: "n1", Addrs: []string{"127.0.1.1"}, Local: true},
		{Name: "gone", Error: "lookup gone: no such host"},
		{Name: "n3", Addrs: []string{"192.0.2.3"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	w.o.Resolver = nil
	if got := w.must(Request{Verb: Resolve, Names: []string{"localhost"}}).Resolved[0]; !got.Local || got.Error != "" {
		t.Errorf("the system's resolver: %+v", got)
	}
	w.refused(Request{Verb: Resolve, Names: []string{"a\nb"}}, ExitUsage, ReasonUsage)
}
