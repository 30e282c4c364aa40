package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	xattrVolumeID = "trusted.glusterfs.volume-id"
	xattrGFID     = "trusted.gfid"
	entriesShown  = 8
	retiredName   = ".anthill-retired"
	retiredMax    = 100 // folders one volume may have there
)

// path is where b is.
func (b BrickPath) path() string {
	p := filepath.Join(b.Root, b.Volume)
	if b.Leaf != "" {
		p = filepath.Join(p, b.Leaf, "brick")
	}
	return p
}

// inspect answers Inspect.
func (g *gate) inspect(req Request) (Reply, error) {
	table, err := mountTable()
	if err != nil {
		return Reply{}, err
	}
	m := g.look(req.Brick.Root, table)
	root, err := openDir(req.Brick.Root)
	if err != nil {
		return Reply{}, mountRefusal([]Mount{{Dir: m.Dir, Want: m.Want, Error: openError(m.Dir, err)}})
	}
	defer root.Close()
	info, err := g.brickInfo(*req.Brick, root, table)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Brick: &info, Mounts: []Mount{m}}, nil
}

// makeBrick answers MakeBrick.
func (g *gate) makeBrick(req Request) (Reply, error) {
	root, table, err := g.openRoot(req.Brick.Root)
	if err != nil {
		return Reply{}, err
	}
	defer root.Close()
	info, err := g.brickInfo(*req.Brick, root, table)
	if err != nil {
		return Reply{}, err
	}
	switch {
	case info.BrickOf != "":
		// A missing directory of an existing brick is a lost disk, not a job for mkdir.
		return Reply{}, brickRefusal(info, "%s is a brick of volume %q", info.Path, info.BrickOf)
	case info.VolumeID != "":
		return Reply{}, brickRefusal(info, "%s carries the volume id %s", info.Path, info.VolumeID)
	case info.Exists && !info.Empty:
		return Reply{}, brickRefusal(info, "%s is not empty, it holds %s", info.Path, strings.Join(info.Entries, ", "))
	}
	dir := root
	for _, name := range []string{req.Brick.Volume, req.Brick.Leaf, "brick"} {
		next, err := makeBelow(dir, name)
		if dir != root {
			dir.Close()
		}
		if err != nil {
			return Reply{}, fmt.Errorf("making the brick directory %q: %w", info.Path, err)
		}
		dir = next
	}
	dir.Close()
	info.Exists, info.Empty, info.Leftover = true, true, true
	return Reply{Brick: &info}, nil
}

// openRoot opens a registered directory, provided that it is what was
// registered (S12).
func (g *gate) openRoot(dir string) (*os.File, []mountLine, error) {
	table, err := mountTable()
	if err != nil {
		return nil, nil, err
	}
	m := Mount{Dir: dir}
	if m.Want, err = g.registered(dir); err != nil {
		return nil, nil, err
	}
	if m.Want == nil {
		m.Error = fmt.Sprintf("%s is not registered", dir)
		return nil, nil, mountRefusal([]Mount{m})
	}
	d, err := openDir(dir)
	if err != nil {
		m.Error = fmt.Sprintf("%s, it was registered on %s", openError(dir, err), *m.Want)
		return nil, nil, mountRefusal([]Mount{m})
	}
	if g.compare(&m, d, table); m.Error != "" {
		d.Close()
		return nil, nil, mountRefusal([]Mount{m})
	}
	return d, table, nil
}

// makeBelow makes and opens one folder in dir, durably.
func makeBelow(dir *os.File, name string) (*os.File, error) {
	err := unix.Mkdirat(int(dir.Fd()), name, 0o755)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "mkdir", Path: dir.Name() + "/" + name, Err: err}
	}
	made := err == nil
	d, err := openBelow(dir, name)
	if err != nil {
		return nil, err
	}
	if made {
		// Whatever the umask of the login; bricks are served to many users.
		err = d.Chmod(0o755)
		if err == nil {
			err = dir.Sync()
		}
		if err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// brickInfo tells what is at b below root, which is open.
func (g *gate) brickInfo(b BrickPath, root *os.File, table []mountLine) (BrickInfo, error) {
	info := BrickInfo{Path: b.path()}
	rel, err := filepath.Rel(b.Root, info.Path)
	if err != nil {
		return info, err
	}
	if err := g.using(&info, table); err != nil {
		return info, err
	}
	if info.Retired, err = retiredOf(root, b); err != nil {
		return info, err
	}
	d, err := openBelow(root, rel)
	switch {
	case errors.Is(err, unix.ENOENT):
		return info, nil
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENOTDIR):
		return info, brickRefusal(info, "the way to %s leaves the file system or is not a directory: %v", info.Path, errors.Unwrap(err))
	case err != nil:
		return info, err
	}
	defer d.Close()
	info.Exists = true
	if info.VolumeID, err = volumeID(d); err != nil {
		return info, fmt.Errorf("reading the volume id of %q: %w", info.Path, err)
	}
	names, err := d.Readdirnames(entriesShown)
	if len(names) == 0 {
		info.Empty, info.Leftover = true, true
		return info, nil
	}
	if err != nil {
		return info, fmt.Errorf("listing %q: %w", info.Path, err)
	}
	slices.Sort(names)
	info.Entries = names
	if b.Leaf != "" && slices.Equal(names, []string{".glusterfs"}) {
		info.Leftover, err = skeleton(d, ".glusterfs", 0, new(int), false)
	}
	return info, err
}

// using fills in who uses the path: glusterd, a brick process, a mount.
func (g *gate) using(info *BrickInfo, table []mountLine) error {
	own, err := g.uuid()
	if err != nil {
		return err
	}
	files, err := g.brickFiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		// Other servers' bricks of the volume may have the same path.
		if below(f.path, info.Path) && (f.uuid == own || f.uuid == "" || own == "") {
			info.BrickOf = f.volume
			break
		}
	}
	bricks, err := g.bricks()
	if err != nil {
		return err
	}
	for _, b := range bricks {
		if b.Alive && below(b.Path, info.Path) {
			info.ServedBy = b.PID
			break
		}
	}
	for _, m := range table {
		if below(m.point, info.Path) {
			info.MountedOn = append(info.MountedOn, m.point)
		}
	}
	return nil
}

// below reports whether path is dir or in it.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}

func volumeID(d *os.File) (string, error) {
	var u [16]byte
	n, err := unix.Fgetxattr(int(d.Fd()), xattrVolumeID, u[:])
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return "", nil
	}
	if err != nil || n != len(u) {
		return "", fmt.Errorf("%d bytes: %w", n, errors.Join(err, os.ErrInvalid))
	}
	return formatUUID(u), nil
}

func brickRefusal(info BrickInfo, format string, args ...any) error {
	r := refusef(ExitFailed, ReasonBrick, format, args...)
	r.Brick = &info
	return r
}
