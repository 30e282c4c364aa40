package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// A tree is what a server's files are, by path: kind, mode, owner, target and
// content. Folders count without their times, which change with what is in them.
type tree map[string]string

// passing are where only what passes is kept: kernel's own, and what daemons
// write while they run, the gate's looks included.
var passing = []string{"/dev", "/proc", "/sys", "/run", "/tmp", gate.StateDir + "/tmp"}

// gluster are glusterd's own places: what is in them is its matter.
var glustersOwn = []string{"/var/lib/glusterd", "/var/log"}

// treeOf reads the whole server, as its processes see it, but for what passes,
// what is gluster's own (in bricks too), and the host's programs.
func treeOf(t *testing.T, s *local.Server) tree {
	t.Helper()
	out := tree{}
	root := filepath.Clean(s.Path("/"))
	// With the slash, since it is a link into /proc.
	err := filepath.WalkDir(root+"/", func(path string, d fs.DirEntry, err error) error {
		inner := "/" + strings.TrimPrefix(strings.TrimPrefix(filepath.Clean(path), root), "/")
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", inner, err)
		case slices.Contains(passing, inner), slices.Contains(glustersOwn, inner), inner == "/usr", d.Name() == ".glusterfs":
			return fs.SkipDir
		// What a look of the server's own pool found out, and keeps when it gets to it.
		case strings.HasPrefix(inner, gate.StateDir+"/") && strings.HasSuffix(inner, ".fact"):
			return nil
		}
		return out.note(path, inner, d)
	})
	must(t, err)
	// /usr is the host's, read-only, but for this folder.
	err = filepath.WalkDir(s.Path("/usr/local/lib"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return out.note(path, "/usr/local/lib"+strings.TrimPrefix(path, s.Path("/usr/local/lib")), d)
	})
	must(t, err)
	for _, path := range append(s.Bricks(), "/etc/hosts", "/root", "/usr/local/lib", "/var/lib") {
		if out[path] == "" {
			t.Fatalf("reading the files of %s: there is no %s among %d", s.Name(), path, len(out))
		}
	}
	return out
}

func (tr tree) note(path, inner string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	st := info.Sys().(*syscall.Stat_t)
	what := fmt.Sprintf("%v %d:%d", info.Mode(), st.Uid, st.Gid)
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		what += " " + hex.EncodeToString(sum[:8]) + " " + info.ModTime().UTC().Format("15:04:05.000000")
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		what += " -> " + target
	}
	tr[inner] = what
	return nil
}

// changed lists the paths that differ, sorted.
func (tr tree) changed(now tree) []string {
	var out []string
	for path, was := range tr {
		switch is, ok := now[path]; {
		case !ok:
			out = append(out, path+" is gone")
		case is != was:
			out = append(out, fmt.Sprintf("%s was %s, is %s", path, was, is))
		}
	}
	for path, is := range now {
		if _, ok := tr[path]; !ok {
			out = append(out, path+" is new: "+is)
		}
	}
	slices.Sort(out)
	return out
}

func trees(t *testing.T, all []*local.Server) map[string]tree {
	t.Helper()
	out := map[string]tree{}
	for _, s := range all {
		out[s.Name()] = treeOf(t, s)
	}
	return out
}

// untouched fails unless the servers are what they were: no file differs, no
// command was given to glusterd, there is no peer and no volume.
func untouched(t *testing.T, all []*local.Server, was map[string]tree) {
	t.Helper()
	for _, s := range all {
		if diff := was[s.Name()].changed(treeOf(t, s)); len(diff) > 0 {
			t.Errorf("%s was touched:\n%s", s.Name(), strings.Join(diff, "\n"))
		}
		commands, err := rig.Changes(s)
		must(t, err)
		if len(commands) > 0 {
			t.Errorf("glusterd on %s was given commands: %v", s.Name(), commands)
		}
		for _, dir := range []string{"peers", "vols"} {
			if entries, _ := os.ReadDir(filepath.Join(s.Root(), "var/lib/glusterd", dir)); len(entries) > 0 {
				t.Errorf("glusterd on %s has %d %s", s.Name(), len(entries), dir)
			}
		}
	}
}

// hasGate tells whether either of the gate's two paths is there.
func hasGate(s *local.Server) bool {
	for _, path := range []string{gate.BinaryPath, gate.StateDir, filepath.Dir(gate.BinaryPath)} {
		if _, err := os.Lstat(s.Path(path)); err == nil {
			return true
		}
	}
	return false
}
