package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mount answers MountDevice: the file system asked for, and no other, is mounted
// at the directory of its device. The first time its identity is recorded, by
// which the pod mounts it itself from then on.
func (g *gate) mount(req Request) (Reply, error) {
	s, err := g.storage(req.Device.Name)
	if err != nil {
		return Reply{}, err
	}
	r, err := g.recorded(s.Name)
	if err != nil {
		return Reply{}, err
	}
	d := g.identify(s)
	switch {
	case d.Error != "":
		return Reply{}, deviceRefusal(d, "%s", d.Error)
	case !d.finished(req.Device.UUID):
		return Reply{}, deviceRefusal(d, "%s is to be the file system %s and holds %s", s.Device, req.Device.UUID, d.what())
	case r == nil && d.Label != deviceLabel:
		return Reply{}, deviceRefusal(d, "%s has the label %q, not %q", s.Device, d.Label, deviceLabel)
	}
	if err := g.record(r, deviceRecord{Name: s.Name, UUID: d.UUID, Made: g.Now().UnixNano()}); err != nil {
		return Reply{}, err
	}
	d, err = g.attach(s, d)
	return Reply{Device: &d}, err
}

// what says what a device holds, for a sentence.
func (d Device) what() string {
	switch {
	case d.Unfinished:
		return "an unfinished xfs " + d.UUID
	case d.Holds == "xfs":
		return "xfs " + d.UUID
	}
	return "no xfs"
}

// attach mounts a device that was found to be what it is to be.
func (g *gate) attach(s Storage, d Device) (Device, error) {
	if d.Mounted {
		return d, nil
	}
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return d, fmt.Errorf("mounting %s: %w", s.Device, err)
	}
	if err := unix.Mount(s.Device, d.Dir, "xfs", unix.MS_NOATIME, ""); err != nil {
		return d, fmt.Errorf("mounting %s on %s: %w", s.Device, d.Dir, err)
	}
	if d = g.identify(s); !d.Mounted {
		return d, fmt.Errorf("after mounting %s it is not on %s: %s", s.Device, d.Dir, d.Error)
	}
	return d, nil
}

// Attach mounts a device on behalf of the first process of a pod, if it is the
// file system this node made or mounted before: one that is new waits for the
// operator. It starts no process, and takes the lock only to mount. wait is for
// a gate that changes something; ctx ends that wait, not the mount.
func Attach(ctx context.Context, o Options, s Storage, wait time.Duration) (Device, error) {
	g := &gate{o.withDefaults()}
	d, own, err := g.own(s)
	if !own || d.Mounted || err != nil {
		return d, err
	}
	l, err := g.take(ctx, holder{Verb: MountDevice}, wait)
	if err != nil {
		return d, fmt.Errorf("mounting %s: %w", s.Device, err)
	}
	defer l.release()
	if d, own, err = g.own(s); !own || err != nil {
		return d, err
	}
	return g.attach(s, d)
}

// own reports whether the device has the file system that is recorded. That it
// has another one is an error.
func (g *gate) own(s Storage) (Device, bool, error) {
	d := g.identify(s)
	r, err := g.recorded(s.Name)
	switch {
	case err != nil:
		return d, false, err
	case r == nil || r.Made == 0:
		return d, false, nil
	case d.Error != "":
		return d, false, errors.New(d.Error)
	case !d.finished(r.UUID):
		return d, false, fmt.Errorf("%s was the file system %s and holds %s", s.Device, r.UUID, d.what())
	}
	return d, true, nil
}
