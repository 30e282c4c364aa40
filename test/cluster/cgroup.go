package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
)

// cgroupEndMax bounds the wait for control groups to be empty: what a kill left
// ends in the background.
const cgroupEndMax = 30 * time.Second

// pidsMax bounds the processes of one node's pods.
const pidsMax = 8192

// cgroups is where control groups are, and which kind.
type cgroups struct{ root string }

// hostCgroups are the machine's.
var hostCgroups = cgroups{root: "/sys/fs/cgroup"}

// besideName is where version 2 is mounted beside version 1.
const besideName = "unified"

// unified tells whether it is version 2 alone. A machine with version 1 may have
// version 2 beside it, which then controls nothing.
func (c cgroups) unified() bool {
	_, err := os.Stat(filepath.Join(c.root, "cgroup.controllers"))
	return err == nil
}

// hierarchies lists the folders in which a group must be made: one with version
// 2, one per controller with version 1.
func (c cgroups) hierarchies() ([]string, error) {
	if c.unified() {
		return []string{c.root}, nil
	}
	entries, err := os.ReadDir(c.root)
	if err != nil {
		return nil, fmt.Errorf("listing control groups: %w", err)
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(c.root, e.Name())
		// Links name several controllers that are mounted together.
		if _, err := os.Stat(filepath.Join(path, "cgroup.procs")); err == nil && e.IsDir() && e.Name() != besideName {
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("listing control groups: none are mounted at %s", c.root)
	}
	return out, nil
}

// controllers are what a kubelet insists on, as far as the machine has them, and
// what bounds reading and writing.
var controllers = []string{"cpu", "cpuset", "hugetlb", "io", "memory", "pids"}

// make makes the group of that name, with bounds for all below it.
func (c cgroups) make(name string, memoryMiB int) error {
	all, err := c.hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		dir := filepath.Join(h, name)
		if err := c.delegate(h); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making control group: %w", err)
		}
		// Version 1 starts with no processors and no memory nodes to run on.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if c.unified() {
				break
			}
			if data, err := os.ReadFile(filepath.Join(h, file)); err == nil {
				if err := set(filepath.Join(dir, file), strings.TrimSpace(string(data))); err != nil {
					return err
				}
			}
		}
		bounds := map[string]string{
			"memory.limit_in_bytes": strconv.Itoa(memoryMiB << 20),
			"memory.max":            strconv.Itoa(memoryMiB << 20),
			"pids.max":              strconv.Itoa(pidsMax),
		}
		for file, value := range bounds {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				continue // of the other version, or of another controller
			}
			if err := set(filepath.Join(dir, file), value); err != nil {
				return err
			}
		}
		if c.unified() {
			if err := c.delegate(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate lets the groups below dir have controllers, with version 2.
func (c cgroups) delegate(dir string) error {
	if !c.unified() {
		return nil
	}
	has, err := words(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	given, err := words(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	for _, controller := range controllers {
		if slices.Contains(has, controller) && !slices.Contains(given, controller) {
			if err := set(filepath.Join(dir, "cgroup.subtree_control"), "+"+controller); err != nil {
				return err
			}
		}
	}
	return nil
}

// words reads a file of names.
func words(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading what control groups may do: %w", err)
	}
	return strings.Fields(string(data)), nil
}

func set(file, value string) error {
	if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
		return fmt.Errorf("setting %q to %q: %w", file, value, err)
	}
	return nil
}

// named lists the groups whose names match a pattern, in every hierarchy: runc
// makes them also in a version 2 that stands beside version 1.
func (c cgroups) named(pattern string) ([]string, error) {
	all, err := c.hierarchies()
	if err != nil {
		return nil, err
	}
	if !c.unified() {
		all = append(all, filepath.Join(c.root, besideName))
	}
	var out []string
	for _, h := range all {
		found, err := filepath.Glob(filepath.Join(h, pattern))
		if err != nil {
			return nil, fmt.Errorf("listing control groups: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// remove removes the groups whose names match a pattern and all below them, once
// no process is left in them. It ends none: those of a node ended with it.
func (c cgroups) remove(ctx context.Context, pattern string) error {
	return await.Until(ctx, cgroupEndMax, "the control groups "+pattern+" are gone", "", func(context.Context) error {
		groups, err := c.named(pattern)
		if err != nil {
			return err
		}
		var errs []error
		for _, g := range groups {
			errs = append(errs, removeGroup(g))
		}
		return errors.Join(errs...)
	})
}

// removeGroup removes a group, the lowest below it first. Only folders can be
// removed: the files in them are the kernel's.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing control group: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing control group %q: %w", dir, err)
	}
	return nil
}
