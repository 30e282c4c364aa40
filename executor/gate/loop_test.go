package gate

import (
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// A loop is a loop device of the test's own.
type loop struct {
	t             *testing.T
	device, image string
}

// newLoop attaches a sparse image of this size until the test ends.
func newLoop(t *testing.T, mib int64) *loop {
	t.Helper()
	needRoot(t)
	l := &loop{t: t, image: filepath.Join(t.TempDir(), "image")}
	f, err := os.Create(l.image)
	if err == nil {
		err = f.Truncate(mib << 20)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	l.device = strings.TrimSpace(run(t, "losetup", "--find", "--show", l.image))
	t.Cleanup(func() { run(t, "losetup", "-d", l.device) })
	return l
}

func run(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
	return string(out)
}

// write puts bytes onto the device.
func (l *loop) write(at int64, b []byte) {
	l.t.Helper()
	f, err := os.OpenFile(l.device, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(b, at)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	f.Close()
}

// sum is a digest of both ends of the device, where all signatures are and every
// mkfs writes.
func (l *loop) sum() [32]byte {
	l.t.Helper()
	f, err := os.Open(l.device)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		l.t.Fatal(err)
	}
	h := sha256.New()
	const end = 4 << 20
	for _, at := range []int64{0, size - end} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, end)); err != nil {
			l.t.Fatal(err)
		}
	}
	return [32]byte(h.Sum(nil))
}

// pod makes the world that of a pod with this device as b1.
func (l *loop) pod() *world {
	l.t.Helper()
	w := newWorld(l.t).claim()
	w.o.BricksDir = filepath.Join(l.t.TempDir(), "bricks")
	w.o.NodeFile = filepath.Join(l.t.TempDir(), "node.json")
	if err := WriteTold(w.o, []Storage{{Name: "b1", Device: l.device}}); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = unix.Unmount(filepath.Join(w.o.BricksDir, "b1"), unix.MNT_DETACH) })
	return w
}

// Of this process alone: the kernel mounts no two XFS with the same UUID, and
// other packages' tests mount theirs at the same time.
var uuidOurs, uuidOther = uuid.NewString(), uuid.NewString()

func formatReq(attempt, fs string) Request {
	return Request{Verb: FormatDevice, Attempt: attempt, Device: &DeviceRef{Name: "b1", UUID: fs}}
}

func mountReq(attempt, uuid string) Request {
	return Request{Verb: MountDevice, Attempt: attempt, Device: &DeviceRef{Name: "b1", UUID: uuid}}
}

// mkxfs makes an XFS by hand.
func (l *loop) mkxfs(uuid, label string) {
	l.t.Helper()
	run(l.t, "mkfs.xfs", "-q", "-f", "-K", "-L", label, "-m", "uuid="+uuid, l.device)
}

// tear makes an XFS look as one that mkfs.xfs did not finish.
func (l *loop) tear() {
	l.t.Helper()
	run(l.t, "xfs_db", "-x", "-c", "sb 0", "-c", "write inprogress 1", l.device)
}
