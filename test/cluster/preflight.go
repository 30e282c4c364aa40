package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/program"
)

// What a cluster needs on disk, in MiB.
const (
	diskNodeMiB  = 3072  // images, packed and unpacked, of one node
	diskBuildMiB = 12288 // compiling all of Kubernetes and containerd, once
)

// netfilterMax bounds asking the kernel for its filters.
const netfilterMax = 20 * time.Second

var (
	errNoOverlay   = errors.New("the kernel has no overlay file system: containers need it")
	errNoMemory    = errors.New("control groups cannot bound memory here: pods need it")
	errNoNetfilter = errors.New("iptables cannot translate addresses here: services need it")
)

// Preflight says what this machine lacks for cfg: one line per thing, and how to
// get it. It changes nothing but may load the kernel's modules.
func Preflight(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	under := cfg.local()
	if err := local.Preflight(under); err != nil {
		return err // without tools the rest says nothing
	}
	checkout, err := under.Root()
	if err != nil {
		return err
	}
	return errors.Join(hasOverlay(), hostCgroups.bounds(), hasNetfilter(ctx), hasDisk(cfg, checkout))
}

func hasOverlay() error {
	data, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return fmt.Errorf("looking for the overlay file system: %w", err)
	}
	if !bytes.Contains(data, []byte("\toverlay\n")) {
		return errNoOverlay
	}
	return nil
}

// bounds fails when there is no controller of memory.
func (c cgroups) bounds() error {
	if c.unified() {
		has, err := words(c.root + "/cgroup.controllers")
		if err == nil && !slices.Contains(has, "memory") {
			err = errNoMemory
		}
		return err
	}
	if _, err := os.Stat(c.root + "/memory/memory.limit_in_bytes"); err != nil {
		return errNoMemory
	}
	return nil
}

// hasNetfilter looks in a network namespace of its own: the host's filters stay
// as they are.
func hasNetfilter(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, netfilterMax, fmt.Errorf("not within %v", netfilterMax))
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--net", "iptables", "-t", "nat", "-A", "POSTROUTING",
		"-m", "comment", "--comment", "anthill", "-j", "MASQUERADE")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w: %s", errNoNetfilter, errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(out))
	}
	return nil
}

// hasDisk compares free space with what the cluster may come to use.
func hasDisk(cfg Config, checkout string) error {
	if err := local.Room("/var/lib", int64(cfg.Nodes)*diskNodeMiB+movableImageMiB, "the cluster"); err != nil {
		return err
	}
	for _, p := range programs(checkout) {
		if built, err := p.Built(); built || err != nil {
			continue // Build tells why it cannot know
		}
		cache, err := program.CacheDir()
		if err != nil {
			return err
		}
		return local.Room(cache, diskBuildMiB, "compiling Kubernetes")
	}
	return nil
}
