package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// history answers History: the newest whole lines of glusterd's list of
// commands, reaching back into the rotated file while there is room.
// Truncated says that there were older ones.
func (g *gate) history() (Reply, error) {
	name := filepath.Join(g.LogDir, "cmd_history.log")
	b, more, err := tail(name, HistoryBytesMax)
	if err == nil && !more {
		var older []byte
		older, more, err = tail(name+".1", HistoryBytesMax-len(b))
		b = append(older, b...)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("reading glusterd's history: %w", err)
	}
	return Reply{Result: &Result{Stdout: b, Truncated: more}}, nil
}

// tail returns the last whole lines of a file, at most max bytes, and whether
// there was more. A missing file is empty.
func tail(path string, max int) ([]byte, bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	from := fi.Size() - int64(max)
	if from <= 0 {
		b, err := io.ReadAll(io.LimitReader(f, int64(max)))
		return b, false, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, from, int64(max)))
	if err != nil {
		return nil, false, err
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	}
	return b, true, nil
}
