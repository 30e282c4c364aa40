package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// Whom a tool is needed by.
const (
	forAll = iota
	forServers
	forNodes // of Kubernetes, and the images they run
)

// tools maps what is run here to the Debian package it comes in.
var tools = []struct {
	path, debian string
	need         int
}{
	{"ip", "iproute2", forAll},
	{"nsenter", "util-linux", forServers},
	{"mkfs.xfs", "xfsprogs", forServers},
	{"/usr/sbin/glusterd", "glusterfs-server", forServers},
	{"/usr/sbin/gluster", "glusterfs-server", forServers},
	{"/usr/sbin/glusterfs", "glusterfs-client", forServers},
	{"/usr/sbin/sshd", "openssh-server", forServers},
	{"setfattr", "attr", forServers},
	{"strace", "strace", forServers}, // the journal's tests inject failures with it
	{"nsenter", "util-linux", forNodes},
	{"mkfs.xfs", "xfsprogs", forNodes},
	{"iptables", "iptables", forNodes},
	{"debootstrap", "debootstrap", forNodes},
	{"gcc", "gcc", forNodes}, // runc has C in it
	{"/usr/include/stdlib.h", "libc6-dev", forNodes},
	{"/usr/include/seccomp.h", "libseccomp-dev", forNodes}, // and pods' system calls are filtered
	{"pkg-config", "pkg-config", forNodes},
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
	if cfg.Servers > 0 || cfg.Kubelets {
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
	names := missingPackages(func(need int) bool {
		return need == forAll || need == forServers && cfg.Servers > 0 || need == forNodes && cfg.Kubelets
	})
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("missing packages: %s; install them with: make setup", strings.Join(names, " "))
}

// missingPackages lists Debian packages in the order of tools, each once.
func missingPackages(wanted func(need int) bool) []string {
	var out []string
	for _, t := range tools {
		if wanted(t.need) && !slices.Contains(out, t.debian) && !installed(t.path) {
			out = append(out, t.debian)
		}
	}
	return out
}

// everything is wanted by a machine that is set up.
func everything(int) bool { return true }

// installed looks in the administrator's folders too, whatever the caller's PATH.
func installed(tool string) bool {
	if filepath.IsAbs(tool) {
		_, err := os.Stat(tool)
		return err == nil
	}
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
	if err := Room(baseDir, need, "the environment"); err != nil {
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
	return Room(cache, diskBuildMiB, "compiling kube-apiserver")
}

// Room fails when the file system that holds path, or will, has not needMiB free.
func Room(path string, needMiB int64, what string) error {
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
