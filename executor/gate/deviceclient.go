package gate

import (
	"context"
	"fmt"
	"time"
)

const (
	// FormatDeadline is what mkfs.xfs may take: it writes little, on however
	// large a device.
	FormatDeadline = 5 * time.Minute
	// MountDeadline is what a mount may take that has to replay a log first. It
	// is when the client gives up: nobody can end a mount that is under way.
	MountDeadline = 2 * time.Minute
)

// FormatDevice makes a file system with this UUID on a device of a pod that
// holds nothing at all; idempotent. DeviceError says why not, ErrNotPod that
// the server is none.
func (c *Client) FormatDevice(ctx context.Context, attempt string, lockWait time.Duration, d DeviceRef) (Device, error) {
	return c.device(ctx, Request{Verb: FormatDevice, Attempt: attempt, LockWait: lockWait, Deadline: FormatDeadline, Device: &d})
}

// MountDevice mounts the file system with this UUID at the directory of its
// device; idempotent. Errors as of FormatDevice.
func (c *Client) MountDevice(ctx context.Context, attempt string, lockWait time.Duration, d DeviceRef) (Device, error) {
	return c.device(ctx, Request{Verb: MountDevice, Attempt: attempt, LockWait: lockWait, Deadline: MountDeadline, Device: &d})
}

func (c *Client) device(ctx context.Context, req Request) (Device, error) {
	rep, err := c.do(ctx, req)
	if rep.Device == nil {
		if err == nil {
			err = fmt.Errorf("asking the gate to %s: %w", req.Verb, ErrCutFrame)
		}
		return Device{}, err
	}
	return *rep.Device, err
}
