package cluster

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/gluster/anthill/test/local"
)

// settingsNote is the note that keeps the settings.
const settingsNote = "cluster"

// settings is what must outlive the program that brought a cluster up: whoever
// opens it brings nodes back with the same bounds, routes and images.
type settings struct {
	Nodes     int          `json:"nodes"`
	MemoryMiB int          `json:"memoryMiB"`
	Suites    []string     `json:"suites"`
	Pods      netip.Prefix `json:"pods"`
}

// readSettings returns the settings of an environment; those of one that is
// just being made are empty.
func readSettings(env *local.Env) (settings, error) {
	var s settings
	note := env.Note(settingsNote)
	if note == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(note), &s); err != nil {
		return s, fmt.Errorf("reading the cluster's settings: %w", err)
	}
	return s, nil
}

// write keeps the settings.
func (s settings) write(env *local.Env) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keeping the cluster's settings: %w", err)
	}
	return env.SetNote(settingsNote, string(data))
}

// settle brings together what is asked for and what there is: nodes are added,
// never taken away, and the range of pods is chosen once.
func (e *Env) settle() error {
	s, err := readSettings(e.local)
	if err != nil {
		return err
	}
	if !s.Pods.IsValid() {
		taken, err := local.RoutesTaken()
		if err != nil {
			return err
		}
		if s.Pods, err = choosePods(e.local.ID(), taken); err != nil {
			return err
		}
	}
	s.Nodes, s.MemoryMiB, s.Suites = max(s.Nodes, e.cfg.Nodes), e.cfg.MemoryMiB, e.cfg.Suites
	return s.write(e.local)
}
