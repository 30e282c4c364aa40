package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A dirRecord is a registered brick directory on disk.
type dirRecord struct {
	Dir   string  `json:"dir"`
	Mount MountID `json:"mount"`
	At    int64   `json:"at"` // unix ns
}

func (g *gate) dirPath(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(g.dirsDir(), hex.EncodeToString(sum[:8])+".json")
}

// registered returns the recorded identity of a directory, nil if there is none.
func (g *gate) registered(dir string) (*MountID, error) {
	r, err := readDirRecord(g.dirPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.Dir != dir {
		return nil, fmt.Errorf("the record of directory %q is that of %q", dir, r.Dir)
	}
	return &r.Mount, nil
}

func readDirRecord(path string) (dirRecord, error) {
	var r dirRecord
	b, err := readBounded(path, 64<<10)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("reading a registered directory: %w", err)
	}
	return r, nil
}

// registeredDirs lists all registered directories, sorted.
func (g *gate) registeredDirs() ([]string, error) {
	entries, err := listDir(g.dirsDir())
	if err != nil {
		return nil, fmt.Errorf("listing the registered directories: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r, err := readDirRecord(filepath.Join(g.dirsDir(), e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, r.Dir)
	}
	slices.Sort(out)
	return out, nil
}

// register answers Register: all directories or none.
func (g *gate) register(req Request) (Reply, error) {
	table, err := mountTable()
	if err != nil {
		return Reply{}, err
	}
	have, err := g.registeredDirs()
	if err != nil {
		return Reply{}, err
	}
	var mounts, wrong []Mount
	for _, dir := range dedupe(req.Dirs) {
		m := g.look(dir, table)
		if m.Error == "" && m.Have.Root {
			m.Error = fmt.Sprintf("%s is on the root file system, which would fill up", dir)
		}
		if m.Error != "" {
			wrong = append(wrong, m)
		}
		if m.Want == nil && !slices.Contains(have, dir) {
			have = append(have, dir)
		}
		mounts = append(mounts, m)
	}
	if len(wrong) > 0 {
		return Reply{}, mountRefusal(wrong)
	}
	if len(have) > DirsMax {
		return Reply{}, refusef(ExitUsage, ReasonUsage, "%d directories are more than %d", len(have), DirsMax)
	}
	for i := range mounts {
		m := &mounts[i]
		if m.Want != nil {
			continue
		}
		b, err := json.Marshal(dirRecord{Dir: m.Dir, Mount: *m.Have, At: g.Now().UnixNano()})
		if err == nil {
			err = WriteDurably(g.dirPath(m.Dir), b)
		}
		if err != nil {
			return Reply{}, fmt.Errorf("registering directory %q: %w", m.Dir, err)
		}
		m.Want = m.Have
	}
	return Reply{Mounts: mounts}, nil
}

// look compares a directory with its record. Error says what is wrong: it
// cannot be opened, or it is not what was recorded.
func (g *gate) look(dir string, table []mountLine) Mount {
	m := Mount{Dir: dir}
	want, err := g.registered(dir)
	if err != nil {
		m.Error = err.Error()
		return m
	}
	m.Want = want
	d, err := openDir(dir)
	if err != nil {
		m.Error = openError(dir, err)
		return m
	}
	defer d.Close()
	g.compare(&m, d, table)
	return m
}

// compare fills in what m.Dir, open as d, is on, and whether that is right.
func (g *gate) compare(m *Mount, d *os.File, table []mountLine) {
	have, err := mountOf(d, table)
	if err != nil {
		m.Error = err.Error()
		return
	}
	m.Have = &have
	var st unix.Statfs_t
	if unix.Fstatfs(int(d.Fd()), &st) == nil {
		m.SizeBytes, m.FreeBytes = st.Blocks*uint64(st.Bsize), st.Bavail*uint64(st.Bsize)
	}
	if m.Want != nil && !sameMount(*m.Want, have) {
		m.Error = fmt.Sprintf("%s is on %s, it was registered on %s", m.Dir, have, *m.Want)
	}
}

// mounted refuses to start a volume that has a brick of this server on a
// registered directory which is not what was registered (S12): glusterd would
// serve whatever lies below the mount point.
func (g *gate) mounted(argv []string) error {
	words, _, err := splitArgv(argv)
	if err != nil || len(words) < 3 || words[0] != "volume" || words[1] != "start" {
		return err
	}
	own, err := g.uuid()
	if err != nil {
		return err
	}
	bricks, err := g.volumeBricks(words[2])
	if err != nil {
		return err
	}
	dirs, err := g.registeredDirs()
	if err != nil {
		return err
	}
	table, err := mountTable()
	if err != nil {
		return err
	}
	var wrong []Mount
	for _, d := range dirs {
		mine := func(b brickFile) bool { return b.uuid == own && below(b.path, d) }
		if !slices.ContainsFunc(bricks, mine) {
			continue
		}
		if m := g.look(d, table); m.Error != "" {
			wrong = append(wrong, m)
		}
	}
	if len(wrong) > 0 {
		return mountRefusal(wrong)
	}
	return nil
}

func openError(dir string, err error) string {
	switch {
	case errors.Is(err, unix.ELOOP):
		return fmt.Sprintf("%s leads through a symbolic link", dir)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Sprintf("%s is not a directory", dir)
	case errors.Is(err, unix.ENOENT):
		return fmt.Sprintf("%s does not exist", dir)
	}
	return err.Error()
}

func mountRefusal(wrong []Mount) error {
	texts := make([]string, len(wrong))
	for i, m := range wrong {
		texts[i] = m.Error
	}
	r := refusef(ExitFailed, ReasonMount, "%s", strings.Join(texts, "; "))
	r.Mounts = wrong
	return r
}

func dedupe(dirs []string) []string {
	out := slices.Clone(dirs)
	slices.Sort(out)
	return slices.Compact(out)
}
