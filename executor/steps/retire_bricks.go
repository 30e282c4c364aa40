package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/planner"
)

// retireBricks renames what is left of a deleted volume's brick directories
// below .anthill-retired. Nothing is erased (S6, S13).
type retireBricks struct{ base }

// Probe inspects each root.
func (b retireBricks) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.RetireParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	for _, brick := range p.Bricks {
		server, err := s.server(brick.Node)
		if err != nil {
			return executor.Observation{}, err
		}
		info, err := b.client(server, t).Inspect(ctx, gate.BrickPath{Root: brick.Root, Volume: p.VolumeID})
		switch {
		case err != nil:
			return executor.Observation{}, gateError(err)
		case info.BrickOf != "":
			return seenAs(executor.Conflict, "%s:%s is a brick of volume %s", brick.Node, info.Path, info.BrickOf), nil
		case info.Exists:
			return seenAs(executor.NotDone, "%s:%s is still there", brick.Node, info.Path), nil
		}
	}
	return seenAs(executor.Done, "brick directories are retired"), nil
}

// Prepare has no guard of its own: the gate refuses what is still a brick.
func (b retireBricks) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.RetireParams
	return executor.Intent{}, t.Decode(&p)
}

// Act renames, root by root; each is idempotent.
func (b retireBricks) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.RetireParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return nil, err
	}
	for i, brick := range p.Bricks {
		server, err := s.server(brick.Node)
		if err != nil {
			return nil, err
		}
		attempt := fmt.Sprintf("%s.%d", t.Started.AttemptID, i)
		path := gate.BrickPath{Root: brick.Root, Volume: p.VolumeID}
		if _, err := b.client(server, t).Retire(ctx, attempt, lockWait, path); err != nil {
			return nil, gateError(err)
		}
		crash.Here("steps.brick-retired", t.Op.Plan.Kind)
	}
	return nil, nil
}
