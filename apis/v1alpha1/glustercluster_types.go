package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlusterCluster is one trusted storage pool: the servers that name it in their
// GlusterNode become its peers, and GlusterVolumes are made in it. The smallest
// one has a name and nothing else.
//
// Its first node is chosen from the GlusterNodes that name it; the pool gets an
// id (status.poolID) that every server remembers, so that no server is ever
// claimed by two pools.
//
// Deleting a GlusterCluster retains all data: servers outside Kubernetes, peers
// and volumes stay exactly as they are, of nodes that are pods the claims stay.
// See deletionPolicy for how to remove the data too.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gcl,categories=gluster
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes.total`
// +kubebuilder:printcolumn:name="Joined",type=integer,JSONPath=`.status.nodes.joined`
// +kubebuilder:printcolumn:name="Volumes",type=integer,JSONPath=`.status.volumes.total`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.currentOperation.kind`
// +kubebuilder:printcolumn:name="Heal",type=integer,JSONPath=`.status.pendingHeals`,priority=1
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`,priority=1
// +kubebuilder:printcolumn:name="Blocked",type=string,JSONPath=`.status.conditions[?(@.type=="Blocked")].reason`,priority=1
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.status.poolID`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!format.dns1035Label().validate(self.metadata.name).hasValue()",message="the name of a GlusterCluster becomes part of DNS names: at most 63 lower-case letters, digits and '-', starting with a letter"
type GlusterCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +optional
	Spec GlusterClusterSpec `json:"spec,omitzero"`

	// status is what was observed.
	// +optional
	Status GlusterClusterStatus `json:"status,omitzero"`
}

// GlusterClusterSpec is what is wanted of a pool.
type GlusterClusterSpec struct {
	// nodeTemplates are nodes that Anthill makes itself: pods on claims of a
	// storage class. The smallest has a name, a number of nodes and a storage
	// class.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	NodeTemplates []NodeTemplate `json:"nodeTemplates,omitempty"`

	// image of the pods. A change is rolled out one pod at a time, each after
	// all data has been healed. Default: the one the operator was started with.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`
	Image string `json:"image,omitempty"`

	// clusterOptions are options of the whole pool (`gluster volume set all`),
	// keys in full, for example `cluster.brick-multiplex: "on"`. Only keys that
	// gluster knows as global and that Anthill's table permits are set; a
	// refused key is named in the condition SpecAccepted and does not hold up
	// anything else. Removing a key resets it; a key that was never declared
	// here is never touched.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 128 && k.matches('^[a-z][a-z0-9-]*([.][a-zA-Z0-9_-]+)+$'))",message="write option keys in full, with their domain, for example cluster.brick-multiplex; at most 128 characters"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('user.anthill.'))",message="options that start with user.anthill. are Anthill's own"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !self[k].startsWith('--'))",message="an option value must not start with '--': the gluster command would take it for a flag"
	ClusterOptions map[string]OptionValue `json:"clusterOptions,omitempty"`

	// allowUnknownOptions lets clusterOptions hold keys that Anthill's table
	// does not know. Keys that the table knows as dangerous stay refused.
	// Default: false.
	// +optional
	AllowUnknownOptions bool `json:"allowUnknownOptions,omitempty"`

	// paused keeps Anthill from planning anything for this pool, its nodes and
	// its volumes; what has been started is finished, and status is kept up to
	// date. A boolean and not an enum, as it is throughout Kubernetes: there is
	// no third state. Default: false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// deletionPolicy says what becomes of the data when this object is deleted.
	// Retain keeps it: of nodes that are pods the claims stay, and the same
	// objects created again take them up. Purge removes, once no pod is left, the
	// claims that were made for nodeTemplates with all data on them, and whatever
	// else Anthill made; nothing of that can be undone. Purge counts only together
	// with the annotation anthill.gluster.org/confirm-delete, whose value is the
	// name of this object; without it the deletion waits. Claims and devices that
	// a person named, and servers outside Kubernetes, are never erased.
	// Default: Retain.
	// +optional
	// +kubebuilder:validation:Enum=Retain;Purge
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// A DeletionPolicy says what becomes of data when the object that describes it
// is deleted.
type DeletionPolicy string

// The deletion policies.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionPurge  DeletionPolicy = "Purge"
)

// NodeTemplate describes nodes that Anthill makes: GlusterNodes named
// <cluster>-<template>-<number>, each with claims of its own. What is edited in
// such a GlusterNode is put back.
type NodeTemplate struct {
	// name of the template; it becomes part of the nodes' names.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// thresholds say how many nodes there are.
	// +required
	Thresholds Thresholds `json:"thresholds"`

	// zone is the failure domain of the nodes: no two copies of the same data
	// are placed in one zone while there are enough zones; within a zone they are
	// on different nodes in any case. Default: the name of the template.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Zone string `json:"zone,omitempty"`

	// nodeAffinity says on which hosts the pods may run. Pods of one cluster
	// prefer different hosts in any case.
	// +optional
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`

	// tolerations of the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// resources of the pods: what they ask for, and at most get. Every pod of
	// the template is restarted when they change, one at a time.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// priorityClassName is the PriorityClass of the pods. It must exist: without
	// it Kubernetes makes no pod. Every pod of the template is restarted when it
	// changes, one at a time.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// storage is what each node gets.
	// +required
	Storage TemplateStorage `json:"storage"`
}

// Thresholds say how many nodes a template has.
type Thresholds struct {
	// nodes is their number. Raising it adds nodes; lowering it waits until
	// removing nodes is supported, and says so.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Nodes int32 `json:"nodes"`
}

// TemplateStorage is the storage of each node of a template.
//
// +kubebuilder:validation:XValidation:rule="self.storageClassName == oldSelf.storageClassName && has(self.size) == has(oldSelf.size) && (!has(self.size) || self.size == oldSelf.size) && has(self.volumeMode) == has(oldSelf.volumeMode) && (!has(self.volumeMode) || self.volumeMode == oldSelf.volumeMode) && has(self.stateStorageClassName) == has(oldSelf.stateStorageClassName) && (!has(self.stateStorageClassName) || self.stateStorageClassName == oldSelf.stateStorageClassName)",message="the claims that exist do not change: raise count for more of the same, or add a template with the storage that is wanted"
// +kubebuilder:validation:XValidation:rule="(has(self.count) ? self.count : 1) >= (has(oldSelf.count) ? oldSelf.count : 1)",message="count only grows: a claim may hold bricks and cannot be taken away"
type TemplateStorage struct {
	// storageClassName is the class of the claims.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	StorageClassName string `json:"storageClassName"`

	// size of each claim for bricks. Default: 10Gi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// count is how many claims for bricks each node has. Raising it gives every
	// node more, one node at a time: its pod is restarted with them. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Count int32 `json:"count,omitempty"`

	// volumeMode of the claims for bricks: Filesystem, or Block for a device that
	// Anthill formats as XFS. Default: Filesystem.
	// +optional
	// +kubebuilder:validation:Enum=Filesystem;Block
	VolumeMode *corev1.PersistentVolumeMode `json:"volumeMode,omitempty"`

	// stateStorageClassName is the class of the claim for glusterd's state, 1Gi
	// of volume mode Filesystem. Default: storageClassName.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	StateStorageClassName string `json:"stateStorageClassName,omitempty"`
}

// GlusterClusterStatus is what was observed of a pool.
type GlusterClusterStatus struct {
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

	// poolID is the identity of the pool, made when it was first planned. Every
	// server of the pool holds it too.
	// +optional
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	PoolID string `json:"poolID,omitempty"`

	// anchor says who owns the pool and how far its journal was when it was
	// written. It is how a lost, copied or rewound journal is noticed.
	// +optional
	Anchor *Anchor `json:"anchor,omitempty"`

	// reconcileVersion is the version of the procedure with which the pool and
	// all its nodes last converged; absent until they first did.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReconcileVersion *int32 `json:"reconcileVersion,omitempty"`

	// reconcileActions are the results of the last cycle, errors included.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	ReconcileActions []ReconcileAction `json:"reconcileActions,omitempty"`

	// nodes counts the GlusterNodes that name this cluster.
	// +optional
	Nodes *NodeCounts `json:"nodes,omitempty"`

	// volumes counts the GlusterVolumes that name this cluster.
	// +optional
	Volumes *VolumeCounts `json:"volumes,omitempty"`

	// pendingHeals is the number of entries that wait to be healed in all
	// volumes as last seen; absent if that could not be determined. Absent is
	// not zero.
	// +optional
	// +kubebuilder:validation:Minimum=0
	PendingHeals *int64 `json:"pendingHeals,omitempty"`

	// currentOperation is the operation under way that was started first, or
	// the one that is next; absent if there is none.
	// +optional
	CurrentOperation *CurrentOperation `json:"currentOperation,omitempty"`

	// appliedOptions are the global options that Anthill has set, with the
	// values it saw. Only these are ever reset.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	AppliedOptions map[string]OptionValue `json:"appliedOptions,omitempty"`
}

// Anchor ties a pool to one operator instance and its journal. It is written
// with a resourceVersion precondition: of two operators that want the pool, the
// one that loses stops.
type Anchor struct {
	// instance is the operator instance that owns the pool, by default
	// `<namespace>/<name>` of its installation.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Instance string `json:"instance"`

	// journalID is the identity of the journal file.
	// +required
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	JournalID string `json:"journalID"`

	// fence grows with every tenure; servers refuse lower ones.
	// +required
	// +kubebuilder:validation:Minimum=0
	Fence int64 `json:"fence"`

	// seq is the sequence number of an event that the journal must hold.
	// +required
	// +kubebuilder:validation:Minimum=0
	Seq int64 `json:"seq"`

	// hash of that event: hexadecimal SHA-256.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`
}

// NodeCounts counts nodes.
type NodeCounts struct {
	// total is the number of GlusterNodes that name this cluster.
	// +required
	// +kubebuilder:validation:Minimum=0
	Total int32 `json:"total"`

	// joined is how many of them are peers of the pool.
	// +required
	// +kubebuilder:validation:Minimum=0
	Joined int32 `json:"joined"`

	// healthy is how many of those are connected, with all brick directories
	// in order.
	// +required
	// +kubebuilder:validation:Minimum=0
	Healthy int32 `json:"healthy"`
}

// VolumeCounts counts volumes.
type VolumeCounts struct {
	// total is the number of GlusterVolumes that name the cluster.
	// +required
	// +kubebuilder:validation:Minimum=0
	Total int32 `json:"total"`

	// available is how many of them clients can read and write.
	// +required
	// +kubebuilder:validation:Minimum=0
	Available int32 `json:"available"`
}

// GlusterClusterList is a list of GlusterClusters.
//
// +kubebuilder:object:root=true
type GlusterClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []GlusterCluster `json:"items"`
}
