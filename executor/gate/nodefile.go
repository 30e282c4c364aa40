package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What a pod of ours has and a server of somebody else has not.
const (
	// NodeFile is where the first process of a pod writes what it was told. Only
	// what is in it is ever formatted or mounted.
	NodeFile = "/run/anthill/node.json"
	// BricksDir is where the file systems of a pod are mounted, each below the
	// name of its device.
	BricksDir = "/bricks"
)

// Told is what the first process of a pod was told.
type Told struct {
	// Node is that process: a file that outlived it says nothing any more.
	Node    process   `json:"node"`
	Storage []Storage `json:"storage"`
}

// A Storage is a block device of a pod.
type Storage struct {
	Name   string `json:"name"`
	Device string `json:"device"`
}

// WriteTold writes o.NodeFile on behalf of this process.
func WriteTold(o Options, storage []Storage) error {
	o = o.withDefaults()
	t := Told{Node: thisProcess(os.Getpid()), Storage: storage}
	b, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(o.NodeFile), 0o755)
	}
	if err == nil {
		err = WriteDurably(o.NodeFile, b)
	}
	if err != nil {
		return fmt.Errorf("writing what this node was told: %w", err)
	}
	return nil
}

// RemoveTold makes the gate refuse to format and mount from now on.
func RemoveTold(o Options) error {
	if err := os.Remove(o.withDefaults().NodeFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what this node was told: %w", err)
	}
	return nil
}

// told reads what this pod was told; nil: it is none.
func (g *gate) told() (*Told, error) {
	b, err := readBounded(g.NodeFile, 256<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var t Told
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what this node was told: %w", err)
	}
	if !t.Node.alive() {
		return nil, nil
	}
	return &t, nil
}

// storage finds one device by name.
func (g *gate) storage(name string) (Storage, error) {
	t, err := g.told()
	if err != nil {
		return Storage{}, err
	}
	if t == nil {
		return Storage{}, refusef(ExitFailed, ReasonNotPod, "this server is not a pod that anthill node run looks after: nothing is formatted or mounted here")
	}
	for _, s := range t.Storage {
		if s.Name == name {
			return s, nil
		}
	}
	return Storage{}, refusef(ExitFailed, ReasonDevice, "this pod was not started with a device %q", name)
}

// Dir is where the file system of a device belongs.
func Dir(o Options, s Storage) string { return (&gate{o.withDefaults()}).deviceDir(s) }

// LogDir is where the daemons of gluster log.
func LogDir(o Options) string { return o.withDefaults().LogDir }
