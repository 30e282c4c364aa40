package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlusterNode is one server of a pool: either a server outside Kubernetes that
// runs glusterd and that Anthill reaches over ssh (external), or a pod that
// Anthill runs, with devices or claims for its bricks (storage).
//
// On a server outside Kubernetes Anthill touches peers, bricks and volumes through the
// gluster command, brick directories below those listed here, and two paths of
// its own: /usr/local/lib/anthill and /var/lib/anthill. It never formats,
// mounts, installs or reboots anything.
//
// A pod keeps the name <node>-0.<cluster>.<namespace>.svc for ever, by which
// peers, bricks and clients know it, and its glusterd keeps its identity on
// spec.state, wherever the pod runs. Only a device or claim that holds nothing
// at all is ever formatted, once.
//
// Deleting a GlusterNode that has joined the pool waits on its finalizer with
// the reason RemoveNodeNotSupported; one that has not joined is released at once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gn,categories=gluster
// +kubebuilder:selectablefield:JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.zone`
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.address`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.currentOperation.kind`
// +kubebuilder:printcolumn:name="Blocked",type=string,JSONPath=`.status.conditions[?(@.type=="Blocked")].reason`,priority=1
// +kubebuilder:printcolumn:name="UUID",type=string,JSONPath=`.status.uuid`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52 && !format.dns1123Label().validate(self.metadata.name).hasValue()",message="the name of a GlusterNode becomes a host name: at most 52 lower-case letters, digits and '-', starting and ending with a letter or digit"
type GlusterNode struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +required
	Spec GlusterNodeSpec `json:"spec"`

	// status is what was observed.
	// +optional
	Status GlusterNodeStatus `json:"status,omitzero"`
}

// GlusterNodeSpec is what is wanted of a node.
//
// +kubebuilder:validation:XValidation:rule="has(self.external) != has(self.storage)",message="a node is either a server outside Kubernetes (external) or a pod with devices or claims (storage): give exactly one of the two"
// +kubebuilder:validation:XValidation:rule="has(self.external) == has(oldSelf.external)",message="a server outside Kubernetes does not become a pod, nor a pod such a server: create another GlusterNode"
// +kubebuilder:validation:XValidation:rule="has(self.storage) == has(self.state)",message="a pod keeps glusterd's state in state, a server outside Kubernetes has none: give state together with storage"
// +kubebuilder:validation:XValidation:rule="!has(self.external) || (!has(self.nodeAffinity) && !has(self.tolerations) && !has(self.resources) && !has(self.priorityClassName))",message="nodeAffinity, tolerations, resources and priorityClassName are for pods, external is no pod"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || !(self.storage.exists(s, has(s.device)) || has(self.state.hostPath)) || (has(self.nodeAffinity) && has(self.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution))",message="devices and host paths are of one host: say which in nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
type GlusterNodeSpec struct {
	// cluster is the name of the GlusterCluster, in the same namespace, that
	// the node belongs to. It need not exist yet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a node cannot move to another cluster: delete this GlusterNode and create one that names the other cluster"
	Cluster string `json:"cluster"`

	// zone is the failure domain of the node. No two copies of the same data
	// are placed in one zone while there are enough zones. A change counts for
	// bricks placed from then on. Default: the node is a zone of its own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Zone string `json:"zone,omitempty"`

	// external describes a server outside Kubernetes.
	// +optional
	External *ExternalServer `json:"external,omitempty"`

	// storage are the devices and claims of a pod, one directory for bricks on
	// each. Entries can be added, not changed or taken away.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="oldSelf.all(o, self.exists(n, n == o))",message="storage only grows: an entry may hold bricks and can neither be changed nor taken out of the list"
	Storage []Storage `json:"storage,omitempty"`

	// state is where a pod keeps who it is: glusterd's files and Anthill's own.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="state holds the identity of the peer and cannot change: create another GlusterNode"
	State *NodeState `json:"state,omitempty"`

	// nodeAffinity says on which hosts the pod may run. A node with a device
	// must select exactly one host. A change counts when the pod is next
	// started.
	// +optional
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`

	// tolerations of the pod. A change counts when the pod is next started.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// resources of the pod: what it asks for, and at most gets. The pod is
	// restarted when they change. Default: none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// priorityClassName is the PriorityClass of the pod. It must exist: without
	// it Kubernetes makes no pod. The pod is restarted when it changes. Default:
	// that of the Kubernetes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Storage is one device or claim of a pod. Its file system is mounted at
// /bricks/<name>.
//
// +kubebuilder:validation:XValidation:rule="has(self.device) != has(self.pvcName)",message="storage is either a device or a claim: give exactly one of device and pvcName"
type Storage struct {
	// name of the entry and of the directory its bricks live in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// device is the stable path of a block device of the host, for example
	// /dev/disk/by-id/wwn-0x5000c500a1b2c3d4. Names that the kernel gives, such
	// as /dev/sdb, are refused: they may mean another disk after a reboot. It
	// is formatted only if it holds nothing at all.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^/dev/(disk/by-(id|path|partuuid|partlabel)|mapper)/[A-Za-z0-9][A-Za-z0-9._:+-]*$`
	Device string `json:"device,omitempty"`

	// pvcName names a PersistentVolumeClaim in the namespace. One of volume mode
	// Block is formatted if it holds nothing at all; one of mode Filesystem is
	// used as it is mounted.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PVCName string `json:"pvcName,omitempty"`
}

// NodeState is where a pod keeps who it is.
//
// +kubebuilder:validation:XValidation:rule="has(self.pvcName) != has(self.hostPath)",message="state is either a claim or a folder of the host: give exactly one of pvcName and hostPath"
type NodeState struct {
	// pvcName names a PersistentVolumeClaim of volume mode Filesystem in the
	// namespace. A hundred megabytes are plenty.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PVCName string `json:"pvcName,omitempty"`

	// hostPath is a folder of the host, made if it is missing. No two nodes may
	// share it.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`
	HostPath string `json:"hostPath,omitempty"`
}

// ExternalServer is a server outside Kubernetes.
//
// Address and brick directory share file names of at most 255 characters with
// the volume's name and what Anthill adds to a brick's path: with the longest
// volume name glusterd 10.3 takes 128 of them and refuses 136.
//
// +kubebuilder:validation:XValidation:rule="self.brickDirs.all(d, size(self.address) + size(d) <= 120)",message="glusterd makes file names of volume, address and brick path: address and brick directory together may have at most 120 characters"
type ExternalServer struct {
	// address is the name by which peers and clients know the server; it is
	// part of every brick's identity and never changes. It must be a DNS name,
	// not an IP address, and resolve on all servers of the pool and on all
	// clients.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=110
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|[.])(0x[0-9a-f]*|[0-9]+)$')",message="address must be a DNS name, not an IP address: give the server a name that all servers and clients resolve, and put the IP address into ssh.host if that is how it is reached"
	// +kubebuilder:validation:XValidation:rule="self != 'localhost' && !self.startsWith('localhost.')",message="address must mean the same server everywhere; localhost does not"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="address is part of the identity of peer and bricks and cannot change: if only the way to reach the server changed, change ssh.host; otherwise create another GlusterNode"
	Address string `json:"address"`

	// ssh is how Anthill reaches the server. It may change at any time.
	// +required
	SSH SSH `json:"ssh"`

	// brickDirs are directories for bricks. Each must be on a mounted file
	// system of its own (not the root file system), which Anthill records when
	// it first sees it: a directory whose file system is not mounted, or is
	// another one, never receives a brick. Directories can be added, not taken
	// away.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="oldSelf.all(d, d in self)",message="brickDirs only grow: a directory may hold bricks and cannot be taken out of the list"
	BrickDirs []BrickDir `json:"brickDirs"`
}

// BrickDir is an absolute, clean path: no `.` or `..`, no doubled or trailing
// slash, no part that starts with a dot, only letters, digits, `.`, `_`, `-`.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=110
// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`
type BrickDir string

// SSH is how a server is reached.
type SSH struct {
	// host is the name or IP address to connect to. Default: external.address.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9.:]*[A-Za-z0-9])?$|^::[0-9A-Fa-f:.]*$`
	Host string `json:"host,omitempty"`

	// port to connect to. Default: 22.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// user to log in as. It must be able to run gluster and write brick
	// directories, which in practice means root. Default: root.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z_][a-z0-9_-]*$`
	User string `json:"user,omitempty"`

	// secretRef names the Secret with the login.
	// +required
	SecretRef SecretReference `json:"secretRef"`

	// hostKeys are public keys that the server may identify itself with, each
	// as in /etc/ssh/ssh_host_*_key.pub, for example `ssh-ed25519 AAAAC3...`. A
	// key is never trusted on first use: without one here, the Secret's
	// known_hosts must have it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	HostKeys []HostKey `json:"hostKeys,omitempty"`
}

// HostKey is one public key in OpenSSH's one-line format; a comment is allowed.
//
// +kubebuilder:validation:MinLength=16
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:Pattern=`^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]+={0,3}( [^\x00-\x1f]*)?$`
type HostKey string

// SecretReference names a Secret in the namespace of the object. Its type is
// kubernetes.io/ssh-auth: key `ssh-privatekey`, and optionally `known_hosts`.
type SecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// GlusterNodeList is a list of GlusterNodes.
//
// +kubebuilder:object:root=true
type GlusterNodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []GlusterNode `json:"items"`
}
