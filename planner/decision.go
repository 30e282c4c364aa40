package planner

import (
	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

// A Decision is all that follows from a Snapshot.
type Decision struct {
	// Plan holds new operations, in the order they should be appended. Their
	// ids are made by whoever appends them.
	Plan []Planned
	// Supersede ends operations that have not started, and those that only wait
	// and that a plan names in Supersedes.
	Supersede []Ending
	// Cancel asks operations that have started, but not passed their pivot, to
	// stop. One that is being cancelled already is not named again.
	Cancel []Ending

	// TemplateNodes are GlusterNodes to be applied. Remove names those that were
	// made from templates and are to be deleted.
	TemplateNodes []TemplateNode
	Remove        []string

	// PoolID and VolumeIDs are identities to be recorded in status before the
	// plan is appended (a volume's by its name).
	PoolID    string
	PoolWas   string // the recorded id that PoolID takes the place of: it was made for pods to be run, and nothing is in it
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
	// Events are things that happened, for people. An event of an object in
	// Release is told once, before the object goes.
	Events []Event
	// Cluster is what status shows of the pool.
	Cluster ClusterStatus
	// Volumes is what status shows of each volume, by name.
	Volumes map[string]VolumeStatus
	// Nodes is what status shows of each node, by name.
	Nodes map[string]NodeStatus
}

// Planned is one operation to append.
type Planned struct {
	// Plan is complete but for the ids of this decision's own operations: its
	// After names operations in the journal only. Supersedes names operations
	// that it takes the place of; Decision.Supersede ends them.
	Plan journal.Plan
	// Key names the plan within the decision; After refers to plans of the same
	// decision by it.
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

// ClusterStatus is what is seen of a pool.
type ClusterStatus struct {
	Nodes, Joined, Healthy    int
	Volumes, VolumesAvailable int
	// PendingHeals is nil when it is not known for some volume; that is not zero.
	PendingHeals *int64
	Options      map[string]string // cluster-wide, applied by us and seen
}

// VolumeStatus is what is seen of a volume. All but VolumeID is zero while no
// server that could tell has been seen.
type VolumeStatus struct {
	VolumeID, GlusterID string
	Layout              string // as it is: "replicate 2 x 3"
	Bricks              []BrickStatus
	Up, Total           int
	UsableBytes         uint64            // 0: not known
	PendingHeals        *int64            // nil: not known
	Options             map[string]string // applied by us and seen
	Sets                int
}

// BrickStatus is what is seen of a brick.
type BrickStatus struct {
	Node          string // empty: no GlusterNode is the brick's peer
	Host, Path    string // as gluster names it
	Set, Position int
	Online        bool
	Known         bool // Online was seen by the brick's own server
}

// NodeStatus is what is seen of a node.
type NodeStatus struct {
	Address    string
	Pod        *Pod   // as seen; nil unless it is one and was asked for
	PodCurrent bool   // it is as declared now
	UUID       string // once the server belongs to the pool
	GateDigest string
	Fence      uint64
	Joined     bool        // a member of the pool
	Healthy    bool        // connected, with all brick directories in order
	Dirs       []DirStatus // in the order of the spec
}

// DirStatus is what is seen of a brick directory.
type DirStatus struct {
	Path      string
	State     v1alpha1.BrickDirState
	FSUUID    string
	SizeBytes uint64
	Bricks    int // there and promised, of all volumes
	Message   string
}
