package steps

import (
	"context"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// bricksHealthy waits until the volume's bricks, from one place on, serve:
// started, with a port, as each one's own glusterd sees it, and with a live
// process (LAB-7).
type bricksHealthy struct{ base }

// Probe asks each brick's own server.
func (b bricksHealthy) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.HealthyParams
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
	case len(vol.Bricks) <= p.From:
		return seenAs(executor.Conflict, "volume %s has %d bricks, none from place %d on", p.Volume, len(vol.Bricks), p.From), nil
	}
	nodes := s.byUUID()
	for _, brick := range vol.Bricks[p.From:] {
		node, ok := nodes[brick.PeerUUID]
		if !ok {
			return seenAs(executor.Unseen, "brick %s:%s is on no server Anthill knows", brick.Host, brick.Path), nil
		}
		view, err := s.view(node)
		if err != nil {
			return executor.Observation{}, err
		}
		if why := brickDown(s.obs.Servers[node], view, p.Volume, brick.Path); why != "" {
			return seenAs(executor.InProgress, "brick %s:%s %s", node, brick.Path, why), nil
		}
	}
	return seenAs(executor.Done, "%d bricks serve", len(vol.Bricks)-p.From), nil
}

// byUUID finds the node of a server by its glusterd's UUID.
func (s *sight) byUUID() map[string]string {
	out := make(map[string]string, len(s.obs.Servers))
	for n, v := range s.obs.Servers {
		if v.UUID != "" {
			out[v.UUID] = n
		}
	}
	return out
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
