package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// cacheVariable overrides where built binaries are kept.
const cacheVariable = "ANTHILL_CACHE"

// buildMax bounds one build; all of Kubernetes on two cold cores takes about
// five minutes.
const buildMax = 30 * time.Minute

// program is one binary of test/kube.
type program struct {
	name     string
	pkg      string // what is built
	module   string // whose version it has
	checkout string
}

// kubeBinary describes the binary of that name.
func kubeBinary(name, checkout string) program {
	p := program{name: name, checkout: checkout, module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name}
	if name == etcdName {
		p.module, p.pkg = "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"
	}
	return p
}

// CacheDir is where built binaries are kept, by name and version, for all
// checkouts: $ANTHILL_CACHE, else anthill in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w", err)
	}
	return filepath.Join(dir, "anthill"), nil
}

// path is where the binary is once it is built.
func (p program) path() string {
	dir, err := CacheDir()
	if err != nil {
		return ""
	}
	version, err := p.version()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, p.name+"-"+version, p.name)
}

// version is the version that test/kube/go.mod requires.
func (p program) version() (string, error) {
	file := filepath.Join(p.checkout, "test/kube/go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("finding the version of %s: %w", p.name, err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == p.module {
			return f[1], nil
		}
	}
	return "", fmt.Errorf("finding the version of %s: %q does not require %s", p.name, file, p.module)
}

// buildBinaries builds what the environment needs and is not built yet.
func (e *Env) buildBinaries(ctx context.Context) error {
	names := []string{etcdName, apiServerName}
	if e.cfg.Kubectl {
		names = append(names, "kubectl")
	}
	for _, name := range names {
		if err := kubeBinary(name, e.cfg.Checkout).build(ctx, e.logf); err != nil {
			return err
		}
	}
	return nil
}

// build builds the binary, unless it is there. Of several programs that want
// it one builds, the others wait.
func (p program) build(ctx context.Context, logf func(string, ...any)) error {
	version, err := p.version()
	if err != nil {
		return err
	}
	path := p.path()
	if path == "" {
		return errors.New("finding the cache folder: no home directory; set " + cacheVariable)
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for %s: %w", p.name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, buildMax, fmt.Errorf("not within %v", buildMax))
	defer cancel()
	l, err := takeLock(ctx, filepath.Dir(path)+".lock")
	if err != nil {
		return fmt.Errorf("waiting for another build of %s: %w", p.name, err)
	}
	defer l.release()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	logf("building %s %s, once for all checkouts", p.name, version)
	begun := time.Now()
	if err := p.compile(ctx, version, path); err != nil {
		return fmt.Errorf("building %s %s: %w", p.name, version, err)
	}
	logf("built %s after %.0f s: %s", p.name, time.Since(begun).Seconds(), path)
	return nil
}

// compile builds into a folder beside the final one and renames that.
func (p program) compile(ctx context.Context, version, path string) error {
	// One name, so that what a killed build left is removed by the next; the lock
	// keeps others out.
	tmp := filepath.Dir(path) + ".building"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	// kubectl refuses a server that does not know its own version.
	const at = " -X k8s.io/component-base/version."
	ldflags := "-s -w" + at + "gitVersion=" + version + at + "gitMajor=" + major + at + "gitMinor=" + minor
	cmd := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(p.checkout, "test/kube"),
		"-ldflags", ldflags, "-o", filepath.Join(tmp, p.name), p.pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, context.Cause(ctx)), lastLines(string(out), tailLines))
	}
	final := filepath.Dir(path)
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(tmp, final)
}

// lastLines returns the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
