package cluster

import (
	"path/filepath"

	"github.com/gluster/anthill/test/loop"
)

// movableImageMiB is the size of the file system of claims that can move, which
// takes no room until it is used.
const movableImageMiB = 4096

// movableDir is where the controller manager makes folders for claims, and
// where it tells nodes to look for them; it cannot be configured.
const movableDir = "/tmp/hostpath_pv"

func (e *Env) movableImage() string { return filepath.Join(e.local.Dir(), "movable.img") }

// movableDevice is the loop device of the file system of claims that can move,
// made when it is not there.
func (e *Env) movableDevice() (string, error) { return loop.Hold(e.movableImage()) }
