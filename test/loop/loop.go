// Package loop makes disks of files: images, loop devices on them, and the
// certainty that none is left.
package loop

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

	"github.com/gluster/anthill/test/await"
)

// attachTries bounds the race for a free loop device with other programs.
const attachTries = 64

// loopMajor is the number of loop devices among block devices.
const loopMajor = 7

// MakeXFS makes a sparse file with an XFS on it, unless there is one.
func MakeXFS(ctx context.Context, file string, sizeMiB int) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	// Under another name until it is complete: a half-made one is made again.
	tmp := file + ".new"
	if err := sparse(tmp, sizeMiB); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "mkfs.xfs", "-q", "-f", "-K", tmp).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting image %q: %w: %s", tmp, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(tmp, file); err != nil {
		return fmt.Errorf("making image: %w", err)
	}
	return nil
}

// MakeBlank makes a sparse file, unless there is one.
func MakeBlank(file string, sizeMiB int) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := sparse(file+".new", sizeMiB); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("making image: %w", err)
	}
	return nil
}

// sparse makes a file of a size that takes no room.
func sparse(file string, sizeMiB int) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("making image: %w", err)
	}
	if err := errors.Join(f.Truncate(int64(sizeMiB)<<20), f.Close()); err != nil {
		return fmt.Errorf("making image %q: %w", file, err)
	}
	return nil
}

// Attach makes a loop device of a file. The kernel frees it when the last user
// is gone: the returned descriptor, then the mount.
func Attach(file string) (device string, hold *os.File, err error) {
	return attach(file, unix.LO_FLAGS_AUTOCLEAR)
}

// Hold makes a loop device of a file that stays until AwaitFree, also while
// nothing uses it. A file that has one keeps it.
func Hold(file string) (device string, err error) {
	all, err := Below(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	for device, backing := range all {
		if backing == file {
			return device, nil
		}
	}
	device, f, err := attach(file, 0)
	if err == nil {
		f.Close()
	}
	return device, err
}

func attach(file string, flags uint32) (device string, hold *os.File, err error) {
	image, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return "", nil, fmt.Errorf("attaching image: %w", err)
	}
	defer image.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", nil, fmt.Errorf("attaching image %q: %w", file, err)
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
			return "", nil, fmt.Errorf("attaching image %q: %w", file, err)
		}
		config := unix.LoopConfig{Fd: uint32(image.Fd())}
		config.Info.Flags = flags
		copy(config.Info.File_name[:len(config.Info.File_name)-1], file)
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &config)
		if err == nil {
			return device, loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) {
			return "", nil, fmt.Errorf("attaching image %q to %s: %w", file, device, err)
		}
	}
	return "", nil, fmt.Errorf("attaching image %q: other programs took %d free loop devices first", file, attachTries)
}

// Below maps loop devices to what backs them: files below dir, or loop devices
// that such a file backs, which is how a kubelet keeps hold of a block device.
func Below(dir string) (map[string]string, error) {
	found, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, fmt.Errorf("listing loop devices: %w", err)
	}
	out := map[string]string{}
	var others []string
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // freed meanwhile
		}
		device := "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(f)))
		file := strings.TrimSuffix(strings.TrimSpace(string(data)), " (deleted)")
		if strings.HasPrefix(file, dir+"/") {
			out[device] = file
		} else {
			others = append(others, device)
		}
	}
	if len(out) == 0 {
		return out, nil
	}
	for _, device := range others {
		// By number: the name under which it was opened was another machine's.
		if under := backing(device); out[under] != "" {
			out[device] = under
		}
	}
	return out, nil
}

// backing is the loop device that backs another, or nothing.
func backing(device string) string {
	f, err := os.OpenFile(device, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if err != nil || unix.Major(info.Rdevice) != loopMajor {
		return ""
	}
	return fmt.Sprintf("/dev/loop%d", unix.Minor(info.Rdevice))
}

// AwaitFree waits until no file below dir backs a loop device: the end of a
// mount namespace unmounts in the background, and an image that is attached
// twice is damaged. Devices that nothing uses are told to go.
func AwaitFree(ctx context.Context, dir string, deadline time.Duration) error {
	return await.Until(ctx, deadline, "the loop devices of "+dir+" are free", "", func(context.Context) error {
		loops, err := Below(dir)
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
