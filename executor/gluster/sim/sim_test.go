package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gluster/anthill/executor/gluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// trio is a pool of s1, s2 and s3 with a started replica 3 volume v1.
func trio(t tester, servers ...string) *Pool {
	t.Helper()
	if len(servers) == 0 {
		servers = []string{"s1", "s2", "s3", "s4"}
	}
	p := New(Options{Seed: 7, Servers: servers})
	ok(t, p, "s1", gluster.ArgvPeerProbe("s2"))
	ok(t, p, "s1", gluster.ArgvPeerProbe("s3"))
	ok(t, p, "s1", gluster.ArgvVolumeCreate(gluster.CreateSpec{Name: "v1", Replica: 3, Bricks: bricks(t, p, "a")}))
	ok(t, p, "s1", gluster.ArgvVolumeStart("v1", false))
	return p
}

// bricks makes the parents of a brick on each of s1, s2 and s3.
func bricks(t tester, p *Pool, leaf string) []gluster.Brick {
	t.Helper()
	var out []gluster.Brick
	for _, s := range []string{"s1", "s2", "s3"} {
		dir := "/bricks/b1/v/" + leaf
		if err := p.MakeDir(s, dir); err != nil {
			t.Fatalf("%v", err)
		}
		out = append(out, gluster.Brick{Host: s, Path: dir + "/brick"})
	}
	return out
}

func run(p *Pool, server string, argv []string) error {
	c := gluster.NewClient(p.Runner(server))
	_, err := c.Mutate(context.Background(), "attempt", argv)
	return err
}

func ok(t tester, p *Pool, server string, argv []string) {
	t.Helper()
	if err := run(p, server, argv); err != nil {
		t.Fatalf("%v", err)
	}
}

// view is a server's own view.
func view(t tester, p *Pool, server string) *gluster.State {
	t.Helper()
	text, err := p.GetState(server)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s, err := gluster.ParseState(text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

func brickCount(t tester, p *Pool, server, volume string) int {
	t.Helper()
	v, _ := view(t, p, server).Volume(volume)
	return len(v.Bricks)
}

func option(t tester, p *Pool, server, key string) string {
	t.Helper()
	v, _ := view(t, p, server).Volume("v1")
	return v.Options[key]
}

func TestLateCommit(t *testing.T) {
	p := trio(t)
	if err := p.Stop("s3"); err != nil {
		t.Fatal(err)
	}
	set := gluster.ArgvVolumeSet("v1", "user.late", "yes")
	if err := run(p, "s1", set); !gluster.IsUnknown(err) || gluster.ReasonOf(err) != gluster.ReasonTimedOut {
		t.Fatalf("a command that waits for a stopped peer: %v", err)
	}
	for i := range 3 {
		if got := option(t, p, "s1", "user.late"); got != "" {
			t.Fatalf("probe %d: it is applied already: %q", i, got)
		}
	}
	if _, found := gluster.HistoryFind(p.History("s1"), set, time.Time{}); found {
		t.Fatal("it is in the history before it ended")
	}
	if err := run(p, "s2", gluster.ArgvVolumeSet("v1", "user.x", "y")); !gluster.IsBusy(err) {
		t.Errorf("its lock is held: %v", err)
	}
	if err := p.Continue("s3"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"s1", "s2", "s3"} {
		if got := option(t, p, s, "user.late"); got != "yes" {
			t.Errorf("on %s it is %q", s, got)
		}
	}
	if o, found := gluster.HistoryFind(p.History("s1"), set, time.Time{}); !found || !o.Succeeded {
		t.Errorf("history %+v, %v", o, found)
	}
	last := p.Effects()[len(p.Effects())-1]
	if !last.Late || !cmp.Equal(last.On, []string{"s1", "s2", "s3"}) {
		t.Errorf("effect %+v", last)
	}
	ok(t, p, "s1", gluster.ArgvBarrier("v1", "a2"))
}

// TestLateCommitIsCancelled: what waits is gone with its originator, and fails
// when the peer it waits for dies.
func TestLateCommitIsCancelled(t *testing.T) {
	cases := map[string]struct {
		reason string
		end    func(*Pool) error
		logged bool // as failed
	}{
		"OriginatorDies": {"Its glusterd takes it along.", func(p *Pool) error {
			if err := p.Kill("s1"); err != nil {
				return err
			}
			return p.Start("s1")
		}, false},
		"PeerDies": {"The lock is not granted.", func(p *Pool) error { return p.Kill("s3") }, true},
		"TooLong":  {"After ten minutes it gives up.", func(p *Pool) error { p.Advance(11 * time.Minute); return nil }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := trio(t)
			if err := p.Stop("s3"); err != nil {
				t.Fatal(err)
			}
			set := gluster.ArgvVolumeSet("v1", "user.late", "yes")
			if err := run(p, "s1", set); !gluster.IsUnknown(err) {
				t.Fatal(err)
			}
			if err := tc.end(p); err != nil {
				t.Fatal(err)
			}
			_ = p.Continue("s3")
			for _, s := range []string{"s1", "s2"} {
				if got := option(t, p, s, "user.late"); got != "" {
					t.Errorf("%s On %s it is %q", tc.reason, s, got)
				}
			}
			o, found := gluster.HistoryFind(p.History("s1"), set, time.Time{})
			if found != tc.logged || found && o.Succeeded {
				t.Errorf("%s History %+v, %v", tc.reason, o, found)
			}
			ok(t, p, "s1", gluster.ArgvVolumeSet("v1", "user.next", "y"))
		})
	}
}

func TestRules(t *testing.T) {
	set := gluster.ArgvVolumeSet("v1", "user.x", "y")
	cases := map[string]struct {
		reason  string
		rule    Rule
		want    gluster.Reason
		verdict gluster.Verdict
		on      []string // servers that have it in memory afterwards
		disk    []string // and still have it after all restarted at once
	}{
		"Lost":    {"Applied, nobody is told.", Rule{Lost: true}, gluster.ReasonReplyLost, gluster.Unknown, []string{"s1", "s2", "s3"}, []string{"s1", "s2", "s3"}},
		"Never":   {"Not applied, nobody is told.", Rule{Effect: EffectNever}, gluster.ReasonReplyLost, gluster.Unknown, nil, nil},
		"Held":    {"Not applied yet.", Rule{Effect: EffectHeld}, gluster.ReasonTimedOut, gluster.Unknown, nil, nil},
		"Refused": {"A text of one's own.", Rule{Effect: EffectNone, Text: "Volume v1 does not exist"}, gluster.ReasonNoVolume, gluster.Term, nil, nil},
		"AfterAll": {
			"LAB-2: applied, and then an error.", Rule{Text: "Post Validation failed on s3"},
			gluster.ReasonHalfApplied, gluster.Unknown, []string{"s1", "s2", "s3"}, []string{"s1", "s2", "s3"},
		},
		"Partial": {
			"Some servers only; the higher version wins when they meet again.", Rule{On: []string{"s1", "s2"}},
			gluster.ReasonHalfApplied, gluster.Unknown, []string{"s1", "s2"}, []string{"s1", "s2", "s3"},
		},
		"Memory": {
			"LAB-4: in memory only.", Rule{MemoryOnly: true, Text: "Commit failed on s2. Please check log file for details."},
			gluster.ReasonHalfApplied, gluster.Unknown, []string{"s1", "s2", "s3"}, nil,
		},
		"Crash": {
			"LAB-6: the originator dies before its disk has it.", Rule{MemoryOnly: true, Crash: "s1"},
			gluster.ReasonDaemonDown, gluster.Unknown, []string{"s2", "s3"}, nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := trio(t)
			before := len(p.Effects())
			tc.rule.Name, tc.rule.Command = "r", "volume set"
			if err := p.AddRule(tc.rule); err != nil {
				t.Fatal(err)
			}
			err := run(p, "s1", set)
			if gluster.ReasonOf(err) != tc.want || verdict(err) != tc.verdict {
				t.Errorf("%s Got %v", tc.reason, err)
			}
			_ = p.Start("s1")
			if diff := cmp.Diff(tc.on, having(t, p)); diff != "" {
				t.Errorf("%s In memory, -want +got:\n%s", tc.reason, diff)
			}
			if n := len(p.Effects()) - before; n != boolInt(len(tc.on) > 0) {
				t.Errorf("%s %d effects", tc.reason, n)
			}
			for _, s := range []string{"s1", "s2", "s3"} {
				_ = p.Kill(s)
			}
			for _, s := range []string{"s1", "s2", "s3"} {
				_ = p.Start(s)
			}
			if diff := cmp.Diff(tc.disk, having(t, p)); diff != "" {
				t.Errorf("%s After a restart, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func verdict(err error) gluster.Verdict {
	for v, is := range map[gluster.Verdict]func(error) bool{
		gluster.Done: gluster.IsDone, gluster.Retry: gluster.IsRetry, gluster.Unknown: gluster.IsUnknown, gluster.Need: gluster.IsNeed, gluster.Term: gluster.IsTerminal,
	} {
		if is(err) {
			return v
		}
	}
	return ""
}

// having are the servers whose memory has user.x.
func having(t tester, p *Pool) (out []string) {
	t.Helper()
	for _, s := range []string{"s1", "s2", "s3"} {
		if option(t, p, s, "user.x") == "y" {
			out = append(out, s)
		}
	}
	return out
}

func TestHeldIsReleased(t *testing.T) {
	p := trio(t)
	if err := p.AddRule(Rule{Name: "r", Command: "volume add-brick", Nth: 2, Effect: EffectHeld}); err != nil {
		t.Fatal(err)
	}
	ok(t, p, "s1", gluster.ArgvAddBrick("v1", bricks(t, p, "b")))
	add := gluster.ArgvAddBrick("v1", bricks(t, p, "c"))
	if err := run(p, "s1", add); !gluster.IsUnknown(err) {
		t.Fatal(err)
	}
	if err := run(p, "s1", add); !gluster.IsBusy(err) {
		t.Errorf("sent again while the first may come: %v", err)
	}
	if n := brickCount(t, p, "s2", "v1"); n != 6 {
		t.Errorf("%d bricks before", n)
	}
	if err := p.Release("r"); err != nil {
		t.Fatal(err)
	}
	if n := brickCount(t, p, "s2", "v1"); n != 9 {
		t.Errorf("%d bricks after", n)
	}
	if err := run(p, "s1", add); gluster.ReasonOf(err) != gluster.ReasonBrickListed {
		t.Errorf("sent once more: %v", err)
	}
	if r := p.Rules(); len(r) != 1 || r[0].Seen != 4 || r[0].Applied != 1 {
		t.Errorf("rules %+v", r)
	}
}

// TestSplitTopology is LAB-5 and LAB-6: equal versions hide the split until the
// next change, and only the restart after that shows it.
func TestSplitTopology(t *testing.T) {
	p := trio(t)
	if err := p.AddRule(Rule{Name: "r", Command: "volume add-brick", MemoryOnly: true, Text: "Commit failed on s2. Please check log file for details."}); err != nil {
		t.Fatal(err)
	}
	if err := run(p, "s1", gluster.ArgvAddBrick("v1", bricks(t, p, "b"))); !gluster.IsUnknown(err) {
		t.Fatal(err)
	}
	restart(t, p, "s3")
	if a, b := brickCount(t, p, "s1", "v1"), brickCount(t, p, "s3", "v1"); a != 6 || b != 3 {
		t.Fatalf("%d and %d bricks", a, b)
	}
	state := func() gluster.PeerState {
		e, _ := view(t, p, "s1").Peer(p.UUID("s3"))
		return e.State
	}
	if s := state(); s != gluster.PeerInCluster {
		t.Errorf("right after it is %q", s)
	}
	ok(t, p, "s1", gluster.ArgvVolumeSet("v1", "user.x", "y"))
	if s := state(); s != gluster.PeerInCluster {
		t.Errorf("after a change it is %q", s)
	}
	restart(t, p, "s3")
	if s := state(); s != gluster.PeerRejected {
		t.Errorf("after the restart that follows it is %q", s)
	}
}

func restart(t tester, p *Pool, server string) {
	t.Helper()
	if err := p.Kill(server); err != nil {
		t.Fatalf("%v", err)
	}
	if err := p.Start(server); err != nil {
		t.Fatalf("%v", err)
	}
}

func TestProbes(t *testing.T) {
	p := trio(t, "s1", "s2", "s3", "s4", "s5")
	probe := func(host string) gluster.Reason {
		r, err := gluster.NewClient(p.Runner("s1")).PeerProbe(t.Context(), "a", host)
		if err != nil {
			return gluster.ReasonOf(err)
		}
		return r.Reason
	}
	_ = run(p, "s4", gluster.ArgvUUIDGet())
	own := p.UUID("s4")
	steps := []struct {
		reason string
		before func() error
		want   gluster.Reason
	}{
		{"A clone of the prober.", func() error { return p.SetUUID("s4", p.UUID("s1")) }, gluster.ReasonPeerCloned},
		{"A clone of a third is another name of it (LAB-14).", func() error { return p.SetUUID("s4", p.UUID("s2")) }, gluster.ReasonPeerKnown},
		{"A server that is cut off.", func() error { return p.Cut("s5") }, gluster.ReasonPeerUnreachable},
	}
	hosts := []string{"s4", "s4", "s5"}
	for i, st := range steps {
		if err := st.before(); err != nil {
			t.Fatal(err)
		}
		if got := probe(hosts[i]); got != st.want {
			t.Errorf("%s Got %q, want %q", st.reason, got, st.want)
		}
	}
	e, _ := view(t, p, "s3").Peer(p.UUID("s2"))
	if !slices.Contains(e.OtherNames, "s4") {
		t.Errorf("the clone is another name: %+v", e)
	}
	if _, known := view(t, p, "s1").Peer(own); known {
		t.Error("the clone's own UUID was never there")
	}
	_ = p.Heal("s5")
	if got := probe("s5"); got != "" {
		t.Errorf("it is reachable again: %q", got)
	}
	for _, s := range []string{"s2", "s3", "s5"} {
		if got := len(view(t, p, s).Peers); got != 3 {
			t.Errorf("%s has %d peers", s, got)
		}
	}
	if v, ok := view(t, p, "s5").Volume("v1"); !ok || len(v.Bricks) != 3 {
		t.Errorf("the new member has %+v", v)
	}
}

func TestNoReverseNames(t *testing.T) {
	p := New(Options{Servers: []string{"s1", "s2"}, NoReverse: true})
	ok(t, p, "s1", gluster.ArgvPeerProbe("s2"))
	if got := view(t, p, "s2").Peers[0].Names(); !cmp.Equal(got, []string{"192.0.2.1"}) {
		t.Errorf("before it probes back, s2 knows s1 as %v", got)
	}
	ok(t, p, "s2", gluster.ArgvPeerProbe("s1"))
	if got := view(t, p, "s2").Peers[0].Names(); !slices.Contains(got, "s1") {
		t.Errorf("after it, as %v", got)
	}
}

func TestDisks(t *testing.T) {
	p := trio(t)
	if err := p.Mount("s2", "/bricks/b1", false); err != nil {
		t.Fatal(err)
	}
	if err := run(p, "s1", gluster.ArgvAddBrick("v1", []gluster.Brick{{Host: "s1", Path: "/bricks/b2/x"}, {Host: "s2", Path: "/bricks/b1/x"}, {Host: "s3", Path: "/bricks/b2/x"}})); gluster.ReasonOf(err) != gluster.ReasonBrickRootFS {
		t.Errorf("an unmounted directory is on the root file system: %v", err)
	}
	_ = p.KillBrick("s2", "/bricks/b1/v/a/brick")
	ok(t, p, "s1", gluster.ArgvVolumeStart("v1", true)) // F13: success, and the brick stays away
	v, _ := view(t, p, "s2").Volume("v1")
	if v.Bricks[1].Online() {
		t.Error("the brick runs without its disk")
	}
	if err := p.Mount("s2", "/bricks/b1", true); err != nil {
		t.Fatal(err)
	}
	ok(t, p, "s1", gluster.ArgvVolumeStart("v1", true))
	if v, _ = view(t, p, "s2").Volume("v1"); !v.Bricks[1].Online() {
		t.Error("the brick does not run with its disk")
	}
	_ = p.KillBrick("s2", "/bricks/b1/v/a/brick")
	if err := p.SwapDisk("s2", "/bricks/b1"); err != nil {
		t.Fatal(err)
	}
	ok(t, p, "s1", gluster.ArgvVolumeStop("v1"))
	if err := run(p, "s1", gluster.ArgvVolumeStart("v1", false)); gluster.ReasonOf(err) != gluster.ReasonBrickDirMissing {
		t.Errorf("another disk: %v", err)
	}
}

func TestRebalanceByTheClock(t *testing.T) {
	p := trio(t)
	p.SetRebalance(RebalancePlan{Takes: time.Minute, Files: 60, Failures: 2, Skipped: 1})
	ok(t, p, "s1", gluster.ArgvAddBrick("v1", bricks(t, p, "b")))
	ok(t, p, "s1", gluster.ArgvRebalanceStart("v1"))
	if err := run(p, "s2", gluster.ArgvRebalanceStart("v1")); gluster.ReasonOf(err) != gluster.ReasonRebalanceRunning {
		t.Errorf("a second one: %v", err)
	}
	p.Advance(30 * time.Second)
	c := gluster.NewClient(p.Runner("s2"))
	r, err := c.RebalanceStatus(t.Context(), "v1")
	if err != nil || len(r.Nodes) != 3 || r.Nodes[0].Status != gluster.RebalanceRunning || r.Nodes[0].Files != 30 {
		t.Errorf("half way: %+v, %v", r, err)
	}
	restart(t, p, "s3") // LAB-10
	p.Advance(31 * time.Second)
	for _, s := range []string{"s1", "s2", "s3"} {
		v, _ := view(t, p, s).Volume("v1")
		st, ok := v.Rebalance.Status()
		failures := uint64(2)
		if s == "s3" {
			failures = 0
		}
		if !ok || st != gluster.RebalanceCompleted || v.Rebalance.TaskID != r.TaskID || v.Rebalance.Failures != failures {
			t.Errorf("at the end %s says %+v", s, v.Rebalance)
		}
	}
}

func TestHeals(t *testing.T) {
	p := trio(t)
	p.SetHeal("v1", "s1:/bricks/b1/v/a/brick", Heal{Pending: 3, SplitBrain: 1})
	h, err := gluster.NewClient(p.Runner("s2")).HealInfoSummary(t.Context(), "v1")
	if err != nil || h[0].Clean() || h[0].Pending != 3 || h[0].SplitBrain != 1 || !h[1].Clean() {
		t.Errorf("heal info %+v, %v", h, err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	p := trio(t)
	_ = p.AddRule(Rule{Name: "r", Command: "volume stop", Lost: true})
	saved, err := p.Save()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Load(Options{Seed: 7}, saved)
	if err != nil {
		t.Fatal(err)
	}
	again, err := q.Save()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(saved), string(again)); diff != "" {
		t.Errorf("-saved +loaded:\n%s", diff)
	}
	if err := run(q, "s1", gluster.ArgvVolumeStop("v1")); gluster.ReasonOf(err) != gluster.ReasonReplyLost {
		t.Errorf("the rule is gone: %v", err)
	}
	ok(t, q, "s1", gluster.ArgvVolumeStart("v1", false))
	if _, err := Load(Options{}, []byte("{")); err == nil {
		t.Error("half a file was loaded")
	}
}

// TestDeterministic: the same seed and the same acts give the same bytes.
func TestDeterministic(t *testing.T) {
	act := func(seed uint64) string {
		p := New(Options{Seed: seed, Servers: []string{"s1", "s2", "s3"}})
		for _, s := range []string{"s2", "s3"} {
			ok(t, p, "s1", gluster.ArgvPeerProbe(s))
		}
		ok(t, p, "s1", gluster.ArgvVolumeCreate(gluster.CreateSpec{Name: "v", Replica: 3, Bricks: bricks(t, p, "a")}))
		b, err := p.Save()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, second := act(1), act(1)
	if first != second {
		t.Error("the same seed gives different pools")
	}
	if first == act(2) {
		t.Error("another seed gives the same pool")
	}
}

// TestAgreement: whatever happens to the servers, once all run and are linked
// they agree on every volume, unless one was rejected; and every effect that is
// logged was asked for once.
func TestAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := trio(t)
		names := []string{"s1", "s2", "s3"}
		sent := 0
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			s := rapid.SampledFrom(names).Draw(t, "server")
			switch rapid.IntRange(0, 9).Draw(t, "act") {
			case 0:
				_ = p.Kill(s)
			case 1:
				_ = p.Start(s)
			case 2:
				_ = p.Stop(s)
			case 3:
				_ = p.Continue(s)
			case 4:
				_ = p.Cut(s)
			case 5:
				_ = p.Heal(s)
			default:
				sent++
				_ = run(p, s, gluster.ArgvVolumeSet("v1", fmt.Sprintf("user.k%d", i), "v"))
			}
		}
		for _, s := range names {
			_ = p.Heal(s)
			_ = p.Continue(s)
			_ = p.Start(s)
		}
		for _, s := range names { // those that came early meet those that came late
			restart(t, p, s)
		}
		seen := map[string]int{}
		for _, e := range p.Effects() {
			seen[strings.Join(e.Argv, " ")]++
		}
		for cmd, n := range seen {
			if n != 1 {
				t.Fatalf("%q was applied %d times", cmd, n)
			}
		}
		first := view(t, p, "s1")
		for _, s := range names[1:] {
			if e, _ := first.Peer(p.UUID(s)); e.State == gluster.PeerRejected {
				return
			}
			a, _ := first.Volume("v1")
			b, _ := view(t, p, s).Volume("v1")
			if diff := cmp.Diff(a.Volume, b.Volume); diff != "" {
				t.Fatalf("s1 and %s differ and none is rejected:\n%s", s, diff)
			}
		}
	})
}
