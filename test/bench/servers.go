package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

const (
	instance  = "bench" // names the environment among those of this checkout
	namespace = "bench"
	cluster   = "bench"
	secret    = "bench-ssh"

	serversMax = 4 // as in the demo: three join a pool that exists
	firstMax   = 3 // times the first volume of the pool is made
	volumesMax = 5 // volumes made one after the other, the first included
	growMax    = 3 // of them grown
	opMax      = 5 * time.Minute
	downMax    = 2 * time.Minute
)

// A pen is real servers with an operator.
type pen struct {
	b     *bench
	rig   *rig.Rig
	trace string // crash points the operator passed, one a line
	taken map[string]int
}

// servers measures the operator on real servers, a real API server beside it.
func (b *bench) servers(ctx context.Context) (err error) {
	checkout, err := root()
	if err != nil {
		return err
	}
	cfg := local.Config{Checkout: checkout, Instance: instance, Servers: serversMax, Bricks: 2, APIServer: true, Fresh: true,
		Log: func(line string) { b.sayf("%s", line) }}
	if err := local.Preflight(cfg); err != nil {
		return err
	}
	b.sayf("building the operator")
	binary, err := rig.Build(ctx, checkout, filepath.Join(b.dir, "bin"))
	if err != nil {
		return err
	}
	b.sayf("starting %d servers, etcd and kube-apiserver", serversMax)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downMax)
		defer cancel()
		b.sayf("taking them down")
		err = errors.Join(err, local.Down(ctx, cfg))
	}()
	env, err := local.Up(ctx, cfg)
	if err != nil {
		return err
	}
	p := &pen{b: b, trace: filepath.Join(b.dir, "trace"), taken: map[string]int{}}
	if p.rig, err = rig.New(ctx, env, checkout, binary, "operator"); err != nil {
		return err
	}
	defer p.rig.Operator.Stop()
	p.rig.Operator.Env = []string{crash.EnvTrace + "=" + p.trace}
	if err := p.start(ctx); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{p.join, p.first, p.next, p.grow, p.memory, p.restart} {
		if err := measure(ctx); err != nil {
			return fmt.Errorf("%w\n%s", err, p.rig.Operator.Account(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

func (p *pen) start(ctx context.Context) error {
	if err := p.rig.Operator.Start(); err != nil {
		return err
	}
	return p.rig.Operator.AwaitReady(ctx)
}

// join makes a pool of one server and lets the others join it one by one.
func (p *pen) join(ctx context.Context) error {
	if err := rig.Namespace(ctx, p.rig.Client, namespace); err != nil {
		return err
	}
	if err := p.rig.Secret(ctx, namespace, secret); err != nil {
		return err
	}
	if err := p.rig.Client.Create(ctx, rig.Cluster(namespace, cluster)); err != nil {
		return err
	}
	for n := 1; n <= serversMax; n++ {
		p.b.sayf("node %d of %d", n, serversMax)
		node, err := p.rig.Node(namespace, cluster, secret, n)
		if err != nil {
			return err
		}
		if err := p.rig.Client.Create(ctx, node); err != nil {
			return err
		}
		if err := p.rig.AwaitConverged(ctx, opMax, node); err != nil {
			return err
		}
	}
	return p.report(ctx, planner.KindJoinNode, "join-node")
}

// first makes the first volume of the pool, and again after it was deleted:
// with it gluster starts its self-heal daemons.
func (p *pen) first(ctx context.Context) error {
	for n := 1; n <= firstMax; n++ {
		p.b.sayf("first volume, %d of %d times", n, firstMax)
		if n > 1 {
			if err := p.deleteVolume(ctx, volumeName(1)); err != nil {
				return err
			}
		}
		if err := p.createVolume(ctx, volumeName(1)); err != nil {
			return err
		}
	}
	return p.report(ctx, planner.KindCreateVolume, "create-first-volume")
}

// next makes further volumes.
func (p *pen) next(ctx context.Context) error {
	for n := 2; n <= volumesMax; n++ {
		p.b.sayf("volume %d of %d", n, volumesMax)
		if err := p.createVolume(ctx, volumeName(n)); err != nil {
			return err
		}
	}
	return p.report(ctx, planner.KindCreateVolume, "create-next-volume")
}

// grow adds a replica set to volumes.
func (p *pen) grow(ctx context.Context) error {
	for n := 1; n <= growMax; n++ {
		p.b.sayf("growing volume %d of %d", n, growMax)
		if err := p.declareSets(ctx, volumeName(n), 2); err != nil {
			return err
		}
		if err := p.awaitSets(ctx, volumeName(n), 2); err != nil {
			return err
		}
	}
	return p.report(ctx, planner.KindAddBrick, "add-brick")
}

// report prints what operations of a kind took that ended since it was last
// asked about them.
func (p *pen) report(ctx context.Context, kind, name string) error {
	all, err := p.accounts(ctx, kind)
	if err != nil {
		return err
	}
	of := func(f func(account) float64) float64 {
		var values []float64
		for _, a := range all {
			values = append(values, f(a))
		}
		return median(values)
	}
	for i, a := range all {
		p.b.sayf("%s %d: %d ms, %d ms commands, %d ms waiting, %d ms ours", name, i+1, a.wall.Milliseconds(),
			a.commands.Milliseconds(), a.transitions.Milliseconds(), (a.wall - a.commands - a.transitions).Milliseconds())
	}
	for _, f := range []figure{
		{name: name + "-wall", unit: "ms", value: of(func(a account) float64 { return millis(a.wall) })},
		{name: name + "-overhead", unit: "percent", value: of(account.overhead), target: target{relation: atMost, limit: 15}},
		{name: name + "-outside-gluster", unit: "percent", value: of(account.outside)},
		{name: name + "-changes", unit: "commands", value: of(func(a account) float64 { return float64(a.changes) })},
		{name: name + "-looks", unit: "commands", value: of(func(a account) float64 { return float64(a.looks) })},
		{name: name + "-bytes-per-step", unit: "bytes", value: of(func(a account) float64 { return float64(a.bytes) / float64(a.steps) }),
			target: target{relation: atMost, limit: bytesPerStep}},
	} {
		if err := p.b.print(f); err != nil {
			return err
		}
	}
	return nil
}

// accounts adds up the operations of a kind that were not added up before.
func (p *pen) accounts(ctx context.Context, kind string) ([]account, error) {
	ops, err := p.rig.Operator.Ops(ctx, kind)
	if err != nil {
		return nil, err
	}
	ops, p.taken[kind] = ops[p.taken[kind]:], len(ops)
	if len(ops) == 0 {
		return nil, fmt.Errorf("the journal has no new operation %s", kind)
	}
	r, err := p.rig.Operator.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	servers := placesOf(p.rig.Env.Servers())
	history, err := historyOf(servers)
	if err != nil {
		return nil, err
	}
	runs, err := runsOf(servers)
	if err != nil {
		return nil, err
	}
	var out []account
	for _, op := range ops {
		events, err := r.OpEvents(ctx, op.ID)
		if err != nil {
			return nil, err
		}
		receipts, err := receiptsOf(op.ID, servers)
		if err != nil {
			return nil, err
		}
		a, err := accountOf(events, receipts, history, runs)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// idle is how long an operator is left alone before its memory is measured:
// longer than Go's collector leaves a heap alone that does not grow.
const idle = 10 * time.Second

// memory measures the operator with one cluster that has converged.
func (p *pen) memory(ctx context.Context) error {
	p.b.sayf("leaving the operator alone for %v", idle)
	var all []float64
	for range 3 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(idle / 3):
		}
		kib, err := anonymous(p.rig.Operator.PID())
		if err != nil {
			return err
		}
		all = append(all, float64(kib)/1024)
	}
	return p.b.print(figure{name: "operator-memory-1-cluster", value: median(all), unit: "MiB", target: target{relation: atMost, limit: memoryTarget}})
}
