package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/rig"
)

const (
	// restartVolumes are grown, each with restartKills in the middle: fewer than
	// the deaths after which an operation is parked.
	restartVolumes = 2
	restartKills   = 3
	restartMax     = time.Minute
)

// firstProbe is the crash point before anything of an operation is looked at.
const firstProbe = "executor.before-probe"

// restart measures how long after its start an operator that was killed in the
// middle of an operation looks at that again: process, journal, lease, caches
// and recovery in one.
func (p *pen) restart(ctx context.Context) error {
	var all []float64
	for n := range restartVolumes {
		name := volumeName(growMax + 1 + n)
		p.b.sayf("growing %s, with %d times kill -9 of the operator", name, restartKills)
		before, err := p.rig.Operator.Ops(ctx, planner.KindAddBrick)
		if err != nil {
			return err
		}
		if err := p.declareSets(ctx, name, 2); err != nil {
			return err
		}
		if err := p.awaitRebalance(ctx, len(before)); err != nil {
			return err
		}
		for range restartKills {
			took, err := p.killOnce(ctx)
			if err != nil {
				return err
			}
			all = append(all, took.Seconds())
		}
		if err := p.awaitSets(ctx, name, 2); err != nil {
			return err
		}
	}
	return p.b.print(figure{name: "first-probe-after-kill", value: median(all), unit: "s", target: target{relation: atMost, limit: 2}})
}

// awaitRebalance waits until the newest of more than n operations is at its
// rebalance, which takes gluster ten seconds to begin.
func (p *pen) awaitRebalance(ctx context.Context, n int) error {
	_, err := p.rig.Operator.AwaitView(ctx, restartMax, func(v *rig.View) string {
		var last *view.Op
		count := 0
		for _, op := range v.All() {
			if op.Plan.Kind == planner.KindAddBrick {
				last = op
				count++
			}
		}
		if count <= n {
			return "no add-brick was planned"
		}
		k := last.Current()
		if k == len(last.Steps) || last.Steps[k].Name != planner.StepRebalance || last.Steps[k].State != view.Started {
			return "the rebalance has not been started"
		}
		return ""
	})
	return err
}

// killOnce kills the operator, starts it again and waits for its first probe.
func (p *pen) killOnce(ctx context.Context) (time.Duration, error) {
	p.rig.Operator.Kill()
	before, err := os.ReadFile(p.trace)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's trace: %w", err)
	}
	begun := time.Now()
	if err := p.rig.Operator.Start(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, restartMax)
	defer cancel()
	for {
		now, err := os.ReadFile(p.trace)
		took := time.Since(begun)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("reading the operator's trace: %w", err)
		}
		if len(now) > len(before) && bytes.Contains(now[len(before):], []byte(firstProbe)) {
			return took, nil
		}
		if !pause(ctx, 2*time.Millisecond) {
			return 0, fmt.Errorf("waiting %v for the first probe after a restart: %w", restartMax, ctx.Err())
		}
	}
}

// pause waits a moment between two looks; false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
