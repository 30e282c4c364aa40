package local

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Mounted is something of the host that is mounted for a machine, or for one
// program: a folder, or a file system on a device.
type Mounted struct {
	From     string
	To       string // a folder, made when it is not there
	Type     string // of the file system; empty binds a folder
	ReadOnly bool
}

// mount mounts it below root.
func (m Mounted) mount(root string) error {
	to := filepath.Join(root, m.To)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("mounting %q: %w", m.To, err)
	}
	var err error
	switch {
	case m.Type != "":
		err = unix.Mount(m.From, to, m.Type, 0, "")
	case m.ReadOnly:
		err = bindReadOnly(m.From, to)
	default:
		err = unix.Mount(m.From, to, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("mounting %q at %q: %w", m.From, m.To, err)
	}
	return nil
}
