package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// makeBricks makes the directories of bricks, each on the file system that was
// registered for it; the gate compares before it makes one (S12).
type makeBricks struct{ base }

// Probe inspects each path. A directory that holds what we did not put there is
// a conflict, never cleaned.
func (b makeBricks) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.BricksParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	infos, err := b.inspect(ctx, t, s, p)
	if err != nil {
		return executor.Observation{}, err
	}
	for i, brick := range p.Bricks {
		switch info := infos[i]; {
		case !info.Exists:
			return seenAs(executor.NotDone, "%s:%s is not there yet", brick.Node, info.Path), nil
		case info.BrickOf == p.Volume:
			continue // a brick of this very volume by now
		case info.BrickOf != "":
			return seenAs(executor.Conflict, "%s:%s is a brick of volume %s", brick.Node, info.Path, info.BrickOf), nil
		case !info.Empty && !info.Leftover:
			return seenAs(executor.Conflict, "%s:%s is not empty: %s", brick.Node, info.Path, list(info.Entries)), nil
		}
	}
	return seenAs(executor.Done, "%d brick directories are there", len(p.Bricks)), nil
}

// inspect asks the servers what is at the paths of bricks, in their order.
func (b base) inspect(ctx context.Context, t *executor.Turn, s *sight, p planner.BricksParams) ([]gate.BrickInfo, error) {
	infos := make([]gate.BrickInfo, len(p.Bricks))
	err := s.eachBrick(p.Bricks, func(i int, server kube.Server) (err error) {
		infos[i], err = b.client(server, t).Inspect(ctx, gatePath(p.VolumeID, p.Bricks[i]))
		return gateError(err)
	})
	return infos, err
}

func gatePath(volumeID string, b planner.BrickRef) gate.BrickPath {
	return gate.BrickPath{Root: b.Root, Volume: volumeID, Leaf: b.Leaf}
}

// Prepare waits until every directory is on its file system. The gate looks once
// more when it makes one.
func (b makeBricks) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.BricksParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	return executor.Intent{}, s.rooted(p)
}

// Act makes the directories; each is idempotent.
func (b makeBricks) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.BricksParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return nil, err
	}
	return nil, s.eachBrick(p.Bricks, func(i int, server kube.Server) error {
		attempt := fmt.Sprintf("%s.%d", t.Started.AttemptID, i)
		if _, err := b.client(server, t).MakeBrick(ctx, attempt, lockWait, gatePath(p.VolumeID, p.Bricks[i])); err != nil {
			return gateError(err)
		}
		crash.Here("steps.brick-made", t.Op.Plan.Kind)
		return nil
	})
}

// Compensate removes the directories again, each only if it is empty and no
// brick.
func (b makeBricks) Compensate(ctx context.Context, t *executor.Turn) error {
	var p planner.BricksParams
	if err := t.Decode(&p); err != nil {
		return err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return err
	}
	for i, brick := range p.Bricks {
		server, err := s.server(brick.Node)
		if err != nil {
			return err
		}
		attempt := fmt.Sprintf("%s.undo%d.%d", t.Started.AttemptID, t.Op.Ver, i)
		if _, err := b.client(server, t).DropBrick(ctx, attempt, lockWait, gatePath(p.VolumeID, brick)); err != nil {
			return gateError(err)
		}
	}
	return nil
}
