package writer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A ledger is what is known to be on the volume, kept off it, so that a run that
// follows one that was killed with its machine still knows what must be there: a
// file is entered once it is durable, and struck out before it is removed.
type ledger struct{ file *os.File }

// An entry is one line of it.
type entry struct {
	File *File  `json:"file,omitempty"`
	Gone string `json:"gone,omitempty"` // may be there still
}

// openLedger opens the ledger at path, which is made when missing, and returns
// the files that must be there, oldest first, and the first number that was
// never used. Without a path there is none.
func openLedger(path string) (l *ledger, files []File, next uint64, err error) {
	if path == "" {
		return nil, nil, 0, nil
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, 0, fmt.Errorf("reading the ledger: %w", err)
	}
	// A line that was cut off was never believed to be there.
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(whole) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, nil, 0, fmt.Errorf("reading the ledger %q: %w", path, err)
		}
		if e.File == nil {
			files = without(files, e.Gone)
			continue
		}
		n, err := number(e.File.Name)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("reading the ledger %q: %w", path, err)
		}
		files, next = append(files, *e.File), max(next, n+1)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("opening the ledger: %w", err)
	}
	if err := errors.Join(f.Truncate(int64(len(whole))), seekEnd(f)); err != nil {
		return nil, nil, 0, errors.Join(fmt.Errorf("opening the ledger %q: %w", path, err), f.Close())
	}
	return &ledger{file: f}, files, next, nil
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, 2)
	return err
}

func without(files []File, name string) []File {
	for i, f := range files {
		if f.Name == name {
			return append(files[:i:i], files[i+1:]...)
		}
	}
	return files
}

// enter notes durably that f is there. Nil notes nothing.
func (l *ledger) enter(f File) error { return l.write(entry{File: &f}) }

// strike notes durably that a file may be gone from now on.
func (l *ledger) strike(name string) error { return l.write(entry{Gone: name}) }

func (l *ledger) write(e entry) error {
	if l == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

func (l *ledger) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// number is which file a name is of, see content.
func number(name string) (n uint64, err error) {
	if _, err := fmt.Sscanf(filepath.Base(name), nameFormat, &n); err != nil {
		return 0, fmt.Errorf("%q is no file of the writer: %w", name, err)
	}
	return n, nil
}
