package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// layout makes files; one without content is a folder.
func layout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	return string(data)
}

// TestCgroupsOfVersion1 stands folders in for the kernel's: a group starts empty
// there, and so its files are made before.
func TestCgroupsOfVersion1(t *testing.T) {
	root := layout(t, map[string]string{
		"memory/cgroup.procs": "", "memory/n1/memory.limit_in_bytes": "",
		"cpuset/cgroup.procs": "", "cpuset/cpuset.cpus": "0-1\n", "cpuset/cpuset.mems": "0\n",
		"pids/cgroup.procs": "", "pids/n1/pids.max": "",
		"unified/cgroup.procs": "", "unified/n1/": "",
	})
	must(t, os.Symlink("memory", filepath.Join(root, "memory,too")))
	c := cgroups{root: root}
	must(t, c.make("n1", 2))
	for file, want := range map[string]string{
		"memory/n1/memory.limit_in_bytes": "2097152", "cpuset/n1/cpuset.cpus": "0-1", "cpuset/n1/cpuset.mems": "0",
		"pids/n1/pids.max": "8192",
	} {
		if got := content(t, filepath.Join(root, file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	must(t, c.make("n1", 2)) // again
	got, err := c.named("n[0-9]*")
	must(t, err)
	want := []string{"cpuset/n1", "memory/n1", "pids/n1", "unified/n1"}
	for i := range want {
		want[i] = filepath.Join(root, want[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups to remove (-want +got):\n%s", diff)
	}
}

func TestCgroupsOfVersion2(t *testing.T) {
	root := layout(t, map[string]string{
		"cgroup.procs": "", "cgroup.controllers": "cpuset cpu io memory pids rdma\n", "cgroup.subtree_control": "cpu io memory pids cpuset\n",
		"n1/cgroup.controllers": "memory\n", "n1/cgroup.subtree_control": "", "n1/memory.max": "", "n1/pids.max": "",
	})
	c := cgroups{root: root}
	must(t, c.make("n1", 2))
	for file, want := range map[string]string{
		"n1/memory.max": "2097152", "n1/pids.max": "8192", "n1/cgroup.subtree_control": "+memory",
		"cgroup.subtree_control": "cpu io memory pids cpuset\n", // all given already
	} {
		if got := content(t, filepath.Join(root, file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	got, err := c.named("n[0-9]*")
	must(t, err)
	if diff := cmp.Diff([]string{filepath.Join(root, "n1")}, got); diff != "" {
		t.Errorf("groups to remove (-want +got):\n%s", diff)
	}
}

func TestRemoveGroupTakesTheLowestFirst(t *testing.T) {
	root := layout(t, map[string]string{"n1/kubepods/besteffort/": "", "n1/kubepods/burstable/": "", "n2/": ""})
	must(t, removeGroup(filepath.Join(root, "n1")))
	must(t, removeGroup(filepath.Join(root, "n1"))) // gone is no error
	left, err := filepath.Glob(filepath.Join(root, "*"))
	must(t, err)
	if diff := cmp.Diff([]string{filepath.Join(root, "n2")}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// TestCgroupsOfThisMachine makes a group of the kernel's, of whichever version
// this machine has, with a process in it.
func TestCgroupsOfThisMachine(t *testing.T) {
	needRoot(t)
	name := fmt.Sprintf("anthill-test-%d", os.Getpid())
	must(t, hostCgroups.make(name, 64))
	must(t, hostCgroups.make(name, 64)) // again
	t.Cleanup(func() { must(t, hostCgroups.remove(context.Background(), name)) })
	groups, err := hostCgroups.named(name)
	must(t, err)
	bounded := map[string]string{}
	for _, g := range groups {
		for _, file := range []string{"memory.limit_in_bytes", "memory.max", "pids.max"} {
			if data, err := os.ReadFile(filepath.Join(g, file)); err == nil {
				bounded[strings.SplitN(file, ".", 2)[0]] = strings.TrimSpace(string(data))
			}
		}
	}
	if diff := cmp.Diff(map[string]string{"memory": "67108864", "pids": "8192"}, bounded); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}

	// As a kubelet does: groups below, and processes in the lowest only.
	sleep := exec.CommandContext(t.Context(), "sleep", "60")
	must(t, sleep.Start())
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	for _, g := range groups {
		must(t, os.Mkdir(filepath.Join(g, "pod"), 0o755))
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if data, err := os.ReadFile(filepath.Join(g, file)); err == nil && len(data) > 1 {
				must(t, set(filepath.Join(g, "pod", file), strings.TrimSpace(string(data))))
			}
		}
		must(t, set(filepath.Join(g, "pod", "cgroup.procs"), fmt.Sprint(sleep.Process.Pid)))
	}
	if hostCgroups.unified() {
		got, err := words(filepath.Join(groups[0], "pod", "cgroup.controllers"))
		must(t, err)
		for _, want := range []string{"cpu", "cpuset", "memory", "pids"} {
			if !slices.Contains(got, want) {
				t.Errorf("what lies below a group has controllers %q, not %s, on which a kubelet insists", got, want)
			}
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := hostCgroups.remove(short, name); err == nil {
		t.Error("a group with a process in it is removed")
	}
	must(t, sleep.Process.Kill())
	_ = sleep.Wait()
	must(t, hostCgroups.remove(t.Context(), name))
	if left, err := hostCgroups.named(name); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
