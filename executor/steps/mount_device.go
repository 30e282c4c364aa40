package steps

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
)

// deviceVerb is what a gate can do to a device.
type deviceVerb func(c *gate.Client, ctx context.Context, attempt string, lockWait time.Duration, d gate.DeviceRef) (gate.Device, error)

// mountDevice mounts the file system of a device at its directory. From then on
// the pod does so itself whenever it starts.
type mountDevice struct{ base }

// Probe looks at the device. Another file system than the planned one is never
// mounted.
func (b mountDevice) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, d, err := b.device(ctx, t)
	switch {
	case err != nil:
		return executor.Observation{}, err
	case d.Error != "":
		return seenAs(executor.Unseen, "device %s of %s: %s", p.Name, p.Node, d.Error), nil
	case d.Holds == "":
		return seenAs(executor.Unseen, "device %s of %s holds nothing", p.Name, p.Node), nil
	case d.UUID != p.UUID || d.Unfinished:
		return seenAs(executor.Conflict, "device %s of %s holds %s, not xfs %s", p.Name, p.Node, holds(d), p.UUID), nil
	case d.Mounted:
		return seenAs(executor.Done, "device %s of %s is mounted", p.Name, p.Node), nil
	}
	return seenAs(executor.NotDone, "device %s of %s is not mounted yet", p.Name, p.Node), nil
}

// Prepare has no guard of its own: the gate looks once more, with the lock held.
func (b mountDevice) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	return deviceIntent(t)
}

// Act mounts.
func (b mountDevice) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	err := b.onDevice(ctx, t, (*gate.Client).MountDevice)
	crash.Here("steps.device-mounted", t.Op.Plan.Kind)
	return nil, err
}
