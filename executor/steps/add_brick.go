package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// addBrick adds whole sets behind those the volume has.
type addBrick struct{ settler }

// Probe compares the brick list of every member, slot by slot.
func (b addBrick) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.AddBrickParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	vol, found, err := s.volumeEverywhere(t.Scope(), p.Volume)
	if err != nil {
		return executor.Observation{}, err
	}
	switch {
	case !found:
		return seenAs(executor.Conflict, "volume %s is gone", p.Volume), nil
	case vol.Options[planner.Marker] != p.VolumeID:
		return seenAs(executor.Conflict, "volume %s does not carry the marker %s", p.Volume, p.VolumeID), nil
	case len(vol.Bricks) == p.Before:
		return seenAs(executor.NotDone, "volume %s has %d bricks", p.Volume, p.Before), nil
	case len(vol.Bricks) >= p.Before+len(p.Bricks) && sameBricks(vol.Bricks[p.Before:p.Before+len(p.Bricks)], p.Bricks, p.VolumeID):
		return seenAs(executor.Done, "volume %s has %d bricks", p.Volume, len(vol.Bricks)), nil
	}
	return seenAs(executor.Conflict, "volume %s has %d bricks, not %d, and they are not the planned ones", p.Volume, len(vol.Bricks), p.Before), nil
}

// Prepare wants a settled pool, every brick of the volume in service, no task
// under way, and no two copies on one node (S2, S7).
func (b addBrick) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.AddBrickParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	views, err := s.settledPool(t.Scope())
	if err != nil {
		return executor.Intent{}, err
	}
	vol, _, err := s.volumeEverywhere(t.Scope(), p.Volume)
	if err != nil {
		return executor.Intent{}, err
	}
	if err := apart(p.Bricks, vol.SetSize()); err != nil {
		return executor.Intent{}, err
	}
	if err := s.present(p.Bricks); err != nil {
		return executor.Intent{}, err
	}
	if err := s.serving(vol); err != nil {
		return executor.Intent{}, err
	}
	for _, n := range sortedKeys(views) {
		v, _ := views[n].Volume(p.Volume)
		if v.Rebalance.Status == rebalanceStarted {
			return executor.Intent{}, executor.Errorf(executor.Transient, "TaskRunning", "a rebalance of volume %s is under way on %s", p.Volume, n)
		}
	}
	if err := s.rooted(p.BricksParams); err != nil {
		return executor.Intent{}, err
	}
	found, err := b.leftovers(ctx, t, s, p.BricksParams)
	if err != nil {
		return executor.Intent{}, err
	}
	t.Found = found
	return executor.Intent{Originator: origin(views), Argv: gluster.ArgvAddBrick(p.Volume, glusterBricks(p.VolumeID, p.Bricks))}, nil
}

// serving checks that every brick of a volume serves.
func (s *sight) serving(vol planner.Volume) error {
	byUUID := s.byUUID()
	for _, brick := range vol.Bricks {
		node, ok := byUUID[brick.PeerUUID]
		if !ok {
			return executor.Errorf(executor.Transient, "BricksDown", "brick %s:%s is on no server Anthill knows", brick.Host, brick.Path)
		}
		view, err := s.view(node)
		if err != nil {
			return err
		}
		if why := brickDown(s.obs.Servers[node], view, vol.Name, brick.Path); why != "" {
			return executor.Errorf(executor.Transient, "BricksDown", "brick %s:%s %s", node, brick.Path, why)
		}
	}
	return nil
}

// Act adds, after clearing what an attempt of its own left behind.
func (b addBrick) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.AddBrickParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	if err := b.reclaim(ctx, t, p.BricksParams); err != nil {
		return nil, fmt.Errorf("clearing leftovers: %w", err)
	}
	_, err := b.command(ctx, t)
	crash.Here("steps.bricks-added", t.Op.Plan.Kind)
	return nil, err
}
