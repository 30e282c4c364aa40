package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// bytesPerStep is what the events of an operation may take, its plan included.
const bytesPerStep = 1.2 * 1024

// stepOps is how many operations of each kind are run.
const stepOps = 20

// steps runs real plans through the real engine in a world where every effect
// takes place at once, and counts what that cost the journal.
func (b *bench) steps(ctx context.Context) error {
	b.sayf("operations of the real engine whose steps do nothing, %d of each kind", stepOps)
	plans, err := stepPlans()
	if err != nil {
		return err
	}
	var commits, bytes []float64
	for _, plan := range plans {
		dir, err := b.scratch("steps")
		if err != nil {
			return err
		}
		c, n, err := runPlan(ctx, filepath.Join(dir, "journal.db"), plan)
		if err != nil {
			return fmt.Errorf("running %s: %w", plan.Kind, err)
		}
		commits, bytes = append(commits, c), append(bytes, n)
		b.sayf("%s: %s commits and %s bytes a step", plan.Kind, short(c), short(n))
	}
	// The worst kind counts.
	if err := b.print(figure{name: "commits-per-step", value: quantile(commits, 1), unit: "commits",
		target: target{relation: atMost, limit: 1}}); err != nil {
		return err
	}
	return b.print(figure{name: "event-bytes-per-step", value: quantile(bytes, 1), unit: "bytes",
		target: target{relation: atMost, limit: bytesPerStep}})
}

// stepPlans are plans as the planner makes them: a node that joins, a volume
// that is made, one that grows.
func stepPlans() ([]journal.Plan, error) {
	p := newPool(4)
	p.outside["node-0003"] = true
	join := planner.Plan(p.snapshot())
	delete(p.outside, "node-0003")
	p.declare(1, 1)
	create := planner.Plan(p.snapshot())
	if _, err := p.obey(create); err != nil {
		return nil, err
	}
	p.volumes[0].Spec.Layout.Replicate.Sets = 2
	grow := planner.Plan(p.snapshot())
	var out []journal.Plan
	for _, want := range []struct {
		kind string
		d    planner.Decision
	}{{planner.KindJoinNode, join}, {planner.KindCreateVolume, create}, {planner.KindAddBrick, grow}} {
		if len(want.d.Plan) != 1 || want.d.Plan[0].Plan.Kind != want.kind {
			return nil, fmt.Errorf("planning %s: %d other plans were made", want.kind, len(want.d.Plan))
		}
		out = append(out, want.d.Plan[0].Plan)
	}
	return out, nil
}

// runPlan runs the plan stepOps times and returns commits of the engine, and
// stored bytes of events, per step.
func runPlan(ctx context.Context, path string, plan journal.Plan) (commits, bytes float64, err error) {
	j, err := journal.Open(ctx, path, journal.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	epoch, err := j.OpenEpoch(ctx, journal.Opened{Instance: poolOwner})
	if err != nil {
		return 0, 0, err
	}
	tracker, err := view.Track(ctx, j)
	if err != nil {
		return 0, 0, err
	}
	registry, err := nothingRegistry(plan)
	if err != nil {
		return 0, 0, err
	}
	ended := make(chan struct{}, stepOps)
	engine := executor.New(j, tracker, registry, epoch, executor.Options{
		Settled: func(context.Context, string) { ended <- struct{}{} },
	})
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- engine.Run(running) }()
	defer func() { stop(); err = errors.Join(err, <-done) }()

	before, err := j.Stats()
	if err != nil {
		return 0, 0, err
	}
	var ids []journal.OpID
	for n := range stepOps {
		id := stepOpID(n)
		ev, err := journal.New(journal.OpPlanned, id, plan)
		if err != nil {
			return 0, 0, err
		}
		ev.Actor = "planner"
		if _, err := j.Append(ctx, journal.Guard{Epoch: epoch}, ev); err != nil {
			return 0, 0, err
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
		ids = append(ids, id)
	}
	after, err := j.Stats()
	if err != nil {
		return 0, 0, err
	}
	size := 0
	for _, id := range ids {
		events, err := j.ReadOp(id)
		if err != nil {
			return 0, 0, err
		}
		if last := events[len(events)-1].Type; last != journal.OpCompleted {
			return 0, 0, fmt.Errorf("operation %s ended with %s", id, last)
		}
		for i := range events {
			size += events[i].StoredSize()
		}
	}
	steps := float64(stepOps * len(plan.Steps))
	return float64(after.Commits-before.Commits-stepOps) / steps, float64(size) / steps, nil // less the plans' own
}

func stepOpID(n int) journal.OpID {
	id := journal.OpID{6: 0x70, 8: 0x80}
	binary.BigEndian.PutUint32(id[:], uint32(n+1))
	return id
}

// nothingRegistry has the steps of a plan, all of which do nothing.
func nothingRegistry(plan journal.Plan) (*executor.Registry, error) {
	w := &nothing{done: map[string]bool{}}
	var specs []executor.Spec
	have := map[string]bool{}
	for _, s := range plan.Steps {
		if have[s.Name] {
			continue
		}
		have[s.Name] = true
		specs = append(specs, executor.Spec{Name: s.Name, Step: w, Safety: executor.ProbeDecidable})
	}
	return executor.NewRegistry(specs...)
}

// nothing is a step whose effect is there as soon as it was asked for. What it
// says is as long as what the real ones say.
type nothing struct {
	mu   sync.Mutex
	done map[string]bool
}

var _ executor.Actor = (*nothing)(nil)

// receiptOf is what the steps that have a receipt give.
var receiptOf = map[string]json.RawMessage{
	planner.StepCreateVolume: json.RawMessage(`{"glusterID":"9c2f3f0e-3a55-4dd4-8f0a-2d0c7a8b9c10"}`),
	planner.StepRebalance:    json.RawMessage(`{"taskID":"9c2f3f0e-3a55-4dd4-8f0a-2d0c7a8b9c10","runs":1}`),
}

func key(t *executor.Turn) string { return t.Op.ID.String() + "/" + t.Step.ID }

// Probe finds waits done at once, and effects once they were asked for.
func (n *nothing) Probe(_ context.Context, t *executor.Turn) (executor.Observation, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t.Step.Stage != journal.Waiting && !n.done[key(t)] {
		return executor.Observation{Verdict: executor.NotDone, Message: "it is not there yet"}, nil
	}
	return executor.Observation{Verdict: executor.Done, Message: "volume volume-0000 has 3 bricks", Receipt: receiptOf[t.Step.Name]}, nil
}

// Prepare names a command as long as the real one.
func (n *nothing) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	argv, err := argvOf(t.Step)
	return executor.Intent{Originator: "node-0000", Argv: argv}, err
}

// Act has its effect.
func (n *nothing) Act(_ context.Context, t *executor.Turn) (json.RawMessage, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done[key(t)] = true
	return nil, nil
}

// argvOf is the command line of a step.
func argvOf(s *view.Step) ([]string, error) {
	var p struct {
		planner.CreateParams
		Address string         `json:"address"`
		First   planner.Member `json:"first"`
		Key     string         `json:"key"`
		Value   string         `json:"value"`
	}
	if err := json.Unmarshal(s.Params, &p); err != nil {
		return nil, fmt.Errorf("parameters of step %q: %w", s.ID, err)
	}
	var bricks []gluster.Brick
	for _, b := range p.Bricks {
		bricks = append(bricks, gluster.Brick{Host: b.Address, Path: b.Path(p.VolumeID)})
	}
	switch s.Name {
	case planner.StepPeerProbe:
		return gluster.ArgvPeerProbe(p.Address), nil
	case planner.StepProbeBack:
		return gluster.ArgvPeerProbe(p.First.Address), nil
	case planner.StepCreateVolume:
		return gluster.ArgvVolumeCreate(gluster.CreateSpec{Name: p.Volume, Replica: p.Replica, Bricks: bricks}), nil
	case planner.StepAddBrick:
		return gluster.ArgvAddBrick(p.Volume, bricks), nil
	case planner.StepSetOption:
		return gluster.ArgvVolumeSet(p.Volume, p.Key, p.Value), nil
	case planner.StepStartVolume:
		return gluster.ArgvVolumeStart(p.Volume, false), nil
	case planner.StepRebalance:
		return gluster.ArgvRebalanceStart(p.Volume), nil
	}
	return nil, nil // it is no gluster command
}
