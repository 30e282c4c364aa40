package planner

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/journal"
)

// An EndState is what an operation will have made true once it has completed.
// While it is open the planner counts it as if it were so; it is part of the
// plan in the journal. Fields are only ever added.
type EndState struct {
	Pool   bool       `json:"pool,omitempty"` // the pool has its first server
	Node   *NodeEnd   `json:"node,omitempty"`
	Volume *VolumeEnd `json:"volume,omitempty"`
	// Set and Reset are options of the volume, or cluster-wide without one.
	Set   map[string]string `json:"set,omitempty"`
	Reset []string          `json:"reset,omitempty"`
	// Purged: what Anthill made for the cluster as a whole is gone.
	Purged bool `json:"purged,omitempty"`
}

// NodeEnd is what will be true of a server.
type NodeEnd struct {
	Name     string   `json:"name"`
	UUID     string   `json:"uuid,omitempty"`
	Gate     string   `json:"gate,omitempty"` // digest
	Claimed  bool     `json:"claimed,omitempty"`
	Dirs     []string `json:"dirs,omitempty"` // registered
	Joined   bool     `json:"joined,omitempty"`
	Released bool     `json:"released,omitempty"`
	Pod      string   `json:"pod,omitempty"`    // digest of what it runs
	Purged   bool     `json:"purged,omitempty"` // its claims are gone
}

// VolumeEnd is what will be true of a volume.
type VolumeEnd struct {
	Name     string     `json:"name"`
	VolumeID string     `json:"volumeID"`
	Created  bool       `json:"created,omitempty"`
	Deleted  bool       `json:"deleted,omitempty"`
	Before   int        `json:"before,omitempty"` // bricks it had
	Bricks   []BrickRef `json:"-"`                // that are added: those of the plan's step make-bricks
	Sets     int        `json:"sets,omitempty"`   // it will have
}

// encode is the end state as it goes into a plan.
func (e EndState) encode() json.RawMessage { return mustJSON(e) }

// endStateOf reads the end state of a plan. A field this version does not know
// is an error: nothing may be planned over an end state that is only half
// understood.
func endStateOf(p *journal.Plan) (EndState, error) {
	var e EndState
	if len(p.EndState) == 0 {
		return e, nil
	}
	if err := decodeKnown(p.EndState, &e); err != nil {
		return EndState{}, fmt.Errorf("reading end state: %w", err)
	}
	if e.Volume == nil {
		return e, nil
	}
	for i := range p.Steps {
		if p.Steps[i].Name != StepMakeBricks {
			continue
		}
		var b BricksParams
		if err := decodeKnown(p.Steps[i].Params, &b); err != nil {
			return EndState{}, fmt.Errorf("reading end state: step %q: %w", p.Steps[i].ID, err)
		}
		e.Volume.Bricks = append(e.Volume.Bricks, b.Bricks...)
	}
	return e, nil
}

func decodeKnown(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// mustJSON encodes what is made of strings, numbers and booleans only.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("planner: encoding %T: %v", v, err))
	}
	return raw
}
