package gate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Before it does anything the gluster command runs a Python program to find out
// whether geo-replication is installed: two thirds of the processor time of a
// read, and more than that of a get-state. We never use geo-replication, so its
// program is told to end at once: Python runs sitecustomize.py from PYTHONPATH
// before the program, and ours ends it without a word. The command then offers
// no geo-replication, as it does where that is not installed. glusterd and what
// it starts do not inherit this environment.
const noGeoRep = "import os\nos._exit(0)\n"

func (g *gate) pythonDir() string { return filepath.Join(g.StateDir, "python") }

// childEnv is the environment of a gluster command. Without our folder, which
// makeStateDir makes, it only takes longer.
func (g *gate) childEnv() []string {
	return append([]string{"PYTHONPATH=" + g.pythonDir(), "PYTHONDONTWRITEBYTECODE=1"}, g.Env...)
}

// makePythonDir makes what childEnv refers to, if it can: a full disk must not
// keep a server from being fenced.
func (g *gate) makePythonDir() {
	path := filepath.Join(g.pythonDir(), "sitecustomize.py")
	if b, err := readBounded(path, 4096); err == nil && string(b) == noGeoRep {
		return
	}
	if err := os.Mkdir(g.pythonDir(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	g.replace(path, []byte(noGeoRep))
}

// replace puts a file that can be made again at path, whole or not at all. It
// is not synced.
func (g *gate) replace(path string, b []byte) {
	tmp, err := os.CreateTemp(g.tmpDir(), "new-")
	if err != nil {
		return
	}
	_, err = tmp.Write(b)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil || os.Rename(tmp.Name(), path) != nil {
		_ = os.Remove(tmp.Name())
	}
}
