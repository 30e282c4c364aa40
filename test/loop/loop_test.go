package loop

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test makes loop devices: run it as root")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stack makes a loop device on another, as a kubelet does with a block device.
func stack(t *testing.T, under string) string {
	t.Helper()
	device, f, err := attach(under, 0)
	must(t, err)
	f.Close()
	return device
}

func TestHeldDevicesStayAndAreFreed(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	image := filepath.Join(dir, "a.img")
	must(t, MakeBlank(image, 8))
	must(t, MakeBlank(image, 16)) // what is there is kept
	if info, err := os.Stat(image); err != nil || info.Size() != 8<<20 {
		t.Fatalf("the image: %+v, %v; want 8 MiB", info, err)
	}
	t.Cleanup(func() { must(t, AwaitFree(t.Context(), dir, 10*time.Second)) })
	first, err := Hold(image)
	must(t, err)
	if second, err := Hold(image); err != nil || second != first {
		t.Errorf("Hold() again gives %q, %v; want %q: two devices of one file damage it", second, err, first)
	}
	upper := stack(t, first)
	got, err := Below(dir)
	must(t, err)
	if len(got) != 2 || got[first] != image || got[upper] != first {
		t.Errorf("Below() = %v, want %s on the file and %s on that", got, first, upper)
	}
	if other, err := Below(t.TempDir()); err != nil || len(other) > 0 {
		t.Errorf("Below() of another folder = %v, %v", other, err)
	}
	must(t, AwaitFree(t.Context(), dir, 10*time.Second))
	if got, err := Below(dir); err != nil || len(got) > 0 {
		t.Errorf("after AwaitFree() there are %v, %v", got, err)
	}
}

func TestAwaitFreeNamesWhatIsInUse(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	image, point := filepath.Join(dir, "a.img"), filepath.Join(dir, "mnt")
	must(t, MakeXFS(t.Context(), image, 320))
	must(t, os.Mkdir(point, 0o700))
	device, hold, err := Attach(image)
	must(t, err)
	must(t, unix.Mount(device, point, "xfs", 0, ""))
	hold.Close()
	if err := AwaitFree(t.Context(), dir, 100*time.Millisecond); err == nil {
		t.Error("a mounted device counts as free")
	}
	must(t, unix.Unmount(point, 0))
	must(t, AwaitFree(t.Context(), dir, 10*time.Second))
}
