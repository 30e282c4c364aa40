package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const vol = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"

// disk is a world with one registered brick directory on a tmpfs.
type disk struct {
	*world
	root string
}

func newDisk(t *testing.T) *disk {
	needRoot(t)
	w := newWorld(t).claim()
	d := &disk{w, filepath.Join(t.TempDir(), "b1")}
	mountTmpfs(t, d.root, "")
	w.must(Request{Verb: Register, Attempt: "reg", Dirs: []string{d.root}})
	return d
}

func (d *disk) brick(leaf string) *BrickPath {
	return &BrickPath{Root: d.root, Volume: vol, Leaf: leaf}
}

func (d *disk) make(attempt, leaf string) Request {
	return Request{Verb: MakeBrick, Attempt: attempt, Brick: d.brick(leaf)}
}

// tree lists everything below the root.
func (d *disk) tree() []string {
	var out []string
	err := filepath.WalkDir(d.root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && p != d.root {
			out = append(out, strings.TrimPrefix(p, d.root+"/"))
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func TestRegister(t *testing.T) {
	needRoot(t)
	w := newWorld(t).claim()
	base := t.TempDir()
	good := filepath.Join(base, "good")
	mountTmpfs(t, good, "")
	sub := filepath.Join(good, "sub")
	for _, d := range []string{sub, filepath.Join(base, "plain")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bound := filepath.Join(base, "bound")
	if err := os.Mkdir(bound, 0o755); err != nil {
		t.Fatal(err)
	}
	mount(t, filepath.Join(base, "plain"), bound, "", unix.MS_BIND, "")
	if err := os.Symlink(good, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(good, "file"), "")

	cases := map[string]struct{ reason, dir, text string }{
		"Root":     {"bricks would fill the system", filepath.Join(base, "plain"), "root file system"},
		"Bound":    {"a bind mount does not make it another file system", bound, "root file system"},
		"Link":     {"a link can be pointed elsewhere", filepath.Join(base, "link"), "symbolic link"},
		"LinkPart": {"in any element of the path", filepath.Join(base, "link/sub"), "symbolic link"},
		"File":     {"not a directory", filepath.Join(good, "file"), "not a directory"},
		"Missing":  {"never made here", filepath.Join(base, "missing"), "does not exist"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rep := w.refused(Request{Verb: Register, Attempt: "r-" + name, Dirs: []string{good, tc.dir}}, ExitFailed, ReasonMount)
			if len(rep.Mounts) != 1 || rep.Mounts[0].Dir != tc.dir || !strings.Contains(rep.Mounts[0].Error, tc.text) {
				t.Errorf("%s: %+v", tc.reason, rep.Mounts)
			}
			if m := w.must(Request{Verb: Observe}).State.Mounts; len(m) != 0 {
				t.Errorf("%s: yet it registered %+v", tc.reason, m)
			}
		})
	}

	rep := w.must(Request{Verb: Register, Attempt: "r1", Dirs: []string{sub, good, good}})
	if len(rep.Mounts) != 2 || rep.Mounts[0].Dir != good || rep.Mounts[1].Dir != sub {
		t.Fatalf("mounts %+v", rep.Mounts)
	}
	if m := rep.Mounts[1]; m.Want == nil || *m.Want != *m.Have || m.Have.MountPoint != good || m.Have.FSType != "tmpfs" || m.SizeBytes == 0 || m.FreeBytes == 0 {
		t.Errorf("mount %+v", m)
	}
	w.must(Request{Verb: Register, Attempt: "r1", Dirs: []string{sub, good, good}}) // resent
	w.must(Request{Verb: Register, Attempt: "r2", Dirs: []string{good}})            // and asked again
	// Another file system in its place is not recorded over the old one.
	mountTmpfs(t, good, "")
	rep = w.refused(Request{Verb: Register, Attempt: "r3", Dirs: []string{good}}, ExitFailed, ReasonMount)
	if m := rep.Mounts[0]; m.Want == nil || m.Have == nil || m.Want.FSUUID == m.Have.FSUUID {
		t.Errorf("mount %+v", m)
	}
}

func TestMakeBrick(t *testing.T) {
	d := newDisk(t)
	oldmask := unix.Umask(0o077)
	defer unix.Umask(oldmask)
	want := BrickInfo{Path: filepath.Join(d.root, vol, "0-1-0/brick"), Exists: true, Empty: true, Leftover: true}
	for _, attempt := range []string{"m1", "m1", "m2"} { // resent, then asked again
		rep := d.must(d.make(attempt, "0-1-0"))
		if diff := cmp.Diff(&want, rep.Brick); diff != "" {
			t.Errorf("attempt %s: -want +got:\n%s", attempt, diff)
		}
	}
	for p := want.Path; p != d.root; p = filepath.Dir(p) {
		fi, err := os.Stat(p)
		if err != nil || fi.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", p, fi.Mode(), err)
		}
	}
	if r := d.must(Request{Verb: GetRecv, Attempt: "m1"}).Receipt; r.Verb != MakeBrick || r.Ended == 0 {
		t.Errorf("receipt %+v", r)
	}
}

func TestMakeBrickRefusesWhatIsThere(t *testing.T) {
	id := [16]byte{0xde, 0xad, 0xbe, 0xef, 15: 1}
	cases := map[string]struct {
		reason string
		seed   func(d *disk, brick string)
		want   func(b BrickInfo) bool
	}{
		"VolumeID": {"it was a brick before", func(d *disk, brick string) {
			if err := unix.Setxattr(brick, xattrVolumeID, id[:], 0); err != nil {
				d.t.Fatal(err)
			}
		}, func(b BrickInfo) bool { return b.VolumeID == "deadbeef-0000-0000-0000-000000000001" && b.Empty }},
		"Data": {"it has files", func(d *disk, brick string) {
			d.write(filepath.Join(brick, "a"), "x")
		}, func(b BrickInfo) bool { return !b.Empty && !b.Leftover && slices.Equal(b.Entries, []string{"a"}) }},
		"Known": {"glusterd has it in a volume: an empty directory there means a lost disk", func(d *disk, brick string) {
			d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "hostname=n1\npath="+brick+"\n")
		}, func(b BrickInfo) bool { return b.BrickOf == "v1" }},
		"KnownGone": {"and so does a missing one (S4)", func(d *disk, brick string) {
			if err := os.RemoveAll(filepath.Join(d.root, vol)); err != nil {
				d.t.Fatal(err)
			}
			d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "hostname=n1\npath="+brick+"\n")
		}, func(b BrickInfo) bool { return b.BrickOf == "v1" && !b.Exists }},
		"LinkLeaf": {"a link in the way", func(d *disk, brick string) {
			if err := os.RemoveAll(filepath.Dir(brick)); err != nil {
				d.t.Fatal(err)
			}
			if err := os.Symlink(d.t.TempDir(), filepath.Dir(brick)); err != nil {
				d.t.Fatal(err)
			}
		}, func(b BrickInfo) bool { return true }},
		"MountBelow": {"another file system in the way", func(d *disk, brick string) {
			mountTmpfs(d.t, filepath.Dir(brick), "")
		}, func(b BrickInfo) bool { return true }},
		"FileInTheWay": {"not a directory", func(d *disk, brick string) {
			if err := os.Remove(brick); err != nil {
				d.t.Fatal(err)
			}
			d.write(brick, "")
		}, func(b BrickInfo) bool { return true }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			brick := d.must(d.make("m1", "0-0-0")).Brick.Path
			tc.seed(d, brick)
			before := d.tree()
			rep := d.refused(d.make("m2", "0-0-0"), ExitFailed, ReasonBrick)
			if rep.Brick == nil || !tc.want(*rep.Brick) {
				t.Errorf("%s: %+v (%s)", tc.reason, rep.Brick, rep.Error)
			}
			if diff := cmp.Diff(before, d.tree()); diff != "" {
				t.Errorf("%s: the refused request changed something:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMakeBrickNeedsTheRecordedFileSystem(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(d *disk)
		have   bool
	}{
		"Unmounted": {"the disk did not come back after a reboot", func(d *disk) {
			if err := unix.Unmount(d.root, 0); err != nil {
				d.t.Fatal(err)
			}
		}, true},
		"Swapped": {"another disk is mounted there", func(d *disk) { mountTmpfs(d.t, d.root, "") }, true},
		"Moved": {"the same disk, a folder of it", func(d *disk) {
			sub := filepath.Join(d.root, "sub")
			if err := os.Mkdir(sub, 0o755); err != nil {
				d.t.Fatal(err)
			}
			mount(d.t, sub, d.root, "", unix.MS_BIND, "")
		}, true},
		"Linked": {"the mount point became a link", func(d *disk) {
			if err := unix.Unmount(d.root, 0); err != nil {
				d.t.Fatal(err)
			}
			if err := os.Remove(d.root); err != nil {
				d.t.Fatal(err)
			}
			if err := os.Symlink(d.t.TempDir(), d.root); err != nil {
				d.t.Fatal(err)
			}
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			tc.change(d)
			before := d.tree()
			for _, req := range []Request{
				d.make("m1", "0-0-0"),
				{Verb: Retire, Attempt: "t1", Brick: d.brick("")},
				{Verb: Reclaim, Attempt: "c1", Brick: d.brick("0-0-0"), VolumeID: poolA},
			} {
				rep := d.refused(req, ExitFailed, ReasonMount)
				if len(rep.Mounts) != 1 || rep.Mounts[0].Want == nil || (rep.Mounts[0].Have != nil) != tc.have {
					t.Errorf("%s: %s: %+v", tc.reason, req.Verb, rep.Mounts)
				}
				if want := rep.Mounts[0].Want.String(); !strings.Contains(rep.Error, want) {
					t.Errorf("%s: %q does not name %q", tc.reason, rep.Error, want)
				}
			}
			if diff := cmp.Diff(before, d.tree()); diff != "" {
				t.Errorf("%s: something was made:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Unregistered", func(t *testing.T) {
		w := newWorld(t).claim()
		dir := filepath.Join(t.TempDir(), "b")
		mountTmpfs(t, dir, "")
		w.refused(Request{Verb: MakeBrick, Attempt: "m", Brick: &BrickPath{Root: dir, Volume: vol, Leaf: "0-0-0"}}, ExitFailed, ReasonMount)
	})
}

// glusterd would serve an empty folder in the place of a disk that is missing.
func TestStartNeedsTheRecordedFileSystem(t *testing.T) {
	d := newDisk(t)
	brick := d.must(d.make("m1", "0-0-0")).Brick.Path
	d.write(filepath.Join(d.o.GlusterdDir, "glusterd.info"), "UUID=own\n")
	d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "uuid=own\npath="+brick+"\n")
	d.write(filepath.Join(d.o.GlusterdDir, "vols/v2/bricks/n2:-x"), "uuid=other\npath="+brick+"\n")
	start := func(attempt, volume string) Request {
		return Request{Verb: Run, Attempt: attempt, Argv: []string{"gluster", "--mode=script", "volume", "start", volume}}
	}
	d.must(start("s1", "v1"))
	if err := unix.Unmount(d.root, 0); err != nil {
		t.Fatal(err)
	}
	rep := d.refused(start("s2", "v1"), ExitFailed, ReasonMount)
	if len(rep.Mounts) != 1 || rep.Mounts[0].Want == nil || rep.Mounts[0].Have == nil {
		t.Errorf("mounts %+v", rep.Mounts)
	}
	d.refused(Request{Verb: GetRecv, Attempt: "s2"}, ExitFailed, ReasonNoReceipt)
	d.must(start("s3", "v2")) // its brick is on another server, of the same path
	d.must(start("s1", "v1")) // what ran is answered from its receipt
	if n := len(d.runs()); n != 4 {
		t.Errorf("runs %v", d.runs())
	}
}

func TestRetire(t *testing.T) {
	d := newDisk(t)
	req := func(attempt string) Request { return Request{Verb: Retire, Attempt: attempt, Brick: d.brick("")} }
	if b := d.must(req("t0")).Brick; b.Exists || b.Retired != nil {
		t.Errorf("nothing was there: %+v", b)
	}
	shelf := filepath.Join(d.root, retiredName)
	for i := range 3 {
		brick := d.must(d.make(fmt.Sprintf("m%d", i), "0-0-0")).Brick.Path
		d.write(filepath.Join(brick, "data"), fmt.Sprint(i))
		attempt := fmt.Sprintf("t%d", i+1)
		for range 2 { // resent
			b := d.must(req(attempt)).Brick
			if b.Exists || len(b.Retired) != i+1 || b.Retired[i] != filepath.Join(shelf, retiredAs(vol, i)) {
				t.Errorf("round %d: %+v", i, b)
			}
		}
	}
	for i := range 3 {
		got, err := os.ReadFile(filepath.Join(shelf, retiredAs(vol, i), "0-0-0/brick/data"))
		if err != nil || string(got) != fmt.Sprint(i) {
			t.Errorf("retired %d holds %q, %v", i, got, err)
		}
	}
	if fi, err := os.Stat(shelf); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("shelf %v, %v", fi.Mode(), err)
	}
}

func TestRetireRefusesWhatIsInUse(t *testing.T) {
	cases := map[string]struct {
		reason string
		seed   func(d *disk, brick string)
		undo   func(d *disk)
	}{
		"Brick": {"glusterd has it in a volume", func(d *disk, brick string) {
			d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "uuid=own\npath="+brick+"\n")
			d.write(filepath.Join(d.o.GlusterdDir, "glusterd.info"), "UUID=own\n")
		}, func(d *disk) { d.write(filepath.Join(d.o.GlusterdDir, "glusterd.info"), "UUID=other\n") }},
		"Served": {"a brick process outlived its volume", func(d *disk, brick string) {
			d.write(filepath.Join(d.o.RunDir, "vols/v1/n1-x.pid"), "42\n")
			d.process(42, "glusterfsd", 7, "glusterfsd", "--brick-name", brick)
		}, func(d *disk) { d.process(42, "bash", 7) }},
		"Mounted": {"something is mounted in it", func(d *disk, brick string) {
			mountTmpfs(d.t, filepath.Join(brick, "deep"), "")
		}, func(d *disk) {
			if err := unix.Unmount(filepath.Join(d.root, vol, "0-0-0/brick/deep"), 0); err != nil {
				d.t.Fatal(err)
			}
		}},
		"ShelfLink": {"the shelf is a link to somewhere", func(d *disk, _ string) {
			if err := os.Symlink(d.t.TempDir(), filepath.Join(d.root, retiredName)); err != nil {
				d.t.Fatal(err)
			}
		}, func(d *disk) {
			if err := os.Remove(filepath.Join(d.root, retiredName)); err != nil {
				d.t.Fatal(err)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			brick := d.must(d.make("m1", "0-0-0")).Brick.Path
			tc.seed(d, brick)
			rep := d.do(Request{Verb: Retire, Attempt: "t1", Brick: d.brick("")})
			if rep.Exit != ExitFailed || rep.Error == "" {
				t.Errorf("%s: exit %d, %q", tc.reason, rep.Exit, rep.Error)
			}
			if _, err := os.Stat(brick); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			tc.undo(d)
			d.must(Request{Verb: Retire, Attempt: "t2", Brick: d.brick("")})
		})
	}
}

func TestReclaim(t *testing.T) {
	id := [16]byte{0xde, 0xad, 0xbe, 0xef, 15: 1}
	const idText = "deadbeef-0000-0000-0000-000000000001"
	staged := func(d *disk) string {
		brick := d.must(d.make("m1", "0-0-0")).Brick.Path
		for _, x := range []string{xattrVolumeID, xattrGFID} {
			if err := unix.Setxattr(brick, x, id[:], 0); err != nil {
				d.t.Fatal(err)
			}
		}
		for _, s := range []string{"00/00", "ff/ff", "indices/xattrop"} {
			if err := os.MkdirAll(filepath.Join(brick, ".glusterfs", s), 0o700); err != nil {
				d.t.Fatal(err)
			}
		}
		if err := os.Symlink("../../..", filepath.Join(brick, ".glusterfs/00/00", rootHandle)); err != nil {
			d.t.Fatal(err)
		}
		return brick
	}
	reclaim := func(d *disk, attempt, id string) Request {
		return Request{Verb: Reclaim, Attempt: attempt, Brick: d.brick("0-0-0"), VolumeID: id}
	}
	t.Run("Leftover", func(t *testing.T) {
		d := newDisk(t)
		brick := staged(d)
		rep := d.must(Request{Verb: Inspect, Brick: d.brick("0-0-0")})
		if b := rep.Brick; !b.Leftover || b.Empty || b.VolumeID != idText || len(rep.Mounts) != 1 {
			t.Fatalf("inspect %+v", b)
		}
		want := &BrickInfo{Path: brick, Exists: true, Empty: true, Leftover: true}
		for _, attempt := range []string{"c1", "c1", "c2"} {
			if diff := cmp.Diff(want, d.must(reclaim(d, attempt, idText)).Brick); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
		d.must(d.make("m2", "0-0-0"))
	})
	cases := map[string]struct {
		reason string
		id     string
		seed   func(d *disk, brick string)
	}{
		"OtherID": {"it is not what was seen", poolA, func(*disk, string) {}},
		"UserFile": {"a file of a user", idText, func(d *disk, brick string) {
			d.write(filepath.Join(brick, "a"), "x")
		}},
		"HiddenFile": {"a file that only .glusterfs still holds", idText, func(d *disk, brick string) {
			d.write(filepath.Join(brick, ".glusterfs/ff/ff/ffffffff-0000-0000-0000-000000000000"), "x")
		}},
		"Known": {"glusterd has it in a volume", idText, func(d *disk, brick string) {
			d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "path="+brick+"\n")
		}},
		"Mounted": {"something is mounted in it", idText, func(d *disk, brick string) {
			mountTmpfs(d.t, filepath.Join(brick, ".glusterfs/ff/ff"), "")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			brick := staged(d)
			tc.seed(d, brick)
			before := d.tree()
			d.refused(reclaim(d, "c1", tc.id), ExitFailed, ReasonBrick)
			if diff := cmp.Diff(before, d.tree()); diff != "" {
				t.Errorf("%s: something is gone:\n%s", tc.reason, diff)
			}
		})
	}
}
