package sim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

const poolID = "01950000-0000-7000-8000-000000000001"

// claimed is a pool of fresh servers with gates that belong to instance "op" at
// fence 5.
func claimed(t *testing.T, o Options) *Pool {
	t.Helper()
	o.Gates = true
	if o.Servers == nil {
		o.Servers = []string{"s1", "s2", "s3"}
	}
	p := New(o)
	for _, s := range o.Servers {
		if _, err := client(p, s, "op", 5).Claim(t.Context(), gate.ClaimMode{Fresh: true}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func client(p *Pool, server, instance string, fence uint64) *gate.Client {
	return gate.NewClient(p.Transport(server), poolID, instance, func() uint64 { return fence })
}

func probeCmd(attempt string) gate.Command {
	return gate.Command{Argv: gluster.ArgvPeerProbe("s2"), Attempt: attempt}
}

func TestGateFencing(t *testing.T) {
	p := claimed(t, Options{})
	other := gate.NewClient(p.Transport("s1"), "01950000-0000-7000-8000-000000000002", "op", func() uint64 { return 99 })
	reason := func(err error) gate.Reason {
		if f, ok := errors.AsType[*gate.FencedError](err); ok {
			return f.Reason
		}
		return ""
	}
	ctx := t.Context()
	run := func(c *gate.Client, attempt string) error {
		_, _, err := c.Run(ctx, probeCmd(attempt))
		return err
	}
	if err := run(client(p, "s1", "op", 4), "a1"); reason(err) != gate.ReasonLowerFence || !gate.NotStarted(err) {
		t.Errorf("a lower fence: %v", err)
	}
	if err := run(other, "a2"); reason(err) != gate.ReasonForeignPool {
		t.Errorf("another pool: %v", err)
	}
	if err := run(client(p, "s1", "op2", 9), "a3"); reason(err) != gate.ReasonOtherInstance {
		t.Errorf("another instance: %v", err)
	}
	if _, err := client(p, "s1", "op2", 9).Claim(ctx, gate.ClaimMode{}); reason(err) != gate.ReasonOtherInstance {
		t.Errorf("a claim of another instance: %v", err)
	}
	if _, err := client(p, "s1", "op2", 5).Claim(ctx, gate.ClaimMode{TakeOver: "op"}); reason(err) != gate.ReasonLowerFence {
		t.Errorf("a take-over with the same fence: %v", err)
	}
	if len(p.Effects()) != 0 {
		t.Errorf("effects %+v", p.Effects())
	}
	if o, err := client(p, "s1", "op2", 9).Claim(ctx, gate.ClaimMode{TakeOver: "op"}); err != nil || o.Instance != "op2" || o.Fence != 9 {
		t.Errorf("a take-over: %+v, %v", o, err)
	}
	if err := run(client(p, "s1", "op", 10), "a4"); reason(err) != gate.ReasonOtherInstance {
		t.Errorf("the one that was replaced: %v", err)
	}
	if err := run(client(p, "s1", "op2", 12), "a5"); err != nil {
		t.Error(err)
	}
	g, err := client(p, "s1", "", 0).Hello(ctx)
	if want := (&gate.Owner{Pool: poolID, Instance: "op2", Fence: 12}); err != nil || !cmp.Equal(g.Owner, want) {
		t.Errorf("owner %+v, %v", g.Owner, err)
	}
}

func TestGateClaimsFreshServersOnly(t *testing.T) {
	p := New(Options{Servers: []string{"s1", "s2"}, Gates: true})
	ok(t, p, "s1", gluster.ArgvPeerProbe("s2"))
	if _, err := client(p, "s1", "op", 1).Claim(t.Context(), gate.ClaimMode{Fresh: true}); !errors.Is(err, gate.ErrNotFresh) {
		t.Errorf("a server with a peer: %v", err)
	}
	if _, _, err := client(p, "s1", "op", 1).Run(t.Context(), probeCmd("a")); !errors.Is(err, gate.ErrUnclaimed) {
		t.Errorf("an unclaimed server: %v", err)
	}
	q := New(Options{Servers: []string{"s1"}})
	if _, err := client(q, "s1", "op", 1).Hello(t.Context()); !errors.Is(err, gate.ErrNotInstalled) {
		t.Errorf("a server without a gate: %v", err)
	}
	if err := q.Transport("s1").Install(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	g, err := client(q, "s1", "op", 1).Hello(t.Context())
	if err != nil || g.Owner != nil || g.Digest != "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" {
		t.Errorf("after the installation: %+v, %v", g, err)
	}
}

func TestGateAttempts(t *testing.T) {
	p := claimed(t, Options{})
	c := client(p, "s1", "op", 5)
	first, rec, err := c.Run(t.Context(), probeCmd("a1"))
	if err != nil || first.Exit != 0 || rec.Attempt != "a1" || rec.GlusterdStart == "" {
		t.Fatalf("%+v, %+v, %v", first, rec, err)
	}
	again, _, err := c.Run(t.Context(), probeCmd("a1"))
	if err != nil || !cmp.Equal(first, again) || len(p.Effects()) != 1 {
		t.Errorf("the same attempt ran again: %+v, %v, %d effects", again, err, len(p.Effects()))
	}
	if _, _, err := c.Run(t.Context(), gate.Command{Argv: gluster.ArgvPeerProbe("s3"), Attempt: "a1"}); !errors.Is(err, gate.ErrRefused) {
		t.Errorf("the attempt for another command: %v", err)
	}
	if _, _, err := c.Run(t.Context(), gate.Command{Argv: []string{"gluster", "--mode=script", "peer", "detach", "s2"}, Attempt: "a9"}); !errors.Is(err, gate.ErrRefused) {
		t.Errorf("a command that is in no list: %v", err)
	}
	if _, err := c.Receipt(t.Context(), "nobody"); !errors.Is(err, gate.ErrNoReceipt) {
		t.Errorf("an attempt that never was: %v", err)
	}
	if r, err := c.Receipt(t.Context(), "a1"); err != nil || r.Result == nil || r.Ended == 0 || r.Running {
		t.Errorf("receipt %+v, %v", r, err)
	}
	e := p.Effects()[0]
	want := Effect{Server: "s1", Verb: "run", Attempt: "a1", Fence: 5, Argv: []string{"peer", "probe", "s2"}, On: []string{"s1", "s2"}}
	if diff := cmp.Diff(want, e, cmpopts.IgnoreFields(Effect{}, "Seq", "At")); diff != "" {
		t.Errorf("effect, -want +got:\n%s", diff)
	}
}

func TestGateLosesReplies(t *testing.T) {
	cases := map[string]struct {
		reason  string
		rule    Rule
		effects int
		receipt error
	}{
		"Lost":  {"It ran and has its receipt.", Rule{Lost: true}, 1, nil},
		"Never": {"The request did not arrive: no receipt.", Rule{Effect: EffectNever}, 0, gate.ErrNoReceipt},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := claimed(t, Options{})
			tc.rule.Name = "r"
			if err := p.AddRule(tc.rule); err != nil {
				t.Fatal(err)
			}
			c := client(p, "s1", "op", 5)
			if _, _, err := c.Run(t.Context(), probeCmd("a1")); !errors.Is(err, ErrReplyLost) || gate.NotStarted(err) {
				t.Errorf("%s Got %v", tc.reason, err)
			}
			if n := len(p.Effects()); n != tc.effects {
				t.Errorf("%s %d effects", tc.reason, n)
			}
			if _, err := c.Receipt(t.Context(), "a1"); !errors.Is(err, tc.receipt) {
				t.Errorf("%s Receipt: %v", tc.reason, err)
			}
			if _, _, err := c.Run(t.Context(), probeCmd("a1")); err != nil {
				t.Errorf("%s Sent again: %v", tc.reason, err)
			}
			if n := len(p.Effects()); n != 1 {
				t.Errorf("%s In the end %d effects", tc.reason, n)
			}
		})
	}
}

// TestGateKillsAtTheDeadline: the client is killed, its receipt says so, and
// the command is applied later.
func TestGateKillsAtTheDeadline(t *testing.T) {
	p := claimed(t, Options{})
	c := client(p, "s1", "op", 5)
	if _, _, err := c.Run(t.Context(), probeCmd("a1")); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop("s2"); err != nil {
		t.Fatal(err)
	}
	argv := gluster.ArgvClusterSet("cluster.daemon-log-level", "DEBUG")
	res, rec, err := c.Run(t.Context(), gate.Command{Argv: argv, Attempt: "a2", Deadline: time.Minute})
	if err != nil || !res.TimedOut || res.Exit != 137 || rec.Ended-rec.Started != int64(time.Minute) {
		t.Fatalf("%+v, %+v, %v", res, rec, err)
	}
	if err := p.Continue("s2"); err != nil {
		t.Fatal(err)
	}
	h, err := c.History(t.Context())
	if _, found := gluster.HistoryFind(h, argv, time.Unix(0, rec.Started)); err != nil || !found {
		t.Errorf("history %s, %v", h, err)
	}
	if last := p.Effects()[len(p.Effects())-1]; !last.Late || last.Attempt != "a2" {
		t.Errorf("effect %+v", last)
	}
}

func TestGateBricks(t *testing.T) {
	p := claimed(t, Options{})
	ctx, c := t.Context(), client(p, "s1", "op", 5)
	path := gate.BrickPath{Root: "/bricks/b1", Volume: "vol", Leaf: "0-0-0"}
	var mount *gate.MountError
	var brick *gate.BrickError
	if _, err := c.MakeBrick(ctx, "m0", 0, path); !errors.As(err, &mount) {
		t.Errorf("a directory that is not registered: %v", err)
	}
	if _, err := c.Register(ctx, "r0", 0, "/mnt"); !errors.As(err, &mount) {
		t.Errorf("the root file system: %v", err)
	}
	if _, err := c.Register(ctx, "r1", 0, "/bricks/b1", "/bricks/b2"); err != nil {
		t.Fatal(err)
	}
	if err := p.Mount("s1", "/bricks/b1", false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.MakeBrick(ctx, "m1", 0, path); !errors.As(err, &mount) {
		t.Errorf("an unmounted directory (S12): %v", err)
	}
	_ = p.Mount("s1", "/bricks/b1", true)
	for range 2 {
		if i, err := c.MakeBrick(ctx, "m2", 0, path); err != nil || !i.Empty || i.Path != "/bricks/b1/vol/0-0-0/brick" {
			t.Fatalf("%+v, %v", i, err)
		}
	}
	// A create that fails on another server leaves a mark (LAB-3).
	create := gluster.ArgvVolumeCreate(gluster.CreateSpec{Name: "v", Bricks: []gluster.Brick{{Host: "s1", Path: "/bricks/b1/vol/0-0-0/brick"}, {Host: "s3", Path: "/b"}}})
	if res, _, err := c.Run(ctx, gate.Command{Argv: create, Attempt: "c1"}); err != nil || res.Exit != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	i, err := inspect(ctx, p, path)
	if err != nil || i.VolumeID == "" || !i.Leftover || i.Empty {
		t.Fatalf("%+v, %v", i, err)
	}
	if _, err := c.MakeBrick(ctx, "m3", 0, path); !errors.As(err, &brick) {
		t.Errorf("a marked directory: %v", err)
	}
	reclaim := func(attempt, id string) gate.Reply {
		rep, _ := p.Handle(ctx, "s1", gate.Request{
			Version: gate.ProtocolVersion, Verb: gate.Reclaim, Pool: poolID, Instance: "op", Fence: 5, Attempt: attempt, Brick: &path, VolumeID: id,
		})
		return rep
	}
	if rep := reclaim("x1", poolID); rep.Reason != gate.ReasonBrick {
		t.Errorf("reclaiming with another id: %+v", rep)
	}
	if rep := reclaim("x2", i.VolumeID); rep.Exit != gate.ExitOK {
		t.Errorf("reclaiming: %+v", rep)
	}
	one := gluster.ArgvVolumeCreate(gluster.CreateSpec{Name: "v", Bricks: []gluster.Brick{{Host: "s1", Path: "/bricks/b1/vol/0-0-0/brick"}}})
	if res, _, err := c.Run(ctx, gate.Command{Argv: one, Attempt: "c2"}); err != nil || res.Exit != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	whole := gate.BrickPath{Root: path.Root, Volume: path.Volume}
	if _, err := c.Retire(ctx, "t1", 0, whole); !errors.As(err, &brick) || brick.Brick.BrickOf != "v" {
		t.Errorf("retiring a brick in use: %v", err)
	}
	if _, _, err := c.Run(ctx, gate.Command{Argv: gluster.ArgvVolumeDelete("v"), Attempt: "d1"}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{"t2", "t3"} {
		if _, err := c.Retire(ctx, a, 0, whole); err != nil {
			t.Errorf("retiring: %v", err)
		}
	}
	if i, err = inspect(ctx, p, path); err != nil || i.Exists {
		t.Errorf("after retiring: %+v, %v", i, err)
	}
	st, g, err := c.Observe(ctx, "/mnt")
	if err != nil || g.Owner.Fence != 5 || len(st.Mounts) != 3 || !slices.Contains([]string{"", "glusterd is not running"}, st.StateErr) || st.UUID != p.UUID("s1") {
		t.Errorf("observed %+v, %v", st, err)
	}
	if _, err := gluster.ParseState(st.State); err != nil {
		t.Error(err)
	}
	retired := 0
	for _, e := range p.Effects() {
		retired += boolInt(e.Verb == string(gate.Retire))
	}
	if retired != 1 {
		t.Errorf("retired %d times", retired)
	}
}

func inspect(ctx context.Context, p *Pool, path gate.BrickPath) (gate.BrickInfo, error) {
	rep, err := p.Transport("s1").Do(ctx, gate.Request{Version: gate.ProtocolVersion, Verb: gate.Inspect, Brick: &path})
	if err != nil || rep.Brick == nil {
		return gate.BrickInfo{}, errors.Join(err, errors.New(rep.Error))
	}
	return *rep.Brick, nil
}

func TestGateResolves(t *testing.T) {
	p := claimed(t, Options{})
	got, err := client(p, "s1", "op", 5).Resolve(t.Context(), "s1", "s2", "nosuch")
	want := []gate.Resolved{
		{Name: "s1", Addrs: []string{"192.0.2.1"}, Local: true, Reverse: []string{"s1"}},
		{Name: "s2", Addrs: []string{"192.0.2.2"}, Reverse: []string{"s2"}},
		{Name: "nosuch", Error: "no such host"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestGateDropsBricks(t *testing.T) {
	p := claimed(t, Options{})
	c := client(p, "s1", "op", 5)
	if _, err := c.Register(t.Context(), "r1", 0, "/bricks/b1"); err != nil {
		t.Fatal(err)
	}
	one := gate.BrickPath{Root: "/bricks/b1", Volume: "vol", Leaf: "0-0-0"}
	two := gate.BrickPath{Root: "/bricks/b1", Volume: "vol", Leaf: "1-0-0"}
	for a, b := range map[string]gate.BrickPath{"m1": one, "m2": two} {
		if _, err := c.MakeBrick(t.Context(), a, 0, b); err != nil {
			t.Fatal(err)
		}
	}
	drop := func(attempt string, b gate.BrickPath) gate.Reply {
		rep, _ := p.Handle(t.Context(), "s1", gate.Request{
			Version: gate.ProtocolVersion, Verb: gate.Drop, Pool: poolID, Instance: "op", Fence: 5, Attempt: attempt, Brick: &b,
		})
		return rep
	}
	for _, a := range []string{"d1", "d2"} {
		if rep := drop(a, one); rep.Exit != gate.ExitOK {
			t.Errorf("dropping: %+v", rep)
		}
	}
	if i, err := inspect(t.Context(), p, two); err != nil || !i.Exists {
		t.Errorf("the one beside it: %+v, %v", i, err)
	}
	if err := p.Mark("s1", "/bricks/b1/vol/1-0-0/brick", foreignID, true); err != nil {
		t.Fatal(err)
	}
	if rep := drop("d3", two); rep.Reason != gate.ReasonBrick {
		t.Errorf("dropping a brick with data: %+v", rep)
	}
}

// TestGateLosesPower: a machine that goes off under a command leaves a receipt
// without an end, and the command never happens.
func TestGateLosesPower(t *testing.T) {
	p := claimed(t, Options{Clock: time.Now})
	if err := p.AddRule(Rule{Name: "r", Effect: EffectHeld}); err != nil {
		t.Fatal(err)
	}
	c := client(p, "s1", "op", 5)
	sent := make(chan error, 1)
	go func() {
		_, _, err := c.Run(context.WithoutCancel(t.Context()), probeCmd("a1"))
		sent <- err
	}()
	await(t, "the command runs", func() bool { r, err := c.Receipt(t.Context(), "a1"); return err == nil && r.Running })
	if err := p.Power("s1", false); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err == nil || gate.NotStarted(err) {
		t.Errorf("the machine went off: %v", err)
	}
	if _, err := c.Hello(t.Context()); !errors.Is(err, gate.ErrNotStarted) {
		t.Errorf("it is off: %v", err)
	}
	if err := p.Power("s1", true); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Run(t.Context(), probeCmd("a1")); !errors.Is(err, gate.ErrInterrupted) {
		t.Errorf("the same attempt: %v", err)
	}
	p.ClearRules()
	if n := len(p.Effects()); n != 0 {
		t.Errorf("%d effects", n)
	}
	if _, _, err := c.Run(t.Context(), probeCmd("a2")); err != nil {
		t.Error(err)
	}
}

func TestGateIsReleased(t *testing.T) {
	p := claimed(t, Options{})
	rep, _ := p.Handle(t.Context(), "s1", gate.Request{Version: gate.ProtocolVersion, Verb: gate.Release, Pool: poolID, Instance: "op", Fence: 5})
	if rep.Exit != gate.ExitOK {
		t.Fatalf("%+v", rep)
	}
	if _, err := client(p, "s1", "op", 5).Hello(t.Context()); !errors.Is(err, gate.ErrNotInstalled) {
		t.Errorf("the gate is still there: %v", err)
	}
}
