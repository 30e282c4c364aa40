package local

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// devicesCopied is what a machine has of the host's devices, beside the loop
// devices of its bricks. The host's disks are not among them: what goes wrong on
// a machine cannot reach them.
var devicesCopied = []string{"null", "zero", "full", "random", "urandom", "tty", "fuse"}

// makeDevices mounts a /dev at dir.
func makeDevices(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID, "mode=755,size=16m"); err != nil {
		return err
	}
	for _, name := range devicesCopied {
		if err := copyDevice(filepath.Join("/dev", name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"pts", "shm"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("devpts", filepath.Join(dir, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,mode=620,ptmxmode=666"); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", filepath.Join(dir, "shm"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=64m"); err != nil {
		return err
	}
	links := map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd",
		"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyDevice makes a device file with the type, number and mode of another.
func copyDevice(from, to string) error {
	var st unix.Stat_t
	if err := unix.Stat(from, &st); err != nil {
		return fmt.Errorf("looking at %q: %w", from, err)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := unix.Mknod(to, st.Mode, int(st.Rdev)); err != nil {
		return fmt.Errorf("making device %q: %w", to, err)
	}
	return os.Chmod(to, os.FileMode(st.Mode).Perm()) // not subject to the umask
}
