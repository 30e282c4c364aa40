package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPreflightOfACompleteMachine(t *testing.T) {
	needRoot(t)
	t.Setenv(kubeconfigVariable, "")
	if err := Preflight(t.Context(), Config{}); err != nil {
		t.Errorf("this machine lacks: %v; run make setup", err)
	}
}

func TestBoundsOfMemoryAreMissed(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(two, "cgroup.controllers"), []byte("cpu pids\n"), 0o600))
	for name, root := range map[string]string{"Version1": one, "Version2": two} {
		if err := (cgroups{root: root}).bounds(); !errors.Is(err, errNoMemory) {
			t.Errorf("%s: %v, want %v", name, err, errNoMemory)
		}
	}
}
