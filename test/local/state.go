package local

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/gluster/anthill/test/atomicfile"
)

// stateVersion is the version of the state file. A file of another version is
// taken down, not read.
const stateVersion = 1

// A phase says how far an environment is.
type phase string

// Only an environment in phaseUp is kept by the next Up.
const (
	phaseStarting phase = "starting"
	phaseUp       phase = "up"
	phaseStopping phase = "stopping"
)

// state is what must outlive the program that started the environment. It is
// written before the thing it names exists.
type state struct {
	Version  int              `json:"version"`
	ID       string           `json:"id"`
	Checkout string           `json:"checkout"`
	Instance string           `json:"instance"`
	Boot     string           `json:"boot"` // kernel's boot id: process ids of another boot are void
	Phase    phase            `json:"phase"`
	Net      string           `json:"net"` // first three numbers of the addresses, "10.x.y"
	Servers  int              `json:"servers"`
	Bricks   int              `json:"bricks"`
	BrickMiB int              `json:"brickMiB"`
	API      bool             `json:"api"`
	Kubelets bool             `json:"kubelets,omitempty"`
	Procs    map[string]proc  `json:"procs"`  // by component: etcd, kube-apiserver, s1, c1
	Mounts   map[string]mount `json:"mounts"` // by client: c1
	// What a package that builds on this one must remember, by its name.
	Notes map[string]string `json:"notes,omitempty"`
}

// mount is one FUSE mount of a volume.
type mount struct {
	Volume string `json:"volume"`
}

// loadState reads the state file; a missing or unreadable one is nil, which
// means that the environment has to be taken down by what its names say.
func loadState(file string) *state {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	s := &state{}
	if json.Unmarshal(data, s) != nil || s.Version != stateVersion {
		return nil
	}
	if s.Procs == nil {
		s.Procs = map[string]proc{}
	}
	if s.Mounts == nil {
		s.Mounts = map[string]mount{}
	}
	return s
}

// store writes the state so that a crash leaves the old or the new one.
func (s *state) store(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	return atomicfile.Write(file, append(data, '\n'), 0o600)
}
