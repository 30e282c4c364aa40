package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// deviceLabel is what our file systems are called.
const deviceLabel = "anthill"

// devices looks at all devices of this pod; nil on any other server. A device
// that does not answer in time says so in its place.
func (g *gate) devices(ctx context.Context) []Device {
	t, err := g.told()
	if err != nil || t == nil {
		return nil
	}
	out := make([]Device, len(t.Storage))
	var wg sync.WaitGroup
	for i, s := range t.Storage {
		wg.Go(func() { out[i] = g.lookInTime(ctx, s) })
	}
	wg.Wait()
	return out
}

// lookInTime is lookDevice for a disk that may hang: the goroutine that waits
// for it is left behind then, with a process that serves one request.
func (g *gate) lookInTime(ctx context.Context, s Storage) Device {
	ctx, cancel := context.WithTimeout(ctx, g.StateWait)
	defer cancel()
	seen := make(chan Device, 1)
	go func() { seen <- g.lookDevice(ctx, s) }()
	select {
	case d := <-seen:
		return d
	case <-ctx.Done():
		return Device{Name: s.Name, Path: s.Device, Dir: g.deviceDir(s), Error: fmt.Sprintf("%s did not answer in time", s.Device)}
	}
}

func (g *gate) deviceDir(s Storage) string { return filepath.Join(g.BricksDir, s.Name) }

// lookDevice tells what is on a device and where it is mounted.
func (g *gate) lookDevice(ctx context.Context, s Storage) Device {
	d := g.identify(s)
	if d.Error != "" || d.Holds != "" {
		return d
	}
	holds, err := g.signatures(ctx, s.Device)
	if err != nil {
		d.Error = err.Error()
		return d
	}
	if d.Holds = holds; holds == "" && d.Recorded != "" {
		// Not a device to be formatted: what was on it is missed by somebody (S4).
		if r, err := g.recorded(s.Name); err != nil || r.Made != 0 {
			d.Error = fmt.Sprintf("%s holds nothing, and was the file system %s: it is another device, or was erased", s.Device, d.Recorded)
		}
	}
	return d
}

// identify is the part of lookDevice that starts no process: it knows an XFS,
// of anything else it leaves Holds empty.
func (g *gate) identify(s Storage) Device {
	d := Device{Name: s.Name, Path: s.Device, Dir: g.deviceDir(s)}
	fail := func(err error) Device {
		d.Error = err.Error()
		return d
	}
	r, err := g.recorded(s.Name)
	if err != nil {
		return fail(err)
	}
	if r != nil {
		d.Recorded = r.UUID
	}
	f, rdev, err := openDevice(s.Device, 0)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fail(fmt.Errorf("reading the size of %q: %w", s.Device, err))
	}
	d.SizeBytes = uint64(size)
	x, is, err := readXFS(f)
	if err != nil {
		return fail(fmt.Errorf("reading %q: %w", s.Device, err))
	}
	if is {
		d.Holds, d.UUID, d.Label, d.Unfinished = "xfs", x.uuid, x.label, x.unfinished
	}
	if d.Mounted, err = mountedAt(d.Dir, rdev); err != nil {
		return fail(err)
	}
	if is && r != nil && r.Made != 0 && r.UUID != d.UUID {
		d.Error = fmt.Sprintf("%s is the file system %s, and was %s: it is another device, or was formatted by somebody else", s.Device, d.UUID, r.UUID)
	}
	return d
}

// openDevice opens a block device to read it, and tells its number. flags are
// added: O_EXCL fails with EBUSY while the kernel uses it for anything, in
// whatever container.
func openDevice(path string, flags int) (*os.File, uint64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the device: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("looking at %q: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		f.Close()
		return nil, 0, fmt.Errorf("%q is not a block device", path)
	}
	return f, st.Rdev, nil
}

// mountedAt reports whether the device with this number is mounted at dir, and
// fails if something else is.
func mountedAt(dir string, rdev uint64) (bool, error) {
	f, err := openDir(dir)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, errors.New(openError(dir, err))
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, fmt.Errorf("looking at %q: %w", dir, err)
	}
	table, err := mountTable()
	if err != nil {
		return false, err
	}
	at, err := mountOf(f, table)
	if err != nil {
		return false, err
	}
	switch {
	case at.MountPoint != dir:
		return false, nil
	case st.Dev != rdev || at.FSRoot != "":
		return false, fmt.Errorf("something else is mounted on %s: %s", dir, at)
	}
	return true, nil
}

func deviceRefusal(d Device, format string, args ...any) error {
	r := refusef(ExitFailed, ReasonDevice, format, args...)
	r.Device = &d
	return r
}
