package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A mountLine is one line of /proc/self/mountinfo.
type mountLine struct {
	id                            int
	fsRoot, point, fsType, source string
}

const mountinfoMax = 8 << 20

// mountTable reads the mounts this process sees. They are glusterd's too: the
// gate runs where glusterd runs.
func mountTable() ([]mountLine, error) {
	b, err := readBounded("/proc/self/mountinfo", mountinfoMax)
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	return parseMountinfo(b)
}

// parseMountinfo: "36 35 98:0 /root /point opts [optional...] - type source superopts".
func parseMountinfo(b []byte) ([]mountLine, error) {
	var out []mountLine
	for line := range bytes.Lines(b) {
		left, right, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " - ")
		l, r := strings.Fields(left), strings.Split(right, " ")
		if !ok || len(l) < 6 || len(r) < 2 {
			return nil, fmt.Errorf("reading the mounts: line %.100q makes no sense", line)
		}
		id, err := strconv.Atoi(l[0])
		if err != nil {
			return nil, fmt.Errorf("reading the mounts: line %.100q makes no sense", line)
		}
		out = append(out, mountLine{id: id, fsRoot: unescape(l[3]), point: unescape(l[4]), fsType: r[0], source: unescape(r[1])})
	}
	return out, nil
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// openDir opens a folder by its absolute path and follows no symbolic link on
// the way, in whatever element.
func openDir(path string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openBelow opens a folder below dir without leaving its file system.
func openBelow(dir *os.File, rel string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	fd, err := openat2(int(dir.Fd()), rel, &how)
	name := dir.Name() + "/" + rel
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat2(dirfd int, path string, how *unix.OpenHow) (int, error) {
	for try := 0; ; try++ {
		fd, err := unix.Openat2(dirfd, path, how)
		switch {
		case (errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN)) && try < 100:
			continue // EAGAIN: a rename raced with the lookup
		case errors.Is(err, unix.ENOSYS):
			return -1, fmt.Errorf("the kernel has no openat2, Linux 5.6 or newer is needed: %w", err)
		}
		return fd, err
	}
}

// mountOf identifies the file system the open folder is on, by the descriptor
// and not by the path, so that nothing can change between look and use.
func mountOf(d *os.File, table []mountLine) (MountID, error) {
	id, err := mountIDOf(d)
	if err != nil {
		return MountID{}, err
	}
	for _, m := range table {
		if m.id != id {
			continue
		}
		root, err := onRootFS(d)
		if err != nil {
			return MountID{}, err
		}
		out := MountID{FSType: m.fsType, Source: m.source, MountPoint: m.point, Root: root, FSUUID: fsUUID(d, m)}
		if m.fsRoot != "/" {
			out.FSRoot = m.fsRoot
		}
		return out, nil
	}
	return MountID{}, fmt.Errorf("finding the mount of %q: it is not in the table", d.Name())
}

func mountIDOf(d *os.File) (int, error) {
	b, err := readBounded(fmt.Sprintf("/proc/self/fdinfo/%d", d.Fd()), 64<<10)
	if err != nil {
		return 0, fmt.Errorf("finding the mount of %q: %w", d.Name(), err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strconv.Atoi(strings.TrimSpace(v))
		}
	}
	return 0, fmt.Errorf("finding the mount of %q: the kernel does not tell", d.Name())
}

// onRootFS: a folder bound from the root file system has a mount of its own
// and yet fills the root.
func onRootFS(d *os.File) (bool, error) {
	var here, root unix.Stat_t
	if err := unix.Fstat(int(d.Fd()), &here); err != nil {
		return false, fmt.Errorf("looking at %q: %w", d.Name(), err)
	}
	if err := unix.Stat("/", &root); err != nil {
		return false, fmt.Errorf("looking at the root: %w", err)
	}
	return here.Dev == root.Dev, nil
}

// sameMount reports whether have is the file system that was recorded as want.
// Devices are renamed by a reboot, so their name counts only for a file system
// without UUID.
func sameMount(want, have MountID) bool {
	if want.FSType != have.FSType || want.MountPoint != have.MountPoint || want.FSRoot != have.FSRoot || have.Root {
		return false
	}
	if want.FSUUID != "" || have.FSUUID != "" {
		return want.FSUUID == have.FSUUID
	}
	return want.Source == have.Source
}

// String names a file system for a person.
func (m MountID) String() string {
	name := m.FSType
	if m.FSUUID != "" {
		name += " " + m.FSUUID
	} else if m.Source != "" {
		name += " " + m.Source
	}
	s := fmt.Sprintf("%s mounted on %s", name, m.MountPoint)
	if m.Root {
		s += " (the root file system)"
	}
	return s
}

// fsUUID is the UUID of the file system, from the kernel where it tells (6.9
// and newer) and otherwise from the superblock on the device; "" if neither.
func fsUUID(d *os.File, m mountLine) string {
	if u, ok := kernelUUID(int(d.Fd())); ok {
		return u
	}
	f, err := os.Open(m.source)
	if err != nil {
		return ""
	}
	defer f.Close()
	// Only of a block device: anything else there is a name, not a path.
	if fi, err := f.Stat(); err != nil || fi.Mode()&os.ModeDevice == 0 || fi.Mode()&os.ModeCharDevice != 0 {
		return ""
	}
	return superblockUUID(f, m.fsType)
}

// superblocks tells where a file system has its magic and its UUID.
var superblocks = map[string]struct {
	magic       string
	magicAt, at int64
}{
	"xfs":   {"XFSB", 0, 32},
	"ext4":  {"\x53\xef", 1024 + 56, 1024 + 104},
	"ext3":  {"\x53\xef", 1024 + 56, 1024 + 104},
	"ext2":  {"\x53\xef", 1024 + 56, 1024 + 104},
	"btrfs": {"_BHRfS_M", 64<<10 + 64, 64<<10 + 32},
}

// superblockUUID reads the UUID from a device or image of the type.
func superblockUUID(r io.ReaderAt, fsType string) string {
	sb, ok := superblocks[fsType]
	if !ok {
		return ""
	}
	magic := make([]byte, len(sb.magic))
	var u [16]byte
	if _, err := r.ReadAt(magic, sb.magicAt); err != nil || string(magic) != sb.magic {
		return ""
	}
	if _, err := r.ReadAt(u[:], sb.at); err != nil {
		return ""
	}
	return formatUUID(u)
}

func formatUUID(u [16]byte) string {
	if u == [16]byte{} {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
