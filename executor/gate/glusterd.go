package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// listMax bounds what is listed of glusterd's folders and of brick processes.
const (
	listMax       = 10000
	brickFilesMax = 100000
)

// glusterd identifies the running daemon by its pid file, boot and start.
func (g *gate) glusterd() Glusterd {
	for _, p := range g.PIDFiles {
		pid := readPIDFile(p)
		if pid == 0 {
			continue
		}
		s, err := readStat(g.ProcDir, pid)
		// A pid file outlives its process, and the pid finds another.
		if err != nil || !s.live() || !strings.HasPrefix(s.comm, "glusterd") {
			continue
		}
		boot, err := readBounded(filepath.Join(g.ProcDir, "sys/kernel/random/boot_id"), 64)
		if err != nil {
			boot = []byte("unknown-boot")
		}
		return Glusterd{
			Running: true,
			Start:   fmt.Sprintf("%s:%d:%d", bytes.TrimSpace(boot), pid, s.start),
		}
	}
	return Glusterd{}
}

// uuid is glusterd's own, "" when it was not made yet.
func (g *gate) uuid() (string, error) {
	b, err := readBounded(filepath.Join(g.GlusterdDir, "glusterd.info"), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading glusterd's UUID: %w", err)
	}
	return field(b, "UUID"), nil
}

// peers are the names of the files in peers/: UUIDs, or the host name while a
// probe is under way.
func (g *gate) peers() ([]string, error) {
	return g.names("peers", func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".tmp") })
}

// volumes are the names of the folders in vols/, a half made one (LAB-17) too.
func (g *gate) volumes() ([]string, error) {
	return g.names("vols", fs.DirEntry.IsDir)
}

func (g *gate) names(sub string, keep func(fs.DirEntry) bool) ([]string, error) {
	entries, err := listDir(filepath.Join(g.GlusterdDir, sub))
	if err != nil {
		return nil, fmt.Errorf("listing glusterd's %s: %w", sub, err)
	}
	var out []string
	for _, e := range entries {
		if keep(e) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// A brickFile is one brick of a volume as glusterd has it on disk. All bricks
// of the volume are there, this server's and the others'.
type brickFile struct{ volume, path, uuid, host string }

// brickFiles reads vols/*/bricks/*. It never opens a volume's info file, which
// holds the credentials of its clients.
func (g *gate) brickFiles() ([]brickFile, error) {
	vols, err := g.volumes()
	if err != nil {
		return nil, err
	}
	var out []brickFile
	for _, v := range vols {
		bricks, err := g.volumeBricks(v)
		if err != nil {
			return nil, err
		}
		if out = append(out, bricks...); len(out) > brickFilesMax {
			return nil, fmt.Errorf("more than %d bricks", brickFilesMax)
		}
	}
	return out, nil
}

// volumeBricks reads vols/V/bricks/*.
func (g *gate) volumeBricks(volume string) ([]brickFile, error) {
	dir := g.brickDir(volume)
	entries, err := listDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing the bricks of volume %q: %w", volume, err)
	}
	var out []brickFile
	for _, e := range entries {
		b, err := readBounded(filepath.Join(dir, e.Name()), 64<<10)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading a brick of volume %q: %w", volume, err)
		}
		out = append(out, brickFile{volume: volume, path: field(b, "path"), uuid: field(b, "uuid"), host: field(b, "hostname")})
	}
	return out, nil
}

// bricks are the brick processes of this server by their pid files.
func (g *gate) bricks() ([]Brick, error) {
	vols, err := listDir(filepath.Join(g.RunDir, "vols"))
	if err != nil {
		return nil, fmt.Errorf("listing the brick processes: %w", err)
	}
	var out []Brick
	for _, v := range vols {
		dir := filepath.Join(g.RunDir, "vols", v.Name())
		entries, err := listDir(dir)
		if err != nil {
			return nil, fmt.Errorf("listing the brick processes: %w", err)
		}
		var stored []fs.DirEntry
		for _, e := range entries {
			stem, ok := strings.CutSuffix(e.Name(), ".pid")
			if !ok || len(out) >= listMax {
				continue
			}
			if stored == nil {
				if stored, err = listDir(g.brickDir(v.Name())); err != nil {
					return nil, fmt.Errorf("listing the bricks of volume %q: %w", v.Name(), err)
				}
			}
			b := Brick{Volume: v.Name(), PID: readPIDFile(filepath.Join(dir, e.Name()))}
			var served string
			b.Alive, served = g.brickProcess(b.PID)
			if b.Path = g.storedPath(b.Volume, stem, stored); b.Path == "" {
				b.Path = served
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// storedPath is the path of the brick a pid file belongs to: glusterd names
// the brick file HOST:-a-b and the pid file HOST-a-b.pid.
func (g *gate) storedPath(volume, stem string, stored []fs.DirEntry) string {
	for _, e := range stored {
		if strings.Replace(e.Name(), ":", "", 1) != stem {
			continue
		}
		if b, err := readBounded(filepath.Join(g.brickDir(volume), e.Name()), 64<<10); err == nil {
			return field(b, "path")
		}
	}
	return ""
}

func (g *gate) brickDir(volume string) string {
	return filepath.Join(g.GlusterdDir, "vols", volume, "bricks")
}

// brickProcess reports whether pid is a live brick process, and the brick it
// was started for. Under multiplexing it serves others too.
func (g *gate) brickProcess(pid int) (bool, string) {
	if pid == 0 {
		return false, ""
	}
	s, err := readStat(g.ProcDir, pid)
	if err != nil || !s.live() || s.comm != "glusterfsd" {
		return false, ""
	}
	b, err := readBounded(filepath.Join(g.ProcDir, strconv.Itoa(pid), "cmdline"), 64<<10)
	if err != nil {
		return true, ""
	}
	args := strings.Split(string(b), "\x00")
	if i := slices.Index(args, "--brick-name"); i >= 0 && i+1 < len(args) {
		return true, args[i+1]
	}
	return true, ""
}

// getState asks glusterd for its state. It takes no lock in glusterd, but a
// stopped daemon does not answer.
func (g *gate) getState(ctx context.Context) ([]byte, error) {
	if g.Gluster == "" {
		return nil, fmt.Errorf("there is no gluster command in %v", glusterPaths)
	}
	if err := g.makeBelow(); err != nil { // never the folder itself: a look may come late, see release
		return nil, err
	}
	g.sweepTmp()
	name := fmt.Sprintf("state-%d-%d-%d", os.Getpid(), g.Now().UnixNano(), stateSeq.Add(1))
	path := filepath.Join(g.tmpDir(), name)
	defer os.Remove(path)
	res, err := child{
		path: g.Gluster, argv: []string{"gluster", "get-state", "odir", g.tmpDir(), "file", name},
		env: g.childEnv(), deadline: g.StateWait, outMax: 4096,
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	if res.TimedOut {
		return nil, fmt.Errorf("glusterd did not answer within %v", g.StateWait)
	}
	b, err := readBounded(path, ReadBytesMax)
	if err != nil || res.Exit != 0 {
		return nil, fmt.Errorf("gluster get-state ended with %d: %s", res.Exit, oneLine(string(res.Stdout)+" "+string(res.Stderr)))
	}
	return b, nil
}

// stateSeq keeps apart the answers of one process that serves many requests.
var stateSeq atomic.Uint64

// tmpAge: a glusterd that was stopped writes its answer long after its client
// was killed.
const tmpAge = 10 * time.Minute

// sweepTmp removes what earlier answers left behind.
func (g *gate) sweepTmp() {
	entries, err := listDir(g.tmpDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && g.Now().Sub(fi.ModTime()) > tmpAge {
			_ = os.Remove(filepath.Join(g.tmpDir(), e.Name()))
		}
	}
}

// glusterVersion is the version of the installed command, "" if it says none.
func (g *gate) glusterVersion(ctx context.Context) string {
	if g.Gluster == "" {
		return ""
	}
	v, err := g.fact("gluster-version", g.Gluster, func() (string, error) {
		res, err := child{path: g.Gluster, argv: []string{"gluster", "--version"}, env: g.childEnv(), deadline: g.StateWait, outMax: 4096}.run(ctx)
		if err != nil || res.Exit != 0 {
			return "", err
		}
		line, _, _ := strings.Cut(string(res.Stdout), "\n")
		v, _ := strings.CutPrefix(line, "glusterfs ")
		if v == line {
			return "", nil
		}
		return strings.TrimSpace(v), nil
	})
	if err != nil {
		return ""
	}
	return v
}

// field returns the value of KEY= in one of glusterd's files.
func field(b []byte, key string) string {
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return v
		}
	}
	return ""
}

// listDir lists at most listMax entries, sorted; a missing folder is empty.
func listDir(dir string) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(listMax + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > listMax {
		return nil, fmt.Errorf("%q has more than %d entries", dir, listMax)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// readBounded reads a whole file of at most max bytes.
func readBounded(path string, max int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > max {
		return nil, fmt.Errorf("%q is larger than %d bytes", path, max)
	}
	return b, nil
}
