package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// A deviceRecord is which file system a device of this pod has, on disk. It is
// written before mkfs.xfs begins, and completed after it ended.
type deviceRecord struct {
	Name string `json:"name"`
	UUID string `json:"uuid"`
	// Made is when the file system was seen complete, unix ns; 0: it may have
	// been begun, nothing was ever mounted.
	Made int64 `json:"made,omitempty"`
}

func (g *gate) devicePath(name string) string { return filepath.Join(g.devicesDir(), name+".json") }

// recorded returns the record of a device, nil if there is none.
func (g *gate) recorded(name string) (*deviceRecord, error) {
	b, err := readBounded(g.devicePath(name), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r deviceRecord
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of device %q: %w", name, err)
	}
	if r.Name != name || r.UUID == "" {
		return nil, fmt.Errorf("the record of device %q is that of %q", name, r.Name)
	}
	return &r, nil
}

// record writes the record of a device, unless that is what it says already.
func (g *gate) record(old *deviceRecord, r deviceRecord) error {
	if old != nil && old.UUID == r.UUID && (old.Made != 0) == (r.Made != 0) {
		return nil
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = WriteDurably(g.devicePath(r.Name), b)
	}
	if err != nil {
		return fmt.Errorf("recording device %q: %w", r.Name, err)
	}
	return nil
}
