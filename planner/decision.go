package planner

import (
	"github.com/gluster/anthill/journal"
)

// A Decision is all that follows from a Snapshot.
type Decision struct {
	// Plan holds new operations, in the order they should be appended. Their
	// ids are made by whoever appends them.
	Plan []Planned
	// Supersede ends operations that have not started.
	Supersede []Ending
	// Cancel asks operations that have started, but not passed their pivot, to
	// stop.
	Cancel []Ending

	// PoolID and VolumeIDs are identities to be recorded in status before the
	// plan is appended (a volume's by its name).
	PoolID    string
	VolumeIDs map[string]string

	Findings []Finding // conditions
	Results  []Result  // of the cluster's procedure
	// NodeResults and VolumeResults are keyed by object name.
	NodeResults   map[string][]Result
	VolumeResults map[string][]Result

	// ReconcileVersion is set when cluster and nodes have converged.
	ReconcileVersion *int
	// Release lists objects ("GlusterNode/n4") whose finalizer may go.
	Release []string
	// Events are things that happened, for people.
	Events []Event
	// Volumes is what status shows of each volume, by name.
	Volumes map[string]VolumeStatus
	// Nodes is what status shows of each node, by name.
	Nodes map[string]NodeStatus
}

// Planned is one operation to append.
type Planned struct {
	Plan journal.Plan
	// Key names the plan within the decision; After and Supersedes refer to
	// plans of the same decision by it.
	Key   string
	After []string
}

// An Ending names an operation and why it should end.
type Ending struct {
	Op     journal.OpID
	Reason string
}

// A Result is what one action reported.
type Result struct {
	Name    string
	Status  string // True, False, Unknown
	Message string
}

// A Finding is one condition of one object.
type Finding struct {
	Object  string // "GlusterCluster/c1", "GlusterNode/n1", "GlusterVolume/v1"
	Type    string
	Status  string // True, False, Unknown
	Reason  string
	Message string
}

// An Event is something that happened to an object.
type Event struct {
	Object  string
	Warning bool
	Reason  string
	Message string
}

// VolumeStatus is what is seen of a volume.
type VolumeStatus struct {
	VolumeID, GlusterID string
	Bricks              []BrickStatus
	Up, Total           int
	UsableBytes         uint64
	Options             map[string]string // applied by us and seen
	Sets                int
}

// BrickStatus is what is seen of a brick.
type BrickStatus struct {
	Node, Path    string
	Set, Position int
	Online        bool
}

// NodeStatus is what is seen of a node.
type NodeStatus struct {
	UUID           string
	GateDigest     string
	Fence          uint64
	Joined         bool
	Mounts         []Mount
	CommittedBytes map[string]uint64 // per brick directory
}
