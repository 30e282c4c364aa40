package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
