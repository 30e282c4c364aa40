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

// formatDevice makes our file system on a device of a pod that holds nothing at
// all (S4). There is no way back from it: it is a pivot.
type formatDevice struct{ base }

// Probe looks at the device. What somebody else put there is a conflict; what an
// attempt of ours began and did not finish is made to its end.
func (b formatDevice) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, d, err := b.device(ctx, t)
	switch {
	case err != nil:
		return executor.Observation{}, err
	case d.Error != "":
		return seenAs(executor.Unseen, "device %s of %s: %s", p.Name, p.Node, d.Error), nil
	case d.UUID == p.UUID && d.Unfinished:
		return seenAs(executor.NotDone, "device %s of %s is not formatted to its end", p.Name, p.Node), nil
	case d.UUID == p.UUID:
		return seenAs(executor.Done, "device %s of %s is formatted", p.Name, p.Node), nil
	case d.Holds != "":
		return seenAs(executor.Conflict, "device %s of %s holds %s, which is not ours: it is never formatted", p.Name, p.Node, holds(d)), nil
	}
	return seenAs(executor.NotDone, "device %s of %s holds nothing yet", p.Name, p.Node), nil
}

// device finds the device as its pod sees it.
func (b base) device(ctx context.Context, t *executor.Turn) (p planner.DeviceParams, d planner.Device, err error) {
	if err := t.Decode(&p); err != nil {
		return p, d, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return p, d, err
	}
	v, err := s.seen(p.Node)
	if err != nil {
		return p, d, err
	}
	for _, d := range v.Devices {
		if d.Name == p.Name {
			return p, d, nil
		}
	}
	// It gets a device that was declared since only when it is started again.
	return p, d, executor.Errorf(executor.Transient, "DeviceMissing", "the pod of %s runs without device %s", p.Node, p.Name)
}

// holds names what is on a device.
func holds(d planner.Device) string {
	out := d.Holds
	if d.Unfinished {
		out = "an unfinished " + out
	}
	if d.UUID != "" {
		out += " " + d.UUID
	}
	if d.Label != "" {
		out += fmt.Sprintf(" (%s)", d.Label)
	}
	return out
}

// Prepare has no guard of its own: the gate looks once more, with the lock held.
func (b formatDevice) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	return deviceIntent(t)
}

func deviceIntent(t *executor.Turn) (executor.Intent, error) {
	var p planner.DeviceParams
	err := t.Decode(&p)
	return executor.Intent{Originator: p.Node}, err
}

// Act formats.
func (b formatDevice) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	err := b.onDevice(ctx, t, (*gate.Client).FormatDevice)
	crash.Here("steps.device-formatted", t.Op.Plan.Kind)
	return nil, err
}

// onDevice has the gate do something to the device.
func (b base) onDevice(ctx context.Context, t *executor.Turn, do deviceVerb) error {
	var p planner.DeviceParams
	if err := t.Decode(&p); err != nil {
		return err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return err
	}
	server, err := s.server(p.Node)
	if err != nil {
		return err
	}
	defer b.w.Changed(t.Scope())
	_, err = do(b.client(server, t), ctx, t.Started.AttemptID, lockWait, gate.DeviceRef{Name: p.Name, UUID: p.UUID})
	return gateError(err)
}
