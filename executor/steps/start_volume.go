package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// startVolume starts a volume; stop stops it instead. That its bricks serve is
// bricksHealthy's matter: gluster says success while a brick stays down (F13).
type startVolume struct {
	settler
	stop bool
}

// Probe looks in every member's view.
func (b startVolume) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.VolumeParams
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
	case !found && b.stop:
		return seenAs(executor.Done, "volume %s is gone", p.Volume), nil
	case !found:
		return seenAs(executor.Conflict, "volume %s is gone", p.Volume), nil
	case vol.Options[planner.Marker] != p.VolumeID:
		return seenAs(executor.Conflict, "volume %s does not carry the marker %s", p.Volume, p.VolumeID), nil
	case vol.Started == b.stop:
		return seenAs(executor.NotDone, "volume %s is %s", p.Volume, started(vol)), nil
	}
	return seenAs(executor.Done, "volume %s is %s", p.Volume, started(vol)), nil
}

func started(v planner.Volume) string {
	if v.Started {
		return "started"
	}
	return "stopped"
}

// Prepare wants a settled pool and, before a start, every brick directory on
// the file system it was registered on (S12).
func (b startVolume) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.VolumeParams
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
	if b.stop {
		return executor.Intent{Originator: origin(views), Argv: gluster.ArgvVolumeStop(p.Volume)}, nil
	}
	vol, _, err := s.volumeEverywhere(t.Scope(), p.Volume)
	if err != nil {
		return executor.Intent{}, err
	}
	if err := s.mounted(vol); err != nil {
		return executor.Intent{}, err
	}
	return executor.Intent{Originator: origin(views), Argv: gluster.ArgvVolumeStart(p.Volume, false)}, nil
}

// Act starts or stops.
func (b startVolume) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.volume-started", t.Op.Plan.Kind)
	return nil, err
}
