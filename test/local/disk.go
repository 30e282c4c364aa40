package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// attachTries bounds the race for a free loop device with other programs.
const attachTries = 64

// makeImage makes a sparse file with an XFS on it, unless there is one.
func makeImage(ctx context.Context, file string, sizeMiB int) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	// Under another name until it is complete: a half-made one is made again.
	tmp := file + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("making brick image: %w", err)
	}
	if err := errors.Join(f.Truncate(int64(sizeMiB)<<20), f.Close()); err != nil {
		return fmt.Errorf("making brick image %q: %w", tmp, err)
	}
	if out, err := exec.CommandContext(ctx, "mkfs.xfs", "-q", "-f", "-K", tmp).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting brick image %q: %w: %s", tmp, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(tmp, file); err != nil {
		return fmt.Errorf("making brick image: %w", err)
	}
	return nil
}

// attachLoop makes a loop device of a file. The kernel frees it when the last
// user is gone: the returned descriptor, then the mount.
func attachLoop(file string) (device string, hold *os.File, err error) {
	image, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return "", nil, fmt.Errorf("attaching brick image: %w", err)
	}
	defer image.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", nil, fmt.Errorf("attaching brick image %q: %w", file, err)
	}
	defer control.Close()
	for range attachTries {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return "", nil, fmt.Errorf("finding a free loop device for %q: %w", file, err)
		}
		device := fmt.Sprintf("/dev/loop%d", n)
		loop, err := os.OpenFile(device, os.O_RDWR, 0)
		if err != nil {
			return "", nil, fmt.Errorf("attaching brick image %q: %w", file, err)
		}
		config := unix.LoopConfig{Fd: uint32(image.Fd())}
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		copy(config.Info.File_name[:len(config.Info.File_name)-1], file)
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &config)
		if err == nil {
			return device, loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) {
			return "", nil, fmt.Errorf("attaching brick image %q to %s: %w", file, device, err)
		}
	}
	return "", nil, fmt.Errorf("attaching brick image %q: other programs took %d free loop devices first", file, attachTries)
}

// AttachLoop makes a loop device of a file, for what a test formats itself. The
// kernel frees it when the last user is gone: the returned descriptor, then the
// mount.
func AttachLoop(file string) (device string, hold *os.File, err error) { return attachLoop(file) }

// loopsOf maps loop devices to their backing files, of those below dir.
func loopsOf(dir string) (map[string]string, error) {
	found, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, fmt.Errorf("listing loop devices: %w", err)
	}
	out := map[string]string{}
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // freed meanwhile
		}
		file := strings.TrimSuffix(strings.TrimSpace(string(data)), " (deleted)")
		if strings.HasPrefix(file, dir+"/") {
			out["/dev/"+filepath.Base(filepath.Dir(filepath.Dir(f)))] = file
		}
	}
	return out, nil
}

// awaitNoLoops waits until no file below dir backs a loop device: the end of a
// mount namespace unmounts in the background, and an image that is attached
// twice is damaged. Devices that nothing uses are told to go.
func awaitNoLoops(ctx context.Context, dir string, deadline time.Duration) error {
	return until(ctx, deadline, "the loop devices of "+dir+" are free", "", func(context.Context) error {
		loops, err := loopsOf(dir)
		if err != nil || len(loops) == 0 {
			return err
		}
		for device := range loops {
			if f, err := os.OpenFile(device, os.O_RDONLY, 0); err == nil {
				// With users left this only marks it to be freed with the last one.
				_ = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
				f.Close()
			}
		}
		return fmt.Errorf("in use: %v", loops)
	})
}

// mountsBelow lists mount points of this program's mount namespace below dir,
// deepest first.
func mountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("listing mounts: %w", err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 {
			point := unescapeMount(f[4])
			if point == dir || strings.HasPrefix(point, dir+"/") {
				out = append([]string{point}, out...)
			}
		}
	}
	return out, nil
}

// unescapeMount undoes the octal escapes of mountinfo.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
