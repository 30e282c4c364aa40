package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlusterNodeStatus is what was observed of a node.
type GlusterNodeStatus struct {
	// conditions are Available, Progressing, Degraded, Blocked and
	// SpecAccepted.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is
	// about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// uuid is glusterd's identity of the server, once it belongs to the pool.
	// +optional
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	UUID string `json:"uuid,omitempty"`

	// address is the name by which peers, bricks and clients know the server.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Address string `json:"address,omitempty"`

	// pod is the pod of a node that is one, as last seen.
	// +optional
	Pod *PodStatus `json:"pod,omitempty"`

	// gate is Anthill's program on the server.
	// +optional
	Gate *GateStatus `json:"gate,omitempty"`

	// brickDirs are the brick directories as last seen.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=32
	BrickDirs []BrickDirStatus `json:"brickDirs,omitempty"`

	// reconcileActions are the results of the last cycle, errors included.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	ReconcileActions []ReconcileAction `json:"reconcileActions,omitempty"`

	// currentOperation is the open operation on this node, if there is one.
	// +optional
	CurrentOperation *CurrentOperation `json:"currentOperation,omitempty"`
}

// PodStatus is the state of a pod.
type PodStatus struct {
	// name of the pod.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// host is the Kubernetes node it runs on; empty while it is not scheduled.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host,omitempty"`

	// ready tells whether its glusterd serves.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// current tells whether it is as it is declared now; if not, it is
	// restarted as soon as that disturbs nobody.
	// +optional
	Current bool `json:"current,omitempty"`
}

// GateStatus is the state of the gate, the program through which a server is
// changed and which refuses operators that no longer own it.
type GateStatus struct {
	// digest of the gate's file: hexadecimal SHA-256.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest"`

	// fence below which the gate refuses.
	// +required
	// +kubebuilder:validation:Minimum=0
	Fence int64 `json:"fence"`
}

// BrickDirState says whether bricks may live in a directory.
//
// +kubebuilder:validation:Enum=Ready;NotMounted;Changed;Unknown
type BrickDirState string

// The states of a brick directory.
const (
	// BrickDirReady: the recorded file system is mounted.
	BrickDirReady BrickDirState = "Ready"
	// BrickDirNotMounted: the directory is missing or on the root file system.
	BrickDirNotMounted BrickDirState = "NotMounted"
	// BrickDirChanged: another file system than the recorded one is mounted.
	BrickDirChanged BrickDirState = "Changed"
	// BrickDirUnknown: the server could not be asked.
	BrickDirUnknown BrickDirState = "Unknown"
)

// BrickDirStatus is one brick directory as last seen.
type BrickDirStatus struct {
	// path is the directory, as in the spec.
	// +required
	Path BrickDir `json:"path"`

	// state of the directory.
	// +required
	State BrickDirState `json:"state"`

	// fsUUID identifies the file system that was recorded.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	FSUUID string `json:"fsUUID,omitempty"`

	// sizeBytes is the size of the file system.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// committedBytes is how much of the file system is promised to bricks. It
	// is not what they have filled so far.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CommittedBytes *int64 `json:"committedBytes,omitempty"`

	// bricks is the number of bricks that Anthill placed there.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Bricks int32 `json:"bricks,omitempty"`

	// message says what is wrong; empty when the directory is ready.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
