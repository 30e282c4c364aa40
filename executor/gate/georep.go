package gate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Before it does anything the gluster command runs a Python program to find out
// whether geo-replication is installed: four fifths of the processor time of a
// read. We never use geo-replication, so Python is made to end before it comes
// to that program, without a word: it imports encodings, or where that is built
// in sitecustomize, from PYTHONPATH first. The command then offers no
// geo-replication, as it does where that is not installed. glusterd and what it
// starts do not inherit this environment.
const noGeoRep = "import posix\nposix._exit(0)\n"

// noGeoRepFiles are where Python finds it, below pythonDir.
var noGeoRepFiles = []string{"encodings/__init__.py", "sitecustomize.py"}

func (g *gate) pythonDir() string { return filepath.Join(g.StateDir, "python") }

// childEnv is the environment of a gluster command. Without our folder, which
// makeStateDir makes, it only takes longer.
func (g *gate) childEnv() []string {
	return append([]string{"PYTHONPATH=" + g.pythonDir(), "PYTHONDONTWRITEBYTECODE=1"}, g.Env...)
}

// makePythonDir makes what childEnv refers to, if it can: a full disk must not
// keep a server from being fenced.
func (g *gate) makePythonDir() {
	for _, name := range noGeoRepFiles {
		path := filepath.Join(g.pythonDir(), name)
		if b, err := readBounded(path, 4096); err == nil && string(b) == noGeoRep {
			continue
		}
		for _, dir := range []string{g.pythonDir(), filepath.Dir(path)} {
			if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return
			}
		}
		g.replace(path, []byte(noGeoRep))
	}
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
