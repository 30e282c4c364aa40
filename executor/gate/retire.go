package gate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// retire answers Retire: one rename within one file system, or nothing.
func (g *gate) retire(req Request) (Reply, error) {
	b := *req.Brick
	root, table, err := g.openRoot(b.Root)
	if err != nil {
		return Reply{}, err
	}
	defer root.Close()
	info, err := g.brickInfo(b, root, table)
	if err != nil {
		return Reply{}, err
	}
	if !info.Exists {
		return Reply{Brick: &info}, nil
	}
	if err := unused(info); err != nil {
		return Reply{}, err
	}
	shelf, err := makeShelf(root)
	if err != nil {
		return Reply{}, fmt.Errorf("retiring %q: %w", info.Path, err)
	}
	defer shelf.Close()
	for i := range retiredMax {
		name := retiredAs(b.Volume, i)
		err := unix.Renameat2(int(root.Fd()), b.Volume, int(shelf.Fd()), name, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err == nil {
			err = errors.Join(shelf.Sync(), root.Sync())
		}
		if err != nil {
			return Reply{}, fmt.Errorf("retiring %q: %w", info.Path, err)
		}
		done := BrickInfo{Path: info.Path, Retired: append(info.Retired, filepath.Join(b.Root, retiredName, name))}
		return Reply{Brick: &done}, nil
	}
	return Reply{}, brickRefusal(info, "%s has been retired %d times already", info.Path, retiredMax)
}

// unused refuses a path that is still somebody's.
func unused(info BrickInfo) error {
	switch {
	case info.BrickOf != "":
		return brickRefusal(info, "%s is still a brick of volume %q", info.Path, info.BrickOf)
	case info.ServedBy != 0:
		return brickRefusal(info, "%s is still served by process %d", info.Path, info.ServedBy)
	case len(info.MountedOn) > 0:
		return brickRefusal(info, "something is mounted on %s", info.MountedOn[0])
	}
	return nil
}

// makeShelf makes and opens .anthill-retired, for root's eyes only: what lies
// there was users' data, without the volume's access rules.
func makeShelf(root *os.File) (*os.File, error) {
	err := unix.Mkdirat(int(root.Fd()), retiredName, 0o700)
	if err == nil {
		err = root.Sync()
	}
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "mkdir", Path: retiredName, Err: err}
	}
	return openBelow(root, retiredName)
}

func retiredAs(volume string, i int) string {
	if i == 0 {
		return volume
	}
	return fmt.Sprintf("%s-%d", volume, i)
}

// retiredOf lists where folders of the volume were renamed to before.
func retiredOf(root *os.File, b BrickPath) ([]string, error) {
	shelf, err := openBelow(root, retiredName)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer shelf.Close()
	var out []string
	for i := range retiredMax {
		name := retiredAs(b.Volume, i)
		var st unix.Stat_t
		if unix.Fstatat(int(shelf.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			out = append(out, filepath.Join(b.Root, retiredName, name))
		}
	}
	return out, nil
}

// reclaim answers Reclaim. It can only take away empty folders, the root's
// handle and the two xattrs; a file of anybody stops it.
func (g *gate) reclaim(req Request) (Reply, error) {
	b := *req.Brick
	root, table, err := g.openRoot(b.Root)
	if err != nil {
		return Reply{}, err
	}
	defer root.Close()
	info, err := g.brickInfo(b, root, table)
	if err != nil {
		return Reply{}, err
	}
	if err := unused(info); err != nil {
		return Reply{}, err
	}
	switch {
	case !info.Exists, info.Empty && info.VolumeID == "":
		return Reply{Brick: &info}, nil
	case info.VolumeID != req.VolumeID:
		return Reply{}, brickRefusal(info, "%s carries the volume id %q, not %q", info.Path, info.VolumeID, req.VolumeID)
	case !info.Leftover:
		return Reply{}, brickRefusal(info, "%s holds more than a failed create leaves", info.Path)
	}
	d, err := openBelow(root, filepath.Join(b.Volume, b.Leaf, "brick"))
	if err != nil {
		return Reply{}, err
	}
	defer d.Close()
	if !info.Empty {
		if ok, err := skeleton(d, ".glusterfs", 0, new(int), true); err != nil || !ok {
			return Reply{}, brickRefusal(info, "%s could not be cleared: %v", info.Path, err)
		}
	}
	// The id goes last: until then an interrupted clearing is seen as what it is.
	for _, x := range []string{xattrGFID, xattrVolumeID} {
		if err := unix.Fremovexattr(int(d.Fd()), x); err != nil && !errors.Is(err, unix.ENODATA) {
			return Reply{}, fmt.Errorf("clearing %q: %w", info.Path, err)
		}
	}
	if err := d.Sync(); err != nil {
		return Reply{}, fmt.Errorf("clearing %q: %w", info.Path, err)
	}
	info.VolumeID, info.Entries, info.Empty = "", nil, true
	return Reply{Brick: &info}, nil
}

const (
	skeletonDepth = 3
	skeletonMax   = 70000 // 256 x 256 folders and some
	rootHandle    = "00000000-0000-0000-0000-000000000001"
)

// skeleton reports whether the folder name in dir holds folders and the handle
// of the root only; with remove it takes them away on the way.
func skeleton(dir *os.File, name string, depth int, seen *int, remove bool) (bool, error) {
	d, err := openBelow(dir, name)
	if errors.Is(err, unix.EXDEV) {
		return false, nil // something is mounted there
	}
	if err != nil {
		return false, err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(256)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if *seen++; *seen > skeletonMax {
				return false, nil
			}
			switch {
			case e.Type() == fs.ModeSymlink && e.Name() == rootHandle:
				if remove {
					if err := unix.Unlinkat(int(d.Fd()), e.Name(), 0); err != nil {
						return false, err
					}
				}
			case e.IsDir() && depth < skeletonDepth:
				if ok, err := skeleton(d, e.Name(), depth+1, seen, remove); err != nil || !ok {
					return false, err
				}
			default:
				return false, nil
			}
		}
	}
	if remove {
		if err := unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR); err != nil {
			return false, err
		}
	}
	return true, nil
}
