package v1alpha1

// Annotations a person sets. Anthill reads them and never writes them.
const (
	// AnnotationTakeOver on a GlusterCluster lets another operator instance
	// take the pool over. Its value is the instance that is to let go, exactly
	// as status.anchor.instance shows it; any other value changes nothing. It
	// may stay: once the pool has a new owner it no longer matches.
	AnnotationTakeOver = "anthill.gluster.org/take-over"

	// AnnotationConfirmDelete on a GlusterVolume, with the object's own name as
	// value, makes deleting the object delete the volume: it is stopped and
	// deleted in gluster and its brick directories are renamed below
	// .anthill-retired. Nothing is erased. Without the annotation, deleting the
	// object leaves the volume, its data and its mounts as they are.
	//
	// On a GlusterCluster with spec.deletionPolicy Purge, likewise with its own
	// name as value, it makes deleting the object remove all data that is on
	// claims of its templates.
	AnnotationConfirmDelete = "anthill.gluster.org/confirm-delete"
)

// AnnotationTemplate on a GlusterNode that Anthill made names the template of
// the cluster it was made from. Anthill sets it; what is edited in such a node
// is put back.
const AnnotationTemplate = "anthill.gluster.org/template"

// Labels of everything that Anthill makes in Kubernetes.
const (
	// LabelCluster and LabelNode name the GlusterCluster and the GlusterNode, in
	// the same namespace, that an object was made for.
	LabelCluster = "anthill.gluster.org/cluster"
	LabelNode    = "anthill.gluster.org/node"
)

// Labels on a PersistentVolume, which is of no namespace, that name the
// GlusterVolume whose data it gives to pods. While such a PersistentVolume
// exists, neither that GlusterVolume nor its cluster goes. Whoever makes the
// PersistentVolume sets them.
const (
	LabelVolumeNamespace = "anthill.gluster.org/namespace"
	LabelVolume          = "anthill.gluster.org/volume"
)

// AnnotationPodDigest on a StatefulSet and on its pod tells from which
// description they were made: a pod whose digest is not its StatefulSet's runs
// what was declared before.
const AnnotationPodDigest = "anthill.gluster.org/pod-digest"

// ContainerName is the name of the container of a pod in which glusterd runs.
const ContainerName = "glusterd"

// Finalizer keeps an object until Anthill has let go of it. While an object
// waits on it, the condition Blocked or Progressing says for what.
const Finalizer = "operator.gluster.org/anthill"

// FieldOwner prefixes the name under which a controller applies; each
// controller has one owner, for example "anthill-glustervolume".
const FieldOwner = "anthill"

// Keys in the Secret that external.ssh.secretRef names. Its type is
// kubernetes.io/ssh-auth.
const (
	// SecretKeyPrivateKey holds the private key: PEM, OpenSSH or PKCS format,
	// without a passphrase.
	SecretKeyPrivateKey = "ssh-privatekey"
	// SecretKeyKnownHosts holds, optionally, host keys in the format of an
	// OpenSSH known_hosts file. They are accepted beside those in the spec.
	SecretKeyKnownHosts = "known_hosts"
)

// VolumeMarkerOption is the volume option that holds a volume's Anthill id. A
// volume in gluster belongs to a GlusterVolume only if both its name and this
// option match. Options that start with VolumeMarkerPrefix cannot be declared.
const (
	VolumeMarkerPrefix = "user.anthill."
	VolumeMarkerOption = VolumeMarkerPrefix + "volume"
)
