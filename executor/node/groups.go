package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
)

// groupMax is the size of a file with a group of options; the package's have
// some hundred bytes.
const groupMax = 64 << 10

// groups gives glusterd the groups of options that its package brings, as for
// `gluster volume set V group virt`: the pod's volume lies over them. What is
// there already, perhaps altered by a person, is left alone.
func (n *node) groups() error {
	dir := filepath.Join(n.o.Gate.GlusterdDir, "groups")
	below, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	// The container's own file system, without what is mounted on it.
	if err := unix.Mount("/", below, "", unix.MS_BIND, ""); err != nil {
		return errors.Join(&os.PathError{Op: "bind", Path: "/", Err: err}, os.Remove(below))
	}
	err = addMissing(filepath.Join(below, dir), dir)
	if e := unix.Unmount(below, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); e != nil {
		return errors.Join(err, &os.PathError{Op: "unmount", Path: below, Err: e}) // and nothing is removed
	}
	return errors.Join(err, os.Remove(below))
}

// addMissing copies the regular files of a folder that another one lacks.
func addMissing(from, to string) error {
	files, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > groupMax {
			continue
		}
		if err := addOne(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// addOne copies a file to where there is none, whole or not at all.
func addOne(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return gate.WriteDurably(to, data)
}
