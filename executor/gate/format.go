package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// xfsBytesMin is what mkfs.xfs wants at least.
const xfsBytesMin = 300 << 20

// format answers FormatDevice: a device that holds nothing at all, or only what
// an earlier attempt of ours did not finish, gets an XFS with the UUID asked
// for. One that has it is left alone.
func (g *gate) format(ctx context.Context, req Request, held heldBy) (Reply, error) {
	s, err := g.storage(req.Device.Name)
	if err != nil {
		return Reply{}, err
	}
	r, err := g.recorded(s.Name)
	if err != nil {
		return Reply{}, err
	}
	d := g.lookDevice(ctx, s)
	if d.Error == "" && d.finished(req.Device.UUID) && d.Label == deviceLabel {
		return Reply{Device: &d}, g.record(r, deviceRecord{Name: s.Name, UUID: d.UUID, Made: g.Now().UnixNano()})
	}
	again, err := g.formattable(ctx, d, r, req.Device.UUID)
	if err != nil {
		return Reply{}, err
	}
	if err := g.record(r, deviceRecord{Name: s.Name, UUID: req.Device.UUID}); err != nil {
		return Reply{}, err
	}
	if err := g.mkfs(ctx, s.Device, req, again, held); err != nil {
		return Reply{}, err
	}
	if d = g.lookDevice(ctx, s); d.Error != "" || !d.finished(req.Device.UUID) {
		return Reply{}, fmt.Errorf("after mkfs.xfs %s holds %q %s: %s", s.Device, d.Holds, d.UUID, d.Error)
	}
	d.Recorded = d.UUID
	return Reply{Device: &d}, g.record(&deviceRecord{Name: s.Name, UUID: d.UUID}, deviceRecord{Name: s.Name, UUID: d.UUID, Made: g.Now().UnixNano()})
}

// finished reports whether the device has this file system, whole.
func (d Device) finished(uuid string) bool {
	return d.Holds == "xfs" && d.UUID == uuid && !d.Unfinished
}

// formattable refuses a device that must not be formatted (S4). again: it holds
// what an earlier attempt began.
func (g *gate) formattable(ctx context.Context, d Device, r *deviceRecord, uuid string) (again bool, err error) {
	// The record counts as long as the file system was never seen whole: until
	// then nothing was ever mounted.
	begun := d.UUID == uuid || r != nil && r.Made == 0 && d.UUID == r.UUID
	switch {
	case d.Error != "":
		return false, deviceRefusal(d, "%s", d.Error)
	case d.Mounted:
		return false, deviceRefusal(d, "%s is mounted on %s", d.Path, d.Dir)
	case d.Unfinished && begun:
		again = true
	case d.Holds == "xfs":
		return false, deviceRefusal(d, "%s holds an xfs with the UUID %s", d.Path, d.UUID)
	case d.Holds != "":
		return false, deviceRefusal(d, "%s holds %s", d.Path, d.Holds)
	case r != nil && r.Made != 0:
		return false, deviceRefusal(d, "%s was the file system %s", d.Path, r.UUID)
	case d.SizeBytes < xfsBytesMin:
		return false, deviceRefusal(d, "%s has %d MiB, XFS wants %d", d.Path, d.SizeBytes>>20, xfsBytesMin>>20)
	}
	// What is behind the first sector of a begun one is looked at as well.
	if again {
		types, err := g.wipefs(ctx, d.Path)
		if err != nil {
			return false, err
		}
		if !slices.Equal(types, []string{"xfs"}) {
			return false, deviceRefusal(d, "%s holds %v", d.Path, types)
		}
	}
	f, _, err := openDevice(d.Path, unix.O_EXCL)
	if errors.Is(err, unix.EBUSY) {
		return false, deviceRefusal(d, "%s is in use on this host", d.Path)
	}
	if err != nil {
		return false, err
	}
	f.Close()
	return again, nil
}

// mkfs runs mkfs.xfs, which itself refuses a device that holds anything unless
// it is forced; it is only for what we began ourselves. Nothing is discarded:
// that would take long, and destroy what no tool knows.
func (g *gate) mkfs(ctx context.Context, device string, req Request, again bool, held heldBy) error {
	path, err := g.toolPath("mkfs.xfs")
	if err != nil {
		return err
	}
	argv := []string{"mkfs.xfs", "-q", "-K", "-L", deviceLabel, "-i", "size=512", "-m", "uuid=" + req.Device.UUID}
	if again {
		argv = append(argv, "-f")
	}
	res, err := child{
		path: path, argv: append(argv, device), deadline: req.deadline(), outMax: OutputBytesMax, lock: held.lock.f,
		began: func(pid int) { g.started(held.rec, pid) },
	}.run(ctx)
	if err != nil {
		return err
	}
	if res.Exit != 0 {
		return fmt.Errorf("mkfs.xfs of %s ended with %d: %s", device, res.Exit, oneLine(string(res.Stdout)+" "+string(res.Stderr)))
	}
	return nil
}
