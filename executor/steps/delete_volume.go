package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// deleteVolume takes a stopped volume out of gluster. Its data stays in its
// brick directories.
type deleteVolume struct{ settler }

// Probe looks in every member's view.
func (b deleteVolume) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
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
	case !found:
		return seenAs(executor.Done, "volume %s is gone", p.Volume), nil
	case vol.Options[planner.Marker] != p.VolumeID:
		return seenAs(executor.Conflict, "volume %s does not carry the marker %s", p.Volume, p.VolumeID), nil
	}
	return seenAs(executor.NotDone, "volume %s is there", p.Volume), nil
}

// Prepare wants every member there (F12), the volume stopped, no snapshots.
func (b deleteVolume) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
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
	vol, _, err := s.volumeEverywhere(t.Scope(), p.Volume)
	switch {
	case err != nil:
		return executor.Intent{}, err
	case vol.Started:
		return executor.Intent{}, executor.Errorf(executor.Transient, "VolumeStarted", "volume %s is started", p.Volume)
	case vol.Snapshots > 0:
		return executor.Intent{}, executor.Errorf(executor.Transient, "VolumeHasSnapshots", "volume %s has %d snapshots; delete them first", p.Volume, vol.Snapshots)
	}
	return executor.Intent{Originator: origin(views), Argv: gluster.ArgvVolumeDelete(p.Volume)}, nil
}

// Act deletes.
func (b deleteVolume) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.volume-deleted", t.Op.Plan.Kind)
	return nil, err
}
