package gate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A fact is what was once found out about a file, for as long as the file is
// the one it was found out about: each request is a process of its own, and
// digests of programs and versions of commands do not change between them.
// Facts are kept below StateDir and only make answers quicker; one that cannot
// be read or written is found out again.
type fact struct {
	File  fileID `json:"file"`
	Value string `json:"value"`
}

// A fileID changes with the content of a file. Nobody can set the change time
// back.
type fileID struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"` // unix ns
	Ctime int64  `json:"ctime"` // unix ns
}

const (
	factBytesMax = 4096
	// factAge: a file that changed just now could change again without its
	// times telling.
	factAge = 2 * time.Second
)

// fact returns what find says about the file at path, asking it only when the
// file is not the one it was asked about before.
func (g *gate) fact(name, path string, find func() (string, error)) (string, error) {
	id, err := idOf(path)
	if err != nil {
		return find()
	}
	stored := filepath.Join(g.StateDir, name+".fact")
	if b, err := readBounded(stored, factBytesMax); err == nil {
		var f fact
		if json.Unmarshal(b, &f) == nil && f.File == id {
			return f.Value, nil
		}
	}
	value, err := find()
	if err != nil || value == "" {
		return value, err
	}
	if now, err := idOf(path); err == nil && now == id && g.Now().Sub(time.Unix(0, id.Ctime)) > factAge {
		g.keep(stored, fact{File: id, Value: value})
	}
	return value, nil
}

// keep writes a fact, if there is a folder for it: a read makes none. After a
// crash it is whole, or does not parse, or is not there.
func (g *gate) keep(path string, f fact) {
	if b, err := json.Marshal(f); err == nil && len(b) <= factBytesMax {
		g.replace(path, b)
	}
}

func idOf(path string) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileID{}, fmt.Errorf("looking at %q: %w", path, err)
	}
	return fileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}, nil
}
