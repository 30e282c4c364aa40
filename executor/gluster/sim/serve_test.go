package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// served serves a claimed pool in real time until the test ends.
func served(t *testing.T) (*Pool, string) {
	t.Helper()
	p := claimed(t, Options{Clock: time.Now})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, dir) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	await(t, "the servers listen", func() bool {
		for _, s := range p.Servers() {
			if _, err := socket(dir, s).Hello(t.Context()); err != nil {
				return false
			}
		}
		_, err := DialControl(dir).Do(t.Context(), Order{Op: "servers"})
		return err == nil
	})
	return p, dir
}

func socket(dir, server string) *gate.Client {
	return gate.NewClient(gate.DialUnix(Socket(dir, server)), poolID, "op", func() uint64 { return 5 })
}

// await polls for what another goroutine brings about.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestServe(t *testing.T) {
	p, dir := served(t)
	ctx, c := t.Context(), socket(dir, "s1")
	if _, _, err := c.Run(ctx, probeCmd("a1")); err != nil {
		t.Fatal(err)
	}
	out, err := c.Read(ctx, gate.Command{Argv: gluster.ArgvPoolList()})
	if err != nil || len(out.Stdout) == 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := gate.DialUnix(Socket(dir, "s1")).Install(ctx, []byte("another gate")); err != nil {
		t.Error(err)
	}
	order := func(o Order) Report {
		t.Helper()
		rep, err := DialControl(dir).Do(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	if rep := order(Order{Op: "effects"}); len(rep.Effects) != 1 {
		t.Errorf("effects %+v", rep)
	}
	order(Order{Op: "rule", Rule: &Rule{Name: "r", Command: "peer probe", Lost: true}})
	if _, _, err := c.Run(ctx, gate.Command{Argv: gluster.ArgvPeerProbe("s3"), Attempt: "a2"}); err == nil || gate.NotStarted(err) {
		t.Errorf("a lost reply: %v", err)
	}
	if n := len(view(t, p, "s3").Peers); n != 2 {
		t.Errorf("%d peers: it was applied", n)
	}
	order(Order{Op: "dark", Server: "s1", Yes: true})
	await(t, "the server is dark", func() bool { _, err := c.Hello(ctx); return errors.Is(err, gate.ErrNotStarted) })
	order(Order{Op: "dark", Server: "s1"})
	await(t, "the server is back", func() bool { _, err := c.Hello(ctx); return err == nil })
	if _, err := DialControl(dir).Do(ctx, Order{Op: "kill", Server: "nobody"}); err == nil {
		t.Error("an order about nobody was obeyed")
	}
}

// TestServeSurvivesItsClients: a command whose client is gone goes on, holds
// the server, and ends in its receipt.
func TestServeSurvivesItsClients(t *testing.T) {
	p, dir := served(t)
	if err := p.AddRule(Rule{Name: "r", Effect: EffectHeld}); err != nil {
		t.Fatal(err)
	}
	c := socket(dir, "s1")
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() {
		_, _, err := c.Run(ctx, probeCmd("a1"))
		sent <- err
	}()
	await(t, "the command runs", func() bool { r, err := c.Receipt(t.Context(), "a1"); return err == nil && r.Running })
	cancel()
	if err := <-sent; err == nil || gate.NotStarted(err) {
		t.Errorf("the client that gave up: %v", err)
	}
	var busy *gate.BusyError
	_, _, err := c.Run(t.Context(), gate.Command{Argv: gluster.ArgvPeerProbe("s3"), Attempt: "a2"})
	if !errors.As(err, &busy) || busy.Running != "a1" {
		t.Errorf("the server is taken: %v", err)
	}
	if err := p.Release("r"); err != nil {
		t.Fatal(err)
	}
	await(t, "it has ended", func() bool { r, err := c.Receipt(t.Context(), "a1"); return err == nil && r.Ended != 0 })
	if n := len(p.Effects()); n != 1 {
		t.Errorf("%d effects", n)
	}
	if _, _, err := c.Run(t.Context(), gate.Command{Argv: gluster.ArgvPeerProbe("s3"), Attempt: "a2", LockWait: time.Second}); err != nil {
		t.Error(err)
	}
}

// TestServeEndsWhileCommandsWait: Serve ends at once although a command waits.
func TestServeEndsWhileCommandsWait(t *testing.T) {
	p, dir := served(t)
	if err := p.AddRule(Rule{Name: "r", Effect: EffectHeld}); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		_, _, err := socket(dir, "s1").Run(context.WithoutCancel(t.Context()), probeCmd("a1"))
		sent <- err
	}()
	await(t, "the command runs", func() bool {
		r, err := socket(dir, "s1").Receipt(t.Context(), "a1")
		return err == nil && r.Running
	})
	p.quit()
	if err := <-sent; err != nil && gate.NotStarted(err) {
		t.Errorf("it had started: %v", err)
	}
}
