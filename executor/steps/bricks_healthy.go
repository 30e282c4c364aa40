package steps

import (
	"context"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// bricksHealthy waits until each named brick serves: started, with a port, as
// its own glusterd sees it, and with a live process (LAB-7).
type bricksHealthy struct{ base }

// Probe asks each brick's own server.
func (b bricksHealthy) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.BricksParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	for _, brick := range p.Bricks {
		view, err := s.view(brick.Node)
		if err != nil {
			return executor.Observation{}, err
		}
		if why := brickDown(s.obs.Servers[brick.Node], view, p.Volume, brick.Path(p.VolumeID)); why != "" {
			return seenAs(executor.InProgress, "brick %s:%s %s", brick.Node, brick.Path(p.VolumeID), why), nil
		}
	}
	return seenAs(executor.Done, "%d bricks serve", len(p.Bricks)), nil
}

// brickDown says why the brick does not serve; empty if it does.
func brickDown(server planner.Server, view *planner.PoolView, volume, path string) string {
	vol, ok := view.Volume(volume)
	if !ok {
		return "belongs to a volume its server does not know"
	}
	i := slices.IndexFunc(vol.Bricks, func(b planner.Brick) bool { return b.PeerUUID == view.UUID && b.Path == path })
	switch {
	case i < 0:
		return "is not in the volume"
	case !vol.Started:
		return "waits for the volume to be started"
	case !vol.Bricks[i].Online:
		return "is not online"
	}
	for _, p := range server.Bricks {
		if p.Path == path && p.Alive {
			return ""
		}
	}
	return "has no live process"
}
