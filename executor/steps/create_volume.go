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

// createVolume makes the volume. Its marker is the next step; until then its
// brick paths, which contain its id, tell whose it is.
type createVolume struct{ settler }

// Probe looks for the volume in every member's view.
func (b createVolume) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.CreateParams
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
	if !found {
		return seenAs(executor.NotDone, "volume %s is not there yet", p.Volume), nil
	}
	if why := ours(vol, p.VolumeID, p.Bricks); why != "" {
		return seenAs(executor.Conflict, "%s", why), nil
	}
	receipt, err := json.Marshal(planner.VolumeReceipt{GlusterID: vol.ID})
	return executor.Observation{Verdict: executor.Done, Message: fmt.Sprintf("volume %s has %d bricks", p.Volume, len(vol.Bricks)), Receipt: receipt}, err
}

// Prepare wants a settled pool and checks that no two copies share a node (S2).
func (b createVolume) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.CreateParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	if err := apart(p.Bricks, setSize(p)); err != nil {
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
	if err := s.present(p.Bricks); err != nil {
		return executor.Intent{}, err
	}
	if err := s.rooted(p.BricksParams); err != nil {
		return executor.Intent{}, err
	}
	found, err := b.leftovers(ctx, t, s, p.BricksParams)
	if err != nil {
		return executor.Intent{}, err
	}
	t.Found = found
	return executor.Intent{Originator: origin(views), Argv: gluster.ArgvVolumeCreate(gluster.CreateSpec{
		Name: p.Volume, Replica: p.Replica, Arbiter: p.Arbiter, Disperse: p.Disperse, Redundancy: p.Redundancy,
		Bricks: glusterBricks(p.VolumeID, p.Bricks),
	})}, nil
}

func setSize(p planner.CreateParams) int {
	switch {
	case p.Disperse > 0:
		return p.Disperse
	case p.Replica > 1:
		return p.Replica
	}
	return 1
}

// apart checks that the bricks are whole sets and no set has two bricks on one
// node; gluster itself does not always (LAB-12).
func apart(bricks []planner.BrickRef, size int) error {
	if size < 1 || len(bricks) == 0 || len(bricks)%size != 0 {
		return executor.Errorf(executor.Permanent, "BadParameters", "%d bricks are not whole sets of %d", len(bricks), size)
	}
	for i := 0; i < len(bricks); i += size {
		on := map[string]bool{}
		for _, b := range bricks[i : i+size] {
			if on[b.UUID] || b.UUID == "" {
				return executor.Errorf(executor.Permanent, "BadParameters", "set %d has two bricks on node %s", i/size, b.Node)
			}
			on[b.UUID] = true
		}
	}
	return nil
}

// present checks that each brick's server is the one planned.
func (s *sight) present(bricks []planner.BrickRef) error {
	for _, b := range bricks {
		v, err := s.view(b.Node)
		if err != nil {
			return err
		}
		if v.UUID != b.UUID {
			return executor.Errorf(executor.Permanent, "ForeignServer", "server %s was %s when this was planned and is %s now", b.Node, b.UUID, v.UUID)
		}
	}
	return nil
}

func glusterBricks(volumeID string, bricks []planner.BrickRef) []gluster.Brick {
	out := make([]gluster.Brick, len(bricks))
	for i, b := range bricks {
		out[i] = gluster.Brick{Host: b.Address, Path: b.Path(volumeID), PeerUUID: b.UUID, Arbiter: b.Arbiter}
	}
	return out
}

// Act creates, after clearing what an attempt of its own left behind.
func (b createVolume) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.CreateParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	if err := b.reclaim(ctx, t, p.BricksParams); err != nil {
		return nil, err
	}
	_, err := b.command(ctx, t)
	crash.Here("steps.volume-created", t.Op.Plan.Kind)
	return nil, err
}
