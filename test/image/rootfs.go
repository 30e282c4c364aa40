package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/filelock"
	"github.com/gluster/anthill/test/program"
)

// rootfsMax bounds making a root file system, with the wait for others that
// make one; two minutes on a good network.
const rootfsMax = 30 * time.Minute

// rootfsVersion changes when what is left out of a root file system does.
const rootfsVersion = "1"

// A rootfs is a Debian of one suite with some packages.
type rootfs struct {
	suite    string
	packages []string
}

// dir is the folder where its layer is kept.
func (r rootfs) dir() (string, error) {
	cache, err := program.CacheDir()
	if err != nil {
		return "", err
	}
	sorted := slices.Sorted(slices.Values(r.packages))
	sum := sha256.Sum256([]byte(strings.Join(append([]string{rootfsVersion, runtime.GOARCH, r.suite}, sorted...), " ")))
	return filepath.Join(cache, "rootfs-"+r.suite+"-"+hex.EncodeToString(sum[:6])), nil
}

// layer returns its layer, which is made when it is not there.
func (r rootfs) layer(ctx context.Context, logf func(string, ...any)) (Layer, error) {
	dir, err := r.dir()
	if err != nil {
		return Layer{}, err
	}
	file := filepath.Join(dir, "layer.tar")
	if l, err := readLayer(file); err == nil {
		return l, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, rootfsMax, fmt.Errorf("not within %v", rootfsMax))
	defer cancel()
	lock, err := filelock.Take(ctx, dir+".lock")
	if err != nil {
		return Layer{}, fmt.Errorf("waiting for another debootstrap of %s: %w", r.suite, err)
	}
	defer lock.Release()
	if l, err := readLayer(file); err == nil {
		return l, nil
	}
	logf("making a root file system of Debian %s, once for all checkouts", r.suite)
	begun := time.Now()
	if err := r.make(ctx, dir); err != nil {
		return Layer{}, fmt.Errorf("making a root file system of Debian %s: %w", r.suite, err)
	}
	logf("made the root file system of Debian %s after %.0f s: %s", r.suite, time.Since(begun).Seconds(), dir)
	return readLayer(file)
}

// make makes the layer in a folder beside dir and renames that.
func (r rootfs) make(ctx context.Context, dir string) error {
	from, err := mirror(ctx)
	if err != nil {
		return err
	}
	tmp := dir + ".building"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	root := filepath.Join(tmp, "root")
	// In namespaces of its own, so that whatever ends this program leaves neither
	// a process nor a mount.
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child",
		"debootstrap", "--variant=minbase", "--include="+strings.Join(r.packages, ","), r.suite, root, from)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running debootstrap: %w: %s", errors.Join(err, context.Cause(ctx)), await.LastLines(string(out), await.TailLines))
	}
	if err := neutral(root); err != nil {
		return err
	}
	if _, err := layerOfTree(filepath.Join(tmp, "layer.tar"), root, leftOut); err != nil {
		return err
	}
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// neutral empties what debootstrap takes from the machine it runs on.
func neutral(root string) error {
	for _, name := range []string{"etc/hostname", "etc/resolv.conf", "etc/machine-id"} {
		path := filepath.Join(root, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// emptied are folders that an image has, but nothing in them: what a container
// mounts, caches, and what the slim images of Debian leave out.
var emptied = []string{
	"dev", "proc", "sys", "run", "tmp", "var/cache/apt", "var/cache/debconf", "var/lib/apt/lists", "var/log",
	"usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man",
}

// kept are the exceptions: the folder that glusterd logs into.
var kept = []string{"var/log/glusterfs"}

// leftOut tells what of a fresh Debian is not in the layer. The identity of a
// glusterd must never be in one: all its servers would have the same.
func leftOut(path string, info fs.FileInfo) bool {
	if path == "var/lib/glusterd/glusterd.info" || info.Mode()&(fs.ModeDevice|fs.ModeSocket|fs.ModeNamedPipe) != 0 {
		return true
	}
	if slices.Contains(kept, path) {
		return false
	}
	return slices.ContainsFunc(emptied, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}
