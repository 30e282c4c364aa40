package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRunIsForTheFirstProcess(t *testing.T) {
	if err := Run(t.Context(), Options{}); !errors.Is(err, errNotFirst) {
		t.Errorf("got %v", err)
	}
}

func TestFreshRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run/gluster")
	for range 2 { // also where there is nothing yet
		if err := freshRun(dir); err != nil {
			t.Fatal(err)
		}
		write(t, dir+"/vols/v/s1-b.pid", "7\n")
		write(t, dir+"/a.socket", "")
		write(t, dir+"/kept", "")
	}
	if err := freshRun(dir); err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{"vols/v/s1-b.pid": false, "a.socket": false, "kept": true, "vols/v": true} {
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != there {
			t.Errorf("%s: %v, want it there: %t", path, err, there)
		}
	}
}
