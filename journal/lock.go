package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const lockRetry = 20 * time.Millisecond

// flock takes a lock on f, waiting at most wait. how is unix.LOCK_EX or LOCK_SH.
func flock(ctx context.Context, f *os.File, how int, wait time.Duration) error {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	tick := time.NewTicker(lockRetry)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("locking %q: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking %q: %w", f.Name(), errors.Join(ctx.Err(), holder(f)))
		case <-deadline.C:
			return holder(f)
		case <-tick.C:
		}
	}
}

// holder names the process that holds a lock on f, as far as the kernel tells.
func holder(f *os.File) error {
	e := &LockedError{Path: f.Name()}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return e
	}
	want := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return e
	}
	defer func() { _ = locks.Close() }() // read only
	for sc := bufio.NewScanner(locks); sc.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4242 fe:00:1234 0 EOF
		f := strings.Fields(sc.Text())
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != want {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			e.PID = pid
			comm, err := os.ReadFile(filepath.Join("/proc", f[4], "comm"))
			if err == nil {
				e.Command = strings.TrimSpace(string(comm))
			}
			break
		}
	}
	return e
}

// networkFS are the file systems whose flock and mmap are emulated somewhere
// else, by the magic statfs tells.
var networkFS = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.V9FS_MAGIC:       "9p",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.AFS_SUPER_MAGIC:  "AFS",
}

// checkFS refuses directories on network file systems.
func checkFS(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("looking at the file system of %q: %w", dir, err)
	}
	if name, bad := networkFS[int64(st.Type)]; bad { //nolint:unconvert // its type differs between architectures
		return fmt.Errorf("%q is on %s: %w", dir, name, ErrNetworkFS)
	}
	return nil
}

// availableBytes is what an unprivileged process may still write beside path.
func availableBytes(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return 0, fmt.Errorf("looking at the space beside %q: %w", path, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // its type differs between architectures
}
