package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// guestLoops is how many loop devices a guest can see. They are the host's, and
// a guest is to be trusted with them as with everything root may do.
const guestLoops = 128

// A GuestSpec describes a guest.
type GuestSpec struct {
	Key    string   // names it within the environment
	Number int      // 1 to GuestsMax, says its address
	Routes []string // commands of ip(8) in its network namespace, without the leading "ip"
	Mounts []Mounted
}

// GuestsMax bounds the guests of an environment.
const GuestsMax = hostNumber - guestFirst - 1

// A Guest is a machine that another package adds to an environment. It may run
// containers: it sees the control groups of the host, makes loop devices, and
// mounts in it reach its containers.
type Guest struct{ Machine }

// Guest returns a guest, which Start makes and starts.
func (e *Env) Guest(g GuestSpec) *Guest {
	return &Guest{Machine{env: e, key: g.Key, name: e.net.bridge() + "-" + g.Key, number: guestFirst + g.Number, guest: &g}}
}

// Start brings up a guest that is down, with the root file system it had, and
// nothing running in it.
func (g *Guest) Start(ctx context.Context) error {
	if err := g.create(ctx); err != nil {
		return err
	}
	return g.start(ctx, nil)
}

// prepare adds to the root, before it is one, what a guest has more. The
// environment's folder is in reach until then.
func (g *GuestSpec) prepare(root string) error {
	if g == nil {
		return nil
	}
	if err := unix.Mount("", filepath.Join(root, "sys"), "", unix.MS_REMOUNT, ""); err != nil {
		return fmt.Errorf("making /sys writable: %w", err)
	}
	if err := unix.Mount("/sys/fs/cgroup", filepath.Join(root, "sys/fs/cgroup"), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding control groups: %w", err)
	}
	for _, name := range []string{"kmsg", "loop-control"} {
		if err := copyDevice("/dev/"+name, filepath.Join(root, "dev", name)); err != nil {
			return err
		}
	}
	for n := range guestLoops {
		// Most do not exist yet: they come with the first one who asks for a free one.
		path := filepath.Join(root, "dev", fmt.Sprintf("loop%d", n))
		if err := unix.Mknod(path, unix.S_IFBLK|0o660, int(unix.Mkdev(7, uint32(n)))); err != nil {
			return fmt.Errorf("making %q: %w", path, err)
		}
	}
	for _, m := range g.Mounts {
		if err := m.mount(root); err != nil {
			return err
		}
	}
	return nil
}

// share lets what is mounted in a guest reach its containers, and back.
func (g *GuestSpec) share() error {
	if g == nil {
		return nil
	}
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

// AddDevice shows a block device of the host to the running machine, under its
// own name and under alias.
func (g *Guest) AddDevice(device, alias string) error {
	if err := copyDevice(device, g.Path(device)); err != nil {
		return err
	}
	link := g.Path(alias)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return fmt.Errorf("naming device %q: %w", device, err)
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("naming device %q: %w", device, err)
	}
	if err := os.Symlink(device, link); err != nil {
		return fmt.Errorf("naming device %q: %w", device, err)
	}
	return nil
}
