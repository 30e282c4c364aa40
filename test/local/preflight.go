package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/program"
)

// What an environment needs on disk beside its bricks, in MiB.
const (
	diskOwnMiB    = 1024 // etcd, logs, glusterd's state
	diskServerMiB = 64   // more per server
	diskBuildMiB  = 6144 // compiling kube-apiserver, once
)

// moduleMax bounds the loading of one module of the kernel.
const moduleMax = 20 * time.Second

var errNotRoot = errors.New("not root: namespaces, mounts and loop devices need it; run it with sudo")

// tools maps what is run here to the Debian package it comes in. That of a tool
// which every Debian has is empty.
var tools = []struct {
	path, debian string
	server       bool // needed for servers only
}{
	{"ip", "iproute2", false},
	{"nsenter", "util-linux", true},
	{"mkfs.xfs", "xfsprogs", true},
	{"/usr/sbin/glusterd", "glusterfs-server", true},
	{"/usr/sbin/gluster", "glusterfs-server", true},
	{"/usr/sbin/glusterfs", "glusterfs-client", true},
	{"/usr/sbin/sshd", "openssh-server", true},
	{"setfattr", "attr", true},
	{"strace", "strace", true}, // the journal's tests inject failures with it
}

// Preflight says what this machine lacks for cfg: one line per thing, and how
// to get it. It changes nothing but may load the kernel's modules.
func Preflight(cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	errs := []error{missingTools(cfg)}
	if cfg.Servers > 0 {
		errs = append(errs,
			device("/dev/fuse", "fuse", "no /dev/fuse: the kernel has no FUSE, or this container may not use it"),
			device("/dev/loop-control", "loop", "no /dev/loop-control: the kernel has no loop devices, or this container may not use them"),
			hasXFS(),
		)
	}
	return errors.Join(append(errs, hasDisk(cfg))...)
}

// missingTools names the packages to install.
func missingTools(cfg Config) error {
	names := missingPackages(cfg.Servers > 0)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("missing packages: %s; install them with: make setup", strings.Join(names, " "))
}

// missingPackages lists Debian packages in the order of tools, each once.
func missingPackages(server bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range tools {
		if t.server && !server || seen[t.debian] {
			continue
		}
		if !installed(t.path) {
			seen[t.debian] = true
			out = append(out, t.debian)
		}
	}
	return out
}

// installed looks in the administrator's folders too, whatever the caller's PATH.
func installed(tool string) bool {
	if _, err := exec.LookPath(tool); err == nil {
		return true
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
			return true
		}
	}
	return false
}

// device fails when a device file cannot be opened, after trying its module.
func device(path, module, lacking string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil && loadModule(module) {
		f, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return fmt.Errorf("%s (%w)", lacking, err)
	}
	return f.Close()
}

// loadModule loads a module of the kernel, where that is possible.
func loadModule(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), moduleMax)
	defer cancel()
	return exec.CommandContext(ctx, "modprobe", "-q", name).Run() == nil
}

func hasXFS() error {
	known := func() bool {
		data, err := os.ReadFile("/proc/filesystems")
		return err == nil && bytes.Contains(data, []byte("\txfs\n"))
	}
	if known() || loadModule("xfs") && known() {
		return nil
	}
	return errors.New("the kernel has no XFS: bricks need it")
}

// hasDisk compares free space with what the environment may come to use. The
// bricks are sparse, but a test may fill them.
func hasDisk(cfg Config) error {
	need := int64(diskOwnMiB) + int64(cfg.Servers)*(diskServerMiB+int64(cfg.Bricks)*int64(cfg.BrickMiB))
	if err := room(baseDir, need, "the environment"); err != nil {
		return err
	}
	if !cfg.APIServer {
		return nil
	}
	if _, err := os.Stat(program.Kube(cfg.Checkout, apiServerName).Path()); err == nil {
		return nil
	}
	cache, err := program.CacheDir()
	if err != nil {
		return err
	}
	return room(cache, diskBuildMiB, "compiling kube-apiserver")
}

// room fails when the file system that holds path, or will, has not needMiB free.
func room(path string, needMiB int64, what string) error {
	at := path
	for {
		if _, err := os.Stat(at); err == nil || at == "/" {
			break
		}
		at = filepath.Dir(at)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return fmt.Errorf("looking for free space in %q: %w", at, err)
	}
	free := int64(st.Bavail) * st.Bsize >> 20
	if free < needMiB {
		return fmt.Errorf("too little disk: %s needs %d MiB in %s, %d are free", what, needMiB, path, free)
	}
	return nil
}
