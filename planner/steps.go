package planner

// The steps that plans are made of, with their parameters. A name keeps its
// meaning for ever; a changed meaning or parameter is a new major.
const (
	StepInstallGate   = "install-gate@1"   // NodeParams
	StepResolveNames  = "resolve-names@1"  // NamesParams
	StepClaimServer   = "claim-server@1"   // ClaimParams; receipt ClaimReceipt
	StepRegisterDirs  = "register-dirs@1"  // DirsParams
	StepReleaseServer = "release-server@1" // NodeParams
	StepPeerProbe     = "peer-probe@1"     // JoinParams
	StepPeerSettled   = "peer-settled@1"   // JoinParams
	StepProbeBack     = "probe-back@1"     // ProbeBackParams

	StepMakeBricks    = "make-bricks@1"    // BricksParams
	StepCreateVolume  = "create-volume@1"  // CreateParams; receipt VolumeReceipt
	StepSetOption     = "set-option@1"     // OptionParams
	StepResetOption   = "reset-option@1"   // OptionParams
	StepStartVolume   = "start-volume@1"   // VolumeParams
	StepBricksHealthy = "bricks-healthy@1" // HealthyParams
	StepAddBrick      = "add-brick@1"      // AddBrickParams
	StepRebalance     = "rebalance@1"      // VolumeParams; receipt RebalanceReceipt
	StepStopVolume    = "stop-volume@1"    // VolumeParams
	StepDeleteVolume  = "delete-volume@1"  // VolumeParams
	StepRetireBricks  = "retire-bricks@1"  // RetireParams
)

// NodeParams names a server.
type NodeParams struct {
	Node string `json:"node"` // name of the GlusterNode
}

// A Member is a server of the pool: name of the GlusterNode, and the name peers
// and bricks use.
type Member struct {
	Node    string `json:"node"`
	Address string `json:"address"`
}

// NamesParams: every server resolves every name, its own to itself.
type NamesParams struct {
	Members []Member `json:"members"` // the new server and all members
}

// ClaimParams: the server becomes this pool's.
type ClaimParams struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	// Known is the UUID the server had when it was a member of this pool; empty
	// for a new one, which must then be fresh (S8).
	Known string `json:"known,omitempty"`
}

// ClaimReceipt tells who the server is.
type ClaimReceipt struct {
	UUID string `json:"uuid"`
}

// DirsParams: identities of brick directories are recorded (S12).
type DirsParams struct {
	Node string   `json:"node"`
	Dirs []string `json:"dirs"`
}

// JoinParams: a claimed server becomes a peer. Seed is a server that belongs to
// the pool as planned: in a pool of one nothing in gluster tells it apart from
// a claimed server that has not joined yet.
type JoinParams struct {
	Seed    Member `json:"seed"`
	Node    string `json:"node"`
	Address string `json:"address"`
	UUID    string `json:"uuid"`
}

// ProbeBackParams: Node probes First by its name, so that every peers file
// holds the chosen names.
type ProbeBackParams struct {
	Node  string `json:"node"`
	First Member `json:"first"`
	UUID  string `json:"uuid"` // of First
}

// A BrickRef is a brick as planned.
type BrickRef struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	UUID    string `json:"uuid"` // of the peer
	Root    string `json:"root"` // registered brick directory
	Leaf    string `json:"leaf"` // <set>-<position>-<generation>
	Arbiter bool   `json:"arbiter,omitempty"`
}

// Path is <root>/<volume id>/<leaf>/brick.
func (b BrickRef) Path(volumeID string) string {
	return b.Root + "/" + volumeID + "/" + b.Leaf + "/brick"
}

// BricksParams names bricks of a volume.
type BricksParams struct {
	Volume   string     `json:"volume"`
	VolumeID string     `json:"volumeID"`
	Bricks   []BrickRef `json:"bricks"` // in gluster's order
}

// CreateParams: the volume exists with these bricks, in this order.
type CreateParams struct {
	BricksParams
	Replica    int `json:"replica,omitempty"`
	Arbiter    int `json:"arbiter,omitempty"`
	Disperse   int `json:"disperse,omitempty"`
	Redundancy int `json:"redundancy,omitempty"`
}

// VolumeReceipt tells gluster's own id of a volume.
type VolumeReceipt struct {
	GlusterID string `json:"glusterID"`
}

// AddBrickParams: the volume has these bricks behind those it had.
type AddBrickParams struct {
	BricksParams
	Before int `json:"before"` // bricks the volume had
}

// OptionParams: one option has, or no longer has, a value.
type OptionParams struct {
	Volume   string `json:"volume,omitempty"` // empty: cluster-wide
	VolumeID string `json:"volumeID,omitempty"`
	Key      string `json:"key"`
	Value    string `json:"value,omitempty"`
	// OnlyEmpty: refused as soon as the volume holds data (S11).
	OnlyEmpty bool `json:"onlyEmpty,omitempty"`
}

// VolumeParams names a volume.
type VolumeParams struct {
	Volume   string `json:"volume"`
	VolumeID string `json:"volumeID"`
}

// HealthyParams: the volume's bricks serve, from one place on.
type HealthyParams struct {
	VolumeParams
	From int `json:"from,omitempty"` // place of the first brick that is meant, in gluster's order
}

// RebalanceReceipt tells which task, and how it went.
type RebalanceReceipt struct {
	TaskID   string `json:"taskID"`
	Runs     int    `json:"runs"`
	Failures uint64 `json:"failures,omitempty"`
	Skipped  uint64 `json:"skipped,omitempty"`
}

// RetireParams: the roots of a deleted volume are out of the way, not erased.
type RetireParams struct {
	VolumeID string     `json:"volumeID"`
	Bricks   []BrickRef `json:"bricks"`
}

// Kinds of operations.
const (
	KindInstallGate   = "install-gate"
	KindBootstrapPool = "bootstrap-pool"
	KindPrepareNode   = "prepare-node"
	KindJoinNode      = "join-node"
	KindReleaseNode   = "release-node"
	KindCreateVolume  = "create-volume"
	KindAddBrick      = "add-brick"
	KindSetOptions    = "set-options"
	KindDeleteVolume  = "delete-volume"
)
