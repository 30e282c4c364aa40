package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

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

	// Of nodes that are pods.
	StepMakeService  = "make-service@1"  // ServiceParams
	StepMakeClaims   = "make-claims@1"   // ClaimsParams
	StepMakePod      = "make-pod@1"      // PodParams
	StepPodReady     = "pod-ready@1"     // PodParams; waiting
	StepFormatDevice = "format-device@1" // DeviceParams
	StepMountDevice  = "mount-device@1"  // DeviceParams
	StepHealed       = "healed@1"        // HealedParams; waiting: the heal gate (S1)
	StepRestartPod   = "restart-pod@1"   // PodParams
	StepRemovePod    = "remove-pod@1"    // RemovePodParams

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

// RemovePodParams: the node's pod goes, its claims stay.
type RemovePodParams struct {
	NodeParams
	// Whole: the cluster goes with all its pods, and no object declares a volume of
	// it any more. Bricks are no reason to keep the pod then: they stay where they
	// are, on the claims. Else a pod whose server holds a brick is not removed.
	Whole bool `json:"whole,omitempty"`
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

// ServiceParams: the headless Service of the cluster, by which its pods have
// names. It is in the namespace of the cluster whose pool the operation is about.
type ServiceParams struct {
	Cluster string `json:"cluster"`
}

// ClaimsParams: claims of a node that a template describes are there.
type ClaimsParams struct {
	Node   string  `json:"node"`
	Claims []Claim `json:"claims"`
}

// A Claim is a PersistentVolumeClaim to be made.
type Claim struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Size  string `json:"size"` // a Kubernetes quantity
	Block bool   `json:"block,omitempty"`
}

// PodParams: the StatefulSet of the node, with one replica, is as described.
type PodParams struct {
	Node    string `json:"node"`
	Cluster string `json:"cluster"` // also the Service
	PodSpec
	// Digest is PodSpec.Sum of what is described: it stands in an annotation
	// of StatefulSet and pod, and tells whether they are as described.
	Digest string `json:"digest"`
}

// A PodSpec is what of a pod follows from what is declared. The rest is the same
// for every pod and of the release.
type PodSpec struct {
	Image       string               `json:"image"`
	State       PodState             `json:"state"`
	Storage     []PodStorage         `json:"storage"`
	Affinity    *corev1.NodeAffinity `json:"affinity,omitempty"`
	Tolerations []corev1.Toleration  `json:"tolerations,omitempty"`
	// What is not there must not be in the digest: pods of earlier releases that
	// did not know it run as declared.
	Resources     *corev1.ResourceRequirements `json:"resources,omitempty"`
	PriorityClass string                       `json:"priorityClass,omitempty"`
}

// PodState is where a pod keeps who it is: one of the two.
type PodState struct {
	Claim    string `json:"claim,omitempty"`
	HostPath string `json:"hostPath,omitempty"`
}

// PodStorage is one device or claim for bricks: a device of the host, a claim of
// volume mode Block, or one of volume mode Filesystem. Name is its directory
// below /bricks.
type PodStorage struct {
	Name   string `json:"name"`
	Device string `json:"device,omitempty"` // path on the host
	Claim  string `json:"claim,omitempty"`
	Block  bool   `json:"block,omitempty"` // of a claim
}

// DeviceParams: the device of a pod carries our file system, and is mounted.
type DeviceParams struct {
	Node string `json:"node"`
	Name string `json:"name"`   // of the storage entry
	UUID string `json:"fsUUID"` // the file system's, decided when it was planned
}

// HealedParams: nothing waits to be healed in any volume that has a brick on the
// node, nor is any other brick of these volumes down (S1, S2).
type HealedParams struct {
	Node string `json:"node"`
	UUID string `json:"uuid"` // of the peer
	// Without reports whether the node itself may be down.
	Without bool `json:"without,omitempty"`
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
	KindRestartNode   = "restart-node"
	KindCreateVolume  = "create-volume"
	KindAddBrick      = "add-brick"
	KindSetOptions    = "set-options"
	KindDeleteVolume  = "delete-volume"
)

// podSpecVersion changes when pods of this release differ from those of an
// earlier one that was given the same PodSpec.
const podSpecVersion = 1

// Sum tells one PodSpec, as this release makes pods of it, from another.
func (p *PodSpec) Sum() string { return p.sumOf(podSpecVersion) }

func (p *PodSpec) sumOf(version int) string {
	raw, err := json.Marshal(struct {
		Version int
		*PodSpec
	}{version, p})
	if err != nil { // plain data
		panic("planner: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
