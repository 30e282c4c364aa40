package steps

import (
	"context"
	"fmt"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// A leftover is what a failed staging of glusterd left on a brick directory of
// ours: the volume-id attribute and an empty skeleton, on a path that contains
// our volume's id and that no volume has as a brick (LAB-3).
type leftover struct {
	brick    planner.BrickRef
	volumeID string // gluster's, as found
}

// leftovers inspects the directories that are about to become bricks. Anything
// there but nothing, or such a leftover, stops the step (S4).
func (b base) leftovers(ctx context.Context, t *executor.Turn, s *sight, p planner.BricksParams) ([]leftover, error) {
	infos, err := b.inspect(ctx, t, s, p)
	if err != nil {
		return nil, err
	}
	var out []leftover
	for i, brick := range p.Bricks {
		switch info := infos[i]; {
		case !info.Exists:
			return nil, executor.Errorf(executor.Permanent, "BrickMissing", "brick directory %s on %s is gone", info.Path, brick.Node)
		case info.BrickOf != "" || info.ServedBy != 0:
			if t.Unsettled && info.BrickOf == p.Volume {
				continue // the earlier attempt is landing
			}
			return nil, executor.Errorf(executor.Permanent, "BrickDirInUse", "brick directory %s on %s is in use by volume %q", info.Path, brick.Node, info.BrickOf)
		case info.VolumeID == "" && info.Empty:
			continue
		case !info.Leftover:
			return nil, executor.Errorf(executor.Permanent, "BrickDirInUse", "brick directory %s on %s holds data: %s", info.Path, brick.Node, list(info.Entries))
		}
		out = append(out, leftover{brick: brick, volumeID: infos[i].VolumeID})
	}
	return out, nil
}

// reclaim clears the leftovers that Prepare found, unless an earlier attempt may
// still land on them. The gate looks once more before it removes anything.
func (b base) reclaim(ctx context.Context, t *executor.Turn, p planner.BricksParams) error {
	found, _ := t.Found.([]leftover)
	if t.Unsettled || len(found) == 0 {
		return nil
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return err
	}
	for i, l := range found {
		server, err := s.server(l.brick.Node)
		if err != nil {
			return err
		}
		attempt := fmt.Sprintf("%s.reclaim.%d", t.Started.AttemptID, i)
		if _, err := b.client(server, t).Reclaim(ctx, attempt, lockWait, gatePath(p.VolumeID, l.brick), l.volumeID); err != nil {
			return gateError(err)
		}
	}
	return nil
}
