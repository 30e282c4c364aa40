package gate

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// drop answers Drop: it undoes a makeBrick that led nowhere. Only folders that
// are empty go, innermost first, and never one that was or is a brick.
func (g *gate) drop(req Request) (Reply, error) {
	root, table, err := g.openRoot(req.Brick.Root)
	if err != nil {
		return Reply{}, err
	}
	defer root.Close()
	info, err := g.brickInfo(*req.Brick, root, table)
	if err != nil {
		return Reply{}, err
	}
	if err := unused(info); err != nil {
		return Reply{}, err
	}
	switch {
	case info.VolumeID != "":
		return Reply{}, brickRefusal(info, "%s carries the volume id %s", info.Path, info.VolumeID)
	case info.Exists && !info.Empty:
		return Reply{}, brickRefusal(info, "%s is not empty, it holds %s", info.Path, strings.Join(info.Entries, ", "))
	}
	b := req.Brick
	for _, dir := range [][2]string{{b.Volume + "/" + b.Leaf, "brick"}, {b.Volume, b.Leaf}, {".", b.Volume}} {
		parent, err := openBelow(root, dir[0])
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return Reply{}, fmt.Errorf("removing the brick directory %q: %w", info.Path, err)
		}
		err = unix.Unlinkat(int(parent.Fd()), dir[1], unix.AT_REMOVEDIR)
		if err == nil {
			err = parent.Sync()
		}
		parent.Close()
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
		case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
			// Other bricks of the volume are beside it.
			return Reply{Brick: &BrickInfo{Path: info.Path, Retired: info.Retired}}, nil
		default:
			return Reply{}, fmt.Errorf("removing the brick directory %q: %w", info.Path, err)
		}
	}
	return Reply{Brick: &BrickInfo{Path: info.Path, Retired: info.Retired}}, nil
}
