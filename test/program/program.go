package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gluster/anthill/test/filelock"
)

// buildMax bounds one build, with the wait for those of others; all of
// Kubernetes on two cold cores takes about ten minutes.
const buildMax = 45 * time.Minute

// A Program is what one build makes: a binary, or several that belong together.
type Program struct {
	Name   string // of its folder in the cache, with the version
	Module string // whose version it has

	packages []string // what is built, below the module
	checkout string   // whose test/kube has the version
	pinned   string   // the version, of one that is not in test/kube
	tags     string   // of the build
	variant  string   // in the name of its folder, when tags have changed for one version
	cgo      bool     // has C in it
}

// Version is the version that is pinned: here, or in test/kube/go.mod.
func (p Program) Version() (string, error) {
	if p.pinned != "" {
		return p.pinned, nil
	}
	file := filepath.Join(p.checkout, "test/kube/go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("finding the version of %s: %w", p.Name, err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == p.Module {
			return f[1], nil
		}
	}
	return "", fmt.Errorf("finding the version of %s: %q does not require %s", p.Name, file, p.Module)
}

// Dir is the folder of its binaries once they are built; empty when there is no
// cache folder or no version, of which Build tells more.
func (p Program) Dir() string {
	dir, err := CacheDir()
	if err != nil {
		return ""
	}
	version, err := p.Version()
	if err != nil {
		return ""
	}
	if p.variant != "" {
		version += "-" + p.variant
	}
	return filepath.Join(dir, p.Name+"-"+version)
}

// Path is where the binary of the program's own name is once it is built.
func (p Program) Path() string {
	dir := p.Dir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, p.Name)
}

// Built tells whether it is there.
func (p Program) Built() (bool, error) {
	dir := p.Dir()
	if dir == "" {
		_, cacheErr := CacheDir()
		_, versionErr := p.Version()
		return false, errors.Join(cacheErr, versionErr)
	}
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for %s: %w", p.Name, err)
	}
	return true, nil
}

// Build builds the program, unless it is there. One build runs at a time on a
// machine, whatever it builds: most share packages, and two at once need twice
// the memory. logf gets a line when it starts and when it ends.
func (p Program) Build(ctx context.Context, logf func(string, ...any)) error {
	if done, err := p.Built(); done || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, buildMax, fmt.Errorf("not within %v", buildMax))
	defer cancel()
	l, err := filelock.Take(ctx, filepath.Join(filepath.Dir(p.Dir()), "build.lock"))
	if err != nil {
		return fmt.Errorf("waiting for another build before %s: %w", p.Name, err)
	}
	defer l.Release()
	if done, err := p.Built(); done || err != nil {
		return err
	}
	version, err := p.Version()
	if err != nil {
		return err
	}
	logf("building %s %s, once for all checkouts", p.Name, version)
	begun := time.Now()
	if err := p.compile(ctx, version); err != nil {
		return fmt.Errorf("building %s %s: %w", p.Name, version, err)
	}
	logf("built %s after %.0f s: %s", p.Name, time.Since(begun).Seconds(), p.Dir())
	return nil
}

// compile builds into a folder beside the final one and renames that.
func (p Program) compile(ctx context.Context, version string) error {
	// One name, so that what a killed build left is removed by the next; the lock
	// keeps others out.
	tmp := p.Dir() + ".building"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, pkg := range p.packages {
		pkg = path.Join(p.Module, pkg)
		var err error
		if p.pinned == "" {
			err = p.compileKube(ctx, version, pkg, tmp)
		} else {
			err = p.install(ctx, version, pkg, tmp)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
	}
	return os.Rename(tmp, p.Dir())
}
