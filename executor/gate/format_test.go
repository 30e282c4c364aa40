package gate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFormatAndMount(t *testing.T) {
	l := newLoop(t, 320)
	w := l.pod()
	d := w.must(formatReq("f1", uuidOurs)).Device
	if d.Holds != "xfs" || d.UUID != uuidOurs || d.Label != "anthill" || d.Unfinished || d.Mounted || d.Recorded != uuidOurs || d.SizeBytes != 320<<20 {
		t.Errorf("formatted: %+v", d)
	}
	if out := run(t, "xfs_db", "-r", "-c", "sb 0", "-c", "p inodesize inprogress", l.device); !strings.Contains(out, "inodesize = 512") || !strings.Contains(out, "inprogress = 0") {
		t.Errorf("superblock: %s", out)
	}
	before := l.sum()
	for _, attempt := range []string{"f1", "f2"} {
		if d := w.must(formatReq(attempt, uuidOurs)).Device; d.UUID != uuidOurs {
			t.Errorf("again: %+v", d)
		}
	}
	if l.sum() != before {
		t.Error("asking again changed the device")
	}
	d = w.must(mountReq("m1", uuidOurs)).Device
	if !d.Mounted || d.Dir != filepath.Join(w.o.BricksDir, "b1") || d.Error != "" {
		t.Errorf("mounted: %+v", d)
	}
	w.must(mountReq("m2", uuidOurs))
	w.must(formatReq("f3", uuidOurs))
	if n := mountsAt(t, d.Dir); n != 1 {
		t.Errorf("mounted %d times", n)
	}
	s := w.must(Request{Verb: Observe}).State
	if len(s.Devices) != 1 || s.Devices[0].UUID != uuidOurs || !s.Devices[0].Mounted {
		t.Errorf("observed: %+v", s.Devices)
	}
	m := w.must(Request{Verb: Register, Attempt: "r1", Dirs: []string{d.Dir}}).Mounts[0]
	if m.Have == nil || m.Have.FSUUID != uuidOurs || m.Have.Root {
		t.Errorf("registered: %+v", m)
	}

	// What S12 says of servers holds for pods.
	if err := unix.Unmount(d.Dir, 0); err != nil {
		t.Fatal(err)
	}
	brick := &BrickPath{Root: d.Dir, Volume: "v", Leaf: "0-0-0"}
	if rep := w.do(Request{Verb: MakeBrick, Attempt: "b1", Brick: brick}); rep.Reason != ReasonMount {
		t.Errorf("a brick on a directory without its file system: %+v", rep)
	}

	// And the pod mounts it itself from now on.
	got, err := Attach(t.Context(), w.o, Storage{Name: "b1", Device: l.device}, 0)
	if err != nil || !got.Mounted {
		t.Errorf("attached: %+v, %v", got, err)
	}
	if _, err = Attach(t.Context(), w.o, Storage{Name: "b1", Device: l.device}, 0); err != nil || mountsAt(t, d.Dir) != 1 {
		t.Errorf("attached again: %v, %d mounts", err, mountsAt(t, d.Dir))
	}
	w.must(Request{Verb: MakeBrick, Attempt: "b2", Brick: brick})
}

func mountsAt(t *testing.T, dir string) (n int) {
	t.Helper()
	table, err := mountTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table {
		if m.point == dir {
			n++
		}
	}
	return n
}

// lvmHeader is a physical volume's label, with its checksum.
func lvmHeader() []byte {
	b := make([]byte, 512)
	copy(b, "LABELONE")
	binary.LittleEndian.PutUint64(b[8:], 1)
	binary.LittleEndian.PutUint32(b[20:], 32)
	copy(b[24:], "LVM2 001")
	copy(b[32:], "0123456789abcdefghijklmnopqrstuv")
	binary.LittleEndian.PutUint32(b[16:], ^crc32.Update(^uint32(0xf597a6cf), crc32.IEEETable, b[20:]))
	return b
}

func mbr() []byte {
	b := make([]byte, 512)
	copy(b[446:], []byte{0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0})
	copy(b[510:], "\x55\xaa")
	return b
}

func TestFormatNeverTouchesWhatHoldsSomething(t *testing.T) {
	cases := map[string]struct {
		reason string
		make   func(l *loop)
		holds  string
	}{
		"Ext4":      {"somebody's files", func(l *loop) { run(l.t, "mkfs.ext4", "-q", l.device) }, "ext4"},
		"OldXFS":    {"bricks of another life", func(l *loop) { l.mkxfs(uuidOther, "anthill") }, uuidOther},
		"Relabeled": {"our UUID, and yet not as we make them", func(l *loop) { l.mkxfs(uuidOurs, "precious") }, uuidOurs},
		"TornXFS":   {"a file system that somebody else began", func(l *loop) { l.mkxfs(uuidOther, "anthill"); l.tear() }, uuidOther},
		"LVM":       {"a physical volume", func(l *loop) { l.write(512, lvmHeader()) }, "LVM2_member"},
		"Swap":      {"swap space", func(l *loop) { run(l.t, "mkswap", l.device) }, "swap"},
		"MBR":       {"a partition table", func(l *loop) { l.write(0, mbr()) }, "a partition table (dos)"},
		"LUKS":      {"an encrypted disk", func(l *loop) { l.write(0, append([]byte("LUKS\xba\xbe\x00\x01"), make([]byte, 504)...)) }, "crypto_LUKS"},
		"MDRaid": {"a member of an array", func(l *loop) {
			b := make([]byte, 4096)
			binary.LittleEndian.PutUint32(b, 0xa92b4efc)
			binary.LittleEndian.PutUint32(b[4:], 1)
			binary.LittleEndian.PutUint64(b[144:], 8)
			l.write(4096, b)
		}, "linux_raid_member"},
		"Ambivalent": {"two file systems that contradict each other", func(l *loop) {
			run(l.t, "mkfs.ext4", "-q", l.device)
			l.write(0, []byte("-rom1fs-"))
		}, "signatures that contradict each other"},
		"TornUnderLVM": {"our own unfinished one, and something else by now", func(l *loop) {
			l.mkxfs(uuidOurs, "anthill")
			l.tear()
			l.write(512, lvmHeader())
		}, "LVM2_member"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, 320)
			w := l.pod()
			tc.make(l)
			before := l.sum()
			rep := w.do(formatReq("f1", uuidOurs))
			err := rep.Err(formatReq("f1", uuidOurs))
			if rep.Reason != ReasonDevice || rep.Device == nil || !strings.Contains(rep.Error, tc.holds) || !NotStarted(err) {
				t.Errorf("%s: %+v, want a refusal that names %q", tc.reason, rep, tc.holds)
			}
			if l.sum() != before {
				t.Errorf("%s: the device was changed", tc.reason)
			}
			if rep := w.do(mountReq("m1", uuidOurs)); rep.Reason != ReasonDevice {
				t.Errorf("%s: mounting: %+v", tc.reason, rep)
			}
		})
	}
}

func TestFormatRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		make   func(l *loop, w *world)
		want   Reason
		text   string
	}{
		"NoPod": {"a server of somebody else", func(_ *loop, w *world) { _ = RemoveTold(w.o) }, ReasonNotPod, "not a pod"},
		"Stale": {"a file that outlived its pod", func(l *loop, w *world) {
			w.write(w.o.NodeFile, fmt.Sprintf(`{"node":{"pid":1,"start":99},"storage":[{"name":"b1","device":%q}]}`, l.device))
		}, ReasonNotPod, "not a pod"},
		"Torn":   {"a file that cannot be read", func(_ *loop, w *world) { w.write(w.o.NodeFile, "{") }, ReasonState, "what this node was told"},
		"Others": {"a device nobody listed", func(l *loop, w *world) { _ = WriteTold(w.o, []Storage{{Name: "b2", Device: l.device}}) }, ReasonDevice, "not started with a device"},
		"Swapped": {"a disk in the place of another", func(_ *loop, w *world) {
			w.write(filepath.Join(w.o.StateDir, "devices/b1.json"), `{"name":"b1","uuid":"`+uuidOther+`","made":5}`)
		}, ReasonDevice, "another device, or was erased"},
		"File": {"no device at all", func(l *loop, w *world) { _ = WriteTold(w.o, []Storage{{Name: "b1", Device: l.image}}) }, ReasonDevice, "not a block device"},
		"Gone": {"a device that is not there", func(_ *loop, w *world) { _ = WriteTold(w.o, []Storage{{Name: "b1", Device: "/dev/none"}}) }, ReasonDevice, "no such file"},
		"InUse": {"the kernel uses it elsewhere", func(l *loop, _ *world) {
			fd, err := unix.Open(l.device, unix.O_RDONLY|unix.O_EXCL, 0)
			if err != nil {
				l.t.Fatal(err)
			}
			l.t.Cleanup(func() { unix.Close(fd) })
		}, ReasonDevice, "in use"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, 320)
			w := l.pod()
			tc.make(l, w)
			rep := w.do(formatReq("f1", uuidOurs))
			if rep.Reason != tc.want || !strings.Contains(rep.Error, tc.text) {
				t.Errorf("%s: %q: %s", tc.reason, rep.Reason, rep.Error)
			}
			b := make([]byte, 1<<20)
			f, err := os.Open(l.device)
			if err == nil {
				_, err = f.ReadAt(b, 0)
				f.Close()
			}
			if err != nil || !bytes.Equal(b, make([]byte, len(b))) {
				t.Errorf("%s: something was written (%v)", tc.reason, err)
			}
		})
	}
	l := newLoop(t, 100)
	if rep := l.pod().do(formatReq("f1", uuidOurs)); rep.Reason != ReasonDevice || !strings.Contains(rep.Error, "100 MiB") {
		t.Errorf("a small device: %+v", rep)
	}
}

func TestFormatIsFenced(t *testing.T) {
	l := newLoop(t, 320)
	w := l.pod()
	req := formatReq("f1", uuidOurs)
	req.Pool = poolB
	if rep := w.do(req); rep.Reason != ReasonForeignPool {
		t.Errorf("another pool: %+v", rep)
	}
	req = formatReq("f1", "not-a-uuid")
	if rep := w.do(req); rep.Reason != ReasonUsage {
		t.Errorf("no UUID: %+v", rep)
	}
	w.must(formatReq("f1", uuidOurs))
	if rep := w.do(formatReq("f1", uuidOther)); rep.Reason != ReasonAttemptReused {
		t.Errorf("the attempt of another UUID: %+v", rep)
	}
	rec := w.must(Request{Verb: GetRecv, Attempt: "f1"}).Receipt
	if rec.Verb != FormatDevice || rec.Ended == 0 || rec.Result.Exit != 0 {
		t.Errorf("receipt: %+v", rec)
	}
}
