package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/loop"
)

// initOrder is what pid 1 of a machine is told.
type initOrder struct {
	Hostname string
	Root     string     // folder that becomes the root file system
	Local    string     // folder that becomes /usr/local/lib
	Disks    []disk     // brick file systems
	Daemons  [][]string // commands that leave a daemon behind, in order
	Guest    *GuestSpec // what a machine of another package has more; may be nil
}

// disk is one brick file system: an image on the host, a folder on the machine.
type disk struct {
	Image string
	Dir   string
}

// runInit is pid 1 of a machine, in its own namespaces. It makes the root file
// system, starts the daemons, and then only reaps: what dies stays dead, as the
// tests are about what happens then.
func runInit() error {
	var o initOrder
	if err := readOrder(&o); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(o.Hostname)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	if err := enterRoot(o); err != nil {
		return err
	}
	for _, argv := range o.Daemons {
		if err := startDaemon(argv); err != nil {
			return err
		}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	if err := sayReady(); err != nil {
		return err
	}
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			<-ended
		}
	}
}

// startDaemon runs a command and fails unless it ends with exit code 0. The
// daemon it leaves becomes a child of this process.
func startDaemon(argv []string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	// Not in a session of its own: an sshd that leads one and is a child of pid 1
	// takes itself for a daemon already, and stays in the foreground.
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   machineEnv(),
		Files: []uintptr{null.Fd(), 1, 2},
	})
	if err != nil {
		return fmt.Errorf("starting %q: %w", argv, err)
	}
	var st syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &st, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil || st.ExitStatus() != 0 {
		return fmt.Errorf("starting %q: exit code %d (%w)", argv, st.ExitStatus(), err)
	}
	return nil
}

// enterRoot mounts everything and makes o.Root the root, with no way back: the
// host's root file system is gone from this namespace.
func enterRoot(o initOrder) error {
	in := func(path string) string { return filepath.Join(o.Root, path) }
	steps := []struct {
		what string
		do   func() error
	}{
		{"making mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"mounting the root", func() error { return unix.Mount(o.Root, o.Root, "", unix.MS_BIND, "") }},
		{"binding /usr", func() error { return bindReadOnly("/usr", in("usr")) }},
		{"binding /bin and the like", func() error { return linkSystem(o.Root) }},
		{"binding /usr/local/lib", func() error { return unix.Mount(o.Local, in("usr/local/lib"), "", unix.MS_BIND, "") }},
		{"making /dev", func() error { return makeDevices(in("dev")) }},
		{"mounting /proc", func() error { return unix.Mount("proc", in("proc"), "proc", 0, "") }},
		{"mounting /sys", func() error { return unix.Mount("sysfs", in("sys"), "sysfs", unix.MS_RDONLY, "") }},
		{"mounting /run", func() error { return unix.Mount("tmpfs", in("run"), "tmpfs", 0, "mode=755,size=64m") }},
		{"mounting /tmp", func() error { return unix.Mount("tmpfs", in("tmp"), "tmpfs", 0, "mode=1777,size=256m") }},
		{"filling /run", func() error { return makeRunFolders(in("run")) }},
		{"mounting bricks", func() error { return mountDisks(o) }},
		{"adding what a guest needs", func() error { return o.Guest.prepare(o.Root) }},
		{"changing the root", func() error { return pivot(o.Root) }},
		{"sharing mounts", o.Guest.share},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// bindReadOnly binds a folder so that it cannot be changed through the bind.
func bindReadOnly(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.Mount("", to, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// linkSystem gives the root /bin, /lib and the others: the links of the host,
// or binds where the host has not merged them into /usr.
func linkSystem(root string) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		from, to := "/"+name, filepath.Join(root, name)
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(from)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, to); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := bindReadOnly(from, to); err != nil {
			return err
		}
	}
	return nil
}

// makeRunFolders makes what boot scripts make on a real server.
func makeRunFolders(run string) error {
	for _, name := range []string{"gluster", "lock", "sshd"} {
		if err := os.MkdirAll(filepath.Join(run, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func mountDisks(o initOrder) error {
	for _, d := range o.Disks {
		device, hold, err := loop.Attach(d.Image)
		if err != nil {
			return err
		}
		to := filepath.Join(o.Root, d.Dir)
		err = os.MkdirAll(to, 0o755)
		if err == nil {
			err = unix.Mount(device, to, "xfs", 0, "")
		}
		hold.Close()
		if err == nil {
			err = copyDevice(device, filepath.Join(o.Root, device))
		}
		if err != nil {
			return fmt.Errorf("mounting %q at %q: %w", d.Image, d.Dir, err)
		}
	}
	return nil
}

// pivot makes root the root and lets go of the old one. Both may be named "."
// then: the old root lies on top of the new one until it is unmounted.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}
