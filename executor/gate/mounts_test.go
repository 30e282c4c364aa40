package gate

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mountTmpfs mounts one at dir until the test ends.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mount(t, "tmpfs", dir, "tmpfs", 0, options)
}

func mount(t *testing.T, source, dir, fsType string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount(source, dir, fsType, flags, options); err != nil {
		t.Fatalf("mounting %s on %s: %v", source, dir, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// fill writes until there is no room left on dir's file system.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4096)
	for range 1 << 20 {
		if _, err := f.Write(b); err != nil {
			return
		}
	}
	t.Fatal("the file system does not fill up")
}
