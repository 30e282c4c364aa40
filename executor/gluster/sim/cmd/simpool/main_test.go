package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/executor/gluster/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      options
		ok     bool
	}{
		"Good":    {"A folder and names.", options{dir: "/x", servers: "s1,s2"}, true},
		"NoDir":   {"Sockets need a folder.", options{servers: "s1"}, false},
		"NoName":  {"A server needs a name.", options{dir: "/x", servers: "s1,"}, false},
		"BadName": {"A name is part of a path.", options{dir: "/x", servers: "../s1"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.o.validate(); (err == nil) != tc.ok {
				t.Errorf("%s validate() = %v", tc.reason, err)
			}
		})
	}
}

// TestStateOutlivesTheProcess: what a pool was told is there in the next one.
func TestStateOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	o := options{dir: filepath.Join(dir, "sockets"), servers: "s1,s2", roots: "/bricks/b1", state: filepath.Join(dir, "pool.json"), gates: true}
	serve := func(use func(ctx context.Context)) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- run(ctx, o) }()
		for {
			if _, err := sim.DialControl(o.dir).Do(ctx, sim.Order{Op: "servers"}); err == nil {
				break
			}
			select {
			case err := <-done:
				t.Fatalf("it ended: %v", err)
			case <-time.After(5 * time.Millisecond):
			}
		}
		use(ctx)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	serve(func(ctx context.Context) {
		order := sim.Order{Op: "rule", Rule: &sim.Rule{Name: "kept", Effect: sim.EffectHeld}}
		if _, err := sim.DialControl(o.dir).Do(ctx, order); err != nil {
			t.Fatal(err)
		}
		if _, err := sim.DialControl(o.dir).Do(ctx, sim.Order{Op: "kill", Server: "s2"}); err != nil {
			t.Fatal(err)
		}
	})
	serve(func(ctx context.Context) {
		rep, err := sim.DialControl(o.dir).Do(ctx, sim.Order{Op: "rules"})
		if err != nil || len(rep.Rules) != 1 || rep.Rules[0].Name != "kept" {
			t.Errorf("rules %+v, %v", rep.Rules, err)
		}
		if _, err := sim.DialControl(o.dir).Do(ctx, sim.Order{Op: "state", Server: "s2"}); err == nil {
			t.Error("the killed glusterd answers")
		}
		rep, err = sim.DialControl(o.dir).Do(ctx, sim.Order{Op: "state", Server: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gluster.ParseState([]byte(rep.Text)); err != nil {
			t.Error(err)
		}
	})
}
