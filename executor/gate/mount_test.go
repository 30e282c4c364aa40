package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// The UUID in the superblock is the one the kernel and blkid tell.
func TestSuperblockUUID(t *testing.T) {
	const want = "01234567-89ab-4def-8123-456789abcdef"
	cases := map[string]struct{ tool, flag, fsType string }{
		"XFS":  {"mkfs.xfs", "-muuid=" + want, "xfs"},
		"Ext4": {"mkfs.ext4", "-U" + want, "ext4"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tool, err := exec.LookPath(tc.tool)
			if err != nil {
				t.Fatalf("the tests of file systems need %s: %v", tc.tool, err)
			}
			image := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, 320<<20); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(tool, "-q", tc.flag, image).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f, err := os.Open(image)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got := superblockUUID(f, tc.fsType); got != want {
				t.Errorf("superblock says %q", got)
			}
			if got := superblockUUID(f, "btrfs"); got != "" {
				t.Errorf("read as another type: %q", got)
			}
			needRoot(t)
			dir := filepath.Join(t.TempDir(), "m")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
			w := newWorld(t).claim()
			m := w.must(Request{Verb: Register, Attempt: "r1", Dirs: []string{dir}}).Mounts[0]
			if m.Have.FSUUID != want || m.Have.FSType != tc.fsType || m.Have.MountPoint != dir || m.Have.Root {
				t.Errorf("mounted: %+v", m.Have)
			}
		})
	}
}

func TestParseMountinfo(t *testing.T) {
	in := "36 35 98:0 /sub /mnt/with\\040blank rw,noatime master:1 propagate_from:2 - xfs /dev/sd\\134a rw\n" +
		"37 35 0:21 / /proc rw - proc proc rw\n38 35 0:22 / /e rw - tmpfs  rw\n"
	got, err := parseMountinfo([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []mountLine{
		{36, "/sub", "/mnt/with blank", "xfs", `/dev/sd\a`},
		{37, "/", "/proc", "proc", "proc"},
		{38, "/", "/e", "tmpfs", ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, bad := range []string{"x\n", "36 35 98:0 / /m rw\n", "x 35 98:0 / /m rw - xfs a rw\n"} {
		if _, err := parseMountinfo([]byte(bad)); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestSameMount(t *testing.T) {
	base := MountID{FSType: "xfs", FSUUID: "u", Source: "/dev/sda", MountPoint: "/b"}
	cases := map[string]struct {
		reason string
		change func(m *MountID)
		want   bool
	}{
		"Same":     {"nothing changed", func(*MountID) {}, true},
		"Renamed":  {"a reboot renames devices", func(m *MountID) { m.Source = "/dev/sdb" }, true},
		"UUID":     {"another file system", func(m *MountID) { m.FSUUID = "v" }, false},
		"NoUUID":   {"a UUID that is gone is no proof", func(m *MountID) { m.FSUUID = "" }, false},
		"Point":    {"mounted elsewhere", func(m *MountID) { m.MountPoint = "/" }, false},
		"Type":     {"formatted anew", func(m *MountID) { m.FSType = "ext4" }, false},
		"Subtree":  {"a folder of it", func(m *MountID) { m.FSRoot = "/sub" }, false},
		"RootDisk": {"the root file system", func(m *MountID) { m.Root = true }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			have := base
			tc.change(&have)
			if got := sameMount(base, have); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
	a, b := base, base
	a.FSUUID, b.FSUUID, b.Source = "", "", "/dev/sdb"
	if sameMount(a, b) || !sameMount(a, a) {
		t.Error("without UUIDs the device decides")
	}
}
