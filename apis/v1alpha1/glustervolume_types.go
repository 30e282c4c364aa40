package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GlusterVolume is one volume of a pool. Its name in gluster is the object's
// name. Anthill chooses where the bricks go.
//
// Deleting a GlusterVolume retains the volume in gluster as it is, with its
// data and mounts, unless the annotation
// `anthill.gluster.org/confirm-delete: <name>` is there: then the volume is
// stopped and deleted, and its brick directories are renamed below
// .anthill-retired on their file systems. Anthill erases no data.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gvol,categories=gluster
// +kubebuilder:selectablefield:JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Layout",type=string,JSONPath=`.status.layout`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Up",type=integer,JSONPath=`.status.bricksUp`
// +kubebuilder:printcolumn:name="Bricks",type=integer,JSONPath=`.status.bricksTotal`
// +kubebuilder:printcolumn:name="Heal",type=integer,JSONPath=`.status.pendingHeals`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.currentOperation.kind`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`,priority=1
// +kubebuilder:printcolumn:name="Blocked",type=string,JSONPath=`.status.conditions[?(@.type=="Blocked")].reason`,priority=1
// +kubebuilder:printcolumn:name="Usable-Bytes",type=integer,JSONPath=`.status.usableBytes`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!format.dns1123Label().validate(self.metadata.name).hasValue()",message="the name of a GlusterVolume is the volume's name in gluster: at most 63 lower-case letters, digits and '-', no dots"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['all', 'help'])",message="the gluster command gives the names all and help a meaning of their own: choose another name"
type GlusterVolume struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +required
	Spec GlusterVolumeSpec `json:"spec"`

	// status is what was observed.
	// +optional
	Status GlusterVolumeStatus `json:"status,omitzero"`
}

// GlusterVolumeSpec is what is wanted of a volume.
type GlusterVolumeSpec struct {
	// cluster is the name of the GlusterCluster, in the same namespace, that
	// the volume is made in. It need not exist yet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a volume cannot move to another cluster: create a GlusterVolume there and copy the data"
	Cluster string `json:"cluster"`

	// layout is how the data is spread over bricks.
	// +required
	Layout VolumeLayout `json:"layout"`

	// options are gluster volume options, keys in full, for example
	// `performance.cache-size: 256MB`. A key that is dangerous, or that Anthill
	// does not know, is refused: the condition SpecAccepted names it, and
	// nothing else is held up. Removing a key resets it; a key that was never
	// declared here is never touched.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 128 && k.matches('^[a-z][a-z0-9-]*([.][a-zA-Z0-9_-]+)+$'))",message="write option keys in full, with their domain, for example performance.cache-size; at most 128 characters"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('user.anthill.'))",message="options that start with user.anthill. are Anthill's own"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !self[k].startsWith('--'))",message="an option value must not start with '--': the gluster command would take it for a flag"
	Options map[string]OptionValue `json:"options,omitempty"`

	// allowUnknownOptions lets options hold keys that Anthill's table does not
	// know. Keys that the table knows as dangerous stay refused. Default: false.
	// +optional
	AllowUnknownOptions bool `json:"allowUnknownOptions,omitempty"`

	// zones restricts the volume to nodes whose spec.zone is one of these. A
	// change counts for bricks placed from then on. Default: all nodes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Zones []string `json:"zones,omitempty"`
}

// VolumeLayout is exactly one of its fields. Which one never changes.
//
// +kubebuilder:validation:XValidation:rule="[has(self.replicate), has(self.disperse), has(self.distribute)].filter(x, x).size() == 1",message="a layout is exactly one of replicate, disperse and distribute"
// +kubebuilder:validation:XValidation:rule="has(self.replicate) == has(oldSelf.replicate) && has(self.disperse) == has(oldSelf.disperse) && has(self.distribute) == has(oldSelf.distribute)",message="the kind of a layout cannot change: create another GlusterVolume and copy the data"
type VolumeLayout struct {
	// replicate keeps full copies of every file on several nodes.
	// +optional
	Replicate *ReplicateLayout `json:"replicate,omitempty"`

	// disperse spreads every file over several nodes with erasure coding.
	// +optional
	Disperse *DisperseLayout `json:"disperse,omitempty"`

	// distribute keeps one copy of every file, on one brick. The loss of a
	// brick is the loss of its files.
	// +optional
	Distribute *DistributeLayout `json:"distribute,omitempty"`
}

// ReplicateLayout keeps full copies.
//
// +kubebuilder:validation:XValidation:rule="!has(self.arbiter) || self.arbiter == 0 || self.replica == 2",message="replica counts full copies and an arbiter comes on top: what gluster calls 'replica 3 arbiter 1' is written as replica: 2, arbiter: 1"
// +kubebuilder:validation:XValidation:rule="self.replica != 2 || (has(self.arbiter) && self.arbiter == 1) || (has(self.acceptSplitBrainRisk) && self.acceptSplitBrainRisk)",message="two copies without an arbiter can end in split-brain: use replica: 3, or arbiter: 1, or accept the risk with acceptSplitBrainRisk: true"
// +kubebuilder:validation:XValidation:rule="self.replica == oldSelf.replica",message="replica cannot change: create another GlusterVolume and copy the data; to add space raise sets"
// +kubebuilder:validation:XValidation:rule="(has(self.arbiter) ? self.arbiter : 0) == (has(oldSelf.arbiter) ? oldSelf.arbiter : 0)",message="arbiter cannot change: create another GlusterVolume and copy the data"
// +kubebuilder:validation:XValidation:rule="self.sets >= oldSelf.sets",message="sets only grows: shrinking a volume is not supported"
type ReplicateLayout struct {
	// replica is the number of full copies, each on a node of its own.
	// +required
	// +kubebuilder:validation:Enum=2;3
	Replica int32 `json:"replica"`

	// arbiter is the number of further bricks per set that hold names and
	// attributes of files but no data, and so decide between two copies.
	// Default: 0.
	// +optional
	// +kubebuilder:validation:Enum=0;1
	Arbiter int32 `json:"arbiter,omitempty"`

	// sets is the number of replica sets. More sets are more space; raising it
	// adds bricks and moves files onto them while clients go on.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Sets int32 `json:"sets"`

	// acceptSplitBrainRisk must be true for two copies without an arbiter: when
	// the two lose sight of each other, either may accept writes that
	// contradict the other's, and a person has to choose. Default: false.
	// +optional
	AcceptSplitBrainRisk bool `json:"acceptSplitBrainRisk,omitempty"`
}

// DisperseLayout spreads files with erasure coding: data + redundancy bricks
// per set, any `redundancy` of which may be lost.
//
// +kubebuilder:validation:XValidation:rule="self.data > self.redundancy",message="data must be greater than redundancy: gluster needs a majority of bricks to agree"
// +kubebuilder:validation:XValidation:rule="self.data == oldSelf.data && self.redundancy == oldSelf.redundancy",message="data and redundancy cannot change: create another GlusterVolume and copy the data; to add space raise sets"
// +kubebuilder:validation:XValidation:rule="self.sets >= oldSelf.sets",message="sets only grows: shrinking a volume is not supported"
type DisperseLayout struct {
	// data is the number of bricks per set that hold data. Powers of two fit
	// the usual write sizes best.
	// +required
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=16
	Data int32 `json:"data"`

	// redundancy is the number of bricks per set that may be lost.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4
	Redundancy int32 `json:"redundancy"`

	// sets is the number of disperse sets. More sets are more space.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Sets int32 `json:"sets"`
}

// DistributeLayout keeps one copy.
//
// +kubebuilder:validation:XValidation:rule="self.bricks >= oldSelf.bricks",message="bricks only grows: shrinking a volume is not supported"
type DistributeLayout struct {
	// bricks is the number of bricks. More bricks are more space.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	Bricks int32 `json:"bricks"`
}

// GlusterVolumeStatus is what was observed of a volume.
type GlusterVolumeStatus struct {
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

	// volumeID is Anthill's identity of the volume, made when it was planned.
	// It is in the volume's option user.anthill.volume and in its brick paths.
	// +optional
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	VolumeID string `json:"volumeID,omitempty"`

	// glusterID is glusterd's identity of the volume.
	// +optional
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	GlusterID string `json:"glusterID,omitempty"`

	// layout is the layout as it is now, in one line, for example
	// `replicate 2 x 3`.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Layout string `json:"layout,omitempty"`

	// bricks of the volume in gluster's order: set after set.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=2000
	Bricks []BrickStatus `json:"bricks,omitempty"`

	// bricksUp is the number of bricks that serve.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BricksUp *int32 `json:"bricksUp,omitempty"`

	// bricksTotal is the number of bricks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BricksTotal *int32 `json:"bricksTotal,omitempty"`

	// pendingHeals is the number of entries that wait to be healed as last
	// seen; absent if that could not be determined. Absent is not zero.
	// +optional
	// +kubebuilder:validation:Minimum=0
	PendingHeals *int64 `json:"pendingHeals,omitempty"`

	// usableBytes is what a client would see as the volume's size; absent if
	// it could not be determined.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UsableBytes *int64 `json:"usableBytes,omitempty"`

	// appliedOptions are the options that Anthill has set, with the values it
	// saw. Only these are ever reset.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	AppliedOptions map[string]OptionValue `json:"appliedOptions,omitempty"`

	// currentOperation is the open operation on this volume, if there is one.
	// +optional
	CurrentOperation *CurrentOperation `json:"currentOperation,omitempty"`

	// reconcileActions are the results of the last cycle, errors included.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	ReconcileActions []ReconcileAction `json:"reconcileActions,omitempty"`
}

// BrickState says whether a brick serves.
//
// +kubebuilder:validation:Enum=Online;Offline;Unknown
type BrickState string

// The states of a brick.
const (
	// BrickOnline: started, with a port and a live process.
	BrickOnline BrickState = "Online"
	// BrickOffline: known not to serve.
	BrickOffline BrickState = "Offline"
	// BrickUnknown: its server could not be asked.
	BrickUnknown BrickState = "Unknown"
)

// BrickStatus is one brick as last seen.
type BrickStatus struct {
	// name of the brick in gluster: `<address>:<path>`.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`

	// node is the name of the GlusterNode; empty if no GlusterNode has the
	// brick's address.
	// +optional
	// +kubebuilder:validation:MaxLength=52
	Node string `json:"node,omitempty"`

	// set that the brick belongs to, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	Set int32 `json:"set"`

	// position in the set, from 0. An arbiter is the last one.
	// +required
	// +kubebuilder:validation:Minimum=0
	Position int32 `json:"position"`

	// state of the brick.
	// +required
	State BrickState `json:"state"`
}

// GlusterVolumeList is a list of GlusterVolumes.
//
// +kubebuilder:object:root=true
type GlusterVolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []GlusterVolume `json:"items"`
}
