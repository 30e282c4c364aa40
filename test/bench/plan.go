package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gluster/anthill/planner"
)

const (
	planNodes  = 1000
	planRounds = 9
	// A volume of 33 sets of three has about a hundred bricks.
	planSets = 33
)

// A planned pool is one in two states: with all its volumes to be made, and
// with all of them there.
type planned struct{ all, idle planner.Snapshot }

func plannedPool(nodes int) (planned, error) {
	p := newPool(nodes)
	volumes := nodes * 10 / (3 * planSets)
	p.declare(volumes, planSets)
	var s planned
	s.all = p.snapshot()
	n, err := p.obey(planner.Plan(s.all))
	if err != nil {
		return s, err
	}
	if n != volumes {
		return s, fmt.Errorf("planning %d nodes: %d plans for %d volumes", nodes, n, volumes)
	}
	// What is asked of status comes with the cycle after.
	if _, err := p.obey(planner.Plan(p.snapshot())); err != nil {
		return s, err
	}
	s.idle = p.snapshot()
	// The first snapshot shares the objects, which have an identity by now.
	for i := range s.all.Volumes {
		v := *s.all.Volumes[i].DeepCopy()
		v.Status.VolumeID, v.Status.GlusterID = "", ""
		if i == 0 {
			s.all.Volumes = append(s.all.Volumes[:0:0], s.all.Volumes...)
		}
		s.all.Volumes[i] = v
	}
	if d := planner.Plan(s.idle); len(d.Plan) > 0 || d.ReconcileVersion == nil {
		return s, fmt.Errorf("planning %d nodes: the pool is not at rest: %d plans", nodes, len(d.Plan))
	}
	return s, nil
}

// linearMax is how much longer twice the nodes may take and still count as near
// linear: a square would be 4.
const linearMax = 2.6

// planning measures a cycle that finds nothing to do, of a pool and of one of
// half its size in turn, and one that plans every volume at once.
func (b *bench) planning(ctx context.Context) error {
	b.sayf("planning %d and %d nodes in turn, %d times", planNodes/2, planNodes, planRounds)
	half, err := plannedPool(planNodes / 2)
	if err != nil {
		return err
	}
	whole, err := plannedPool(planNodes)
	if err != nil {
		return err
	}
	var idle, ratios, all []float64
	for range planRounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		h, w := plans(half.idle), plans(whole.idle)
		idle, ratios = append(idle, millis(w)), append(ratios, float64(w)/float64(h))
		all = append(all, millis(plans(whole.all)))
	}
	ms := target{relation: atMost, limit: 100}
	for _, f := range []figure{
		{name: "plan-1000-nodes-at-rest", value: median(idle), unit: "ms", target: ms},
		{name: "plan-1000-nodes-to-500", value: median(idle), unit: "ms", ratio: median(ratios), target: target{relation: atMost, limit: linearMax, ratio: true}},
		{name: "plan-1000-nodes-all-volumes", value: median(all), unit: "ms", target: ms},
	} {
		if err := b.print(f); err != nil {
			return err
		}
	}
	return nil
}

func plans(s planner.Snapshot) time.Duration {
	begun := time.Now()
	planner.Plan(s)
	return time.Since(begun)
}
