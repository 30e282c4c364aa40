package v1alpha1

// Reasons for things being as they should.
const (
	// ReasonAvailable (Available=True): clients, or the pool, are served.
	ReasonAvailable = "Available"
	// ReasonHealthy (Degraded=False): every node, brick and copy is there.
	ReasonHealthy = "Healthy"
	// ReasonNothingBlocks (Blocked=False): nobody is waited for.
	ReasonNothingBlocks = "NothingBlocks"
	// ReasonAccepted (SpecAccepted=True): all of the spec is carried out.
	ReasonAccepted = "Accepted"
	// ReasonConverged (Progressing=False): what is, is what was declared.
	ReasonConverged = "Converged"
)

// Reasons of Progressing, and of Available=False while nothing is wrong.
const (
	// ReasonNotYetObserved (any, Unknown): no cycle has looked yet.
	ReasonNotYetObserved = "NotYetObserved"
	// ReasonWaitingForNodes (Available, Progressing): the cluster has no node
	// that has joined yet.
	ReasonWaitingForNodes = "WaitingForNodes"
	// ReasonWaitingForCluster (Available, Progressing): the cluster the object
	// names has no pool yet.
	ReasonWaitingForCluster = "WaitingForCluster"
	// ReasonPlanning (Progressing=True): a difference was seen and its
	// operation will be in the journal within a cycle.
	ReasonPlanning = "Planning"
	// ReasonOperationRunning (Progressing=True): an operation on the object is
	// open; the message names it and its step.
	ReasonOperationRunning = "OperationRunning"
	// ReasonOperationQueued (Progressing=True): it waits for another operation
	// that holds a lock it needs; the message names that one.
	ReasonOperationQueued = "OperationQueued"
	// ReasonDeleting (Progressing=True): the object is being deleted and its
	// operation, which the message names, has not ended.
	ReasonDeleting = "Deleting"
	// ReasonPaused (Progressing=False): the cluster's spec.paused is true.
	ReasonPaused = "Paused"
	// ReasonBlocked (Progressing=False): see the condition Blocked.
	ReasonBlocked = "Blocked"
)

// Reasons of Degraded, and of Available=False when something is wrong.
const (
	// ReasonNodesDown (Degraded, cluster): peers are not connected; the message
	// names them.
	ReasonNodesDown = "NodesDown"
	// ReasonQuorumLost (Available=False, Blocked): a majority of the pool's
	// nodes is not connected. Nothing is changed meanwhile.
	ReasonQuorumLost = "QuorumLost"
	// ReasonVolumesDegraded (Degraded, cluster): volumes are degraded; the
	// message names them.
	ReasonVolumesDegraded = "VolumesDegraded"
	// ReasonBricksDown (Degraded; Available=False if a whole set is out of
	// service): the message names the bricks.
	ReasonBricksDown = "BricksDown"
	// ReasonHealsPending (Degraded): copies differ and heal.
	ReasonHealsPending = "HealsPending"
	// ReasonHealthUnknown (Degraded=Unknown): the number of pending heals could
	// not be determined; that is not zero.
	ReasonHealthUnknown = "HealthUnknown"
	// ReasonRebalanceIncomplete (Degraded, volume): bricks were added, but some
	// files could not be moved onto them. They are readable where they are.
	ReasonRebalanceIncomplete = "RebalanceIncomplete"
	// ReasonNotStarted (Available=False, volume): the volume is stopped.
	ReasonNotStarted = "NotStarted"
	// ReasonGlusterdDown (Available=False, node): the server answers, its
	// glusterd does not.
	ReasonGlusterdDown = "GlusterdDown"
	// ReasonNotJoined (Available=False, node): the server is not a peer of the
	// pool.
	ReasonNotJoined = "NotJoined"
)

// Reasons of Blocked on a cluster.
const (
	// ReasonFenceIncomplete: a connected member could not be told about this
	// operator's tenure. No mutating command is sent until all have been.
	ReasonFenceIncomplete = "FenceIncomplete"
	// ReasonOwnedByOtherInstance: another operator instance owns the pool.
	// Stop it, then annotate the cluster with AnnotationTakeOver.
	ReasonOwnedByOtherInstance = "OwnedByOtherInstance"
	// ReasonUnsupportedVersion: the pool was converged by a newer procedure
	// than this binary knows. Nothing is changed; run a newer Anthill.
	ReasonUnsupportedVersion = "UnsupportedVersion"
	// ReasonViewsDiffer: the nodes' glusterds do not agree on the volumes. The
	// message says what differs; nothing is changed meanwhile.
	ReasonViewsDiffer = "ViewsDiffer"
	// ReasonPeerRejected: a peer is in the state Rejected. Nothing is changed
	// meanwhile.
	ReasonPeerRejected = "PeerRejected"
	// ReasonForeignPeer: the pool has a peer that no GlusterNode describes. It
	// is left alone; create a GlusterNode for it or detach it by hand.
	ReasonForeignPeer = "ForeignPeer"
)

// Reasons of Blocked on a node.
const (
	// ReasonClusterNotFound (also on volumes): spec.cluster names no
	// GlusterCluster in this namespace.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonSecretNotFound: the Secret of ssh.secretRef is not there.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretInvalid: the Secret has no key ssh-privatekey, or what it
	// holds is not a usable private key or known_hosts file.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonServerUnreachable: no connection to the server's ssh.
	ReasonServerUnreachable = "ServerUnreachable"
	// ReasonHostKeyMissing: neither ssh.hostKeys nor the Secret's known_hosts
	// has a host key for the server.
	ReasonHostKeyMissing = "HostKeyMissing"
	// ReasonHostKeyMismatch: the server identified itself with another host
	// key. Nothing was sent to it.
	ReasonHostKeyMismatch = "HostKeyMismatch"
	// ReasonLoginRefused: the server refused the user or the key.
	ReasonLoginRefused = "LoginRefused"
	// ReasonServerClaimed: the server belongs to another pool, or another
	// GlusterNode has the same address.
	ReasonServerClaimed = "ServerClaimed"
	// ReasonForeignServer: the server's glusterd has peers, volumes or an
	// identity that are not this pool's. It is neither joined nor cleaned.
	ReasonForeignServer = "ForeignServer"
	// ReasonBrickDirNotMounted: a brick directory has no file system of its
	// own, or not the recorded one. No brick goes there.
	ReasonBrickDirNotMounted = "BrickDirNotMounted"
	// ReasonGateFailed: the gate could not be installed on the server.
	ReasonGateFailed = "GateFailed"
	// ReasonPodNotReady: the node's pod does not run, or its glusterd does not
	// serve yet; the message has what Kubernetes says.
	ReasonPodNotReady = "PodNotReady"
	// ReasonPodUnschedulable: no host takes the node's pod.
	ReasonPodUnschedulable = "PodUnschedulable"
	// ReasonClaimNotFound: a PersistentVolumeClaim that the node names is not
	// there.
	ReasonClaimNotFound = "ClaimNotFound"
	// ReasonClaimUnfit: a PersistentVolumeClaim has the wrong volume mode, is being
	// deleted or has lost its volume, or is not as the template describes it.
	ReasonClaimUnfit = "ClaimUnfit"
	// ReasonStorageMissing: the node has bricks where none of its storage is; the
	// pod is left as it runs.
	ReasonStorageMissing = "StorageMissing"
	// ReasonStorageClassNotFound: the StorageClass of a template is not there.
	ReasonStorageClassNotFound = "StorageClassNotFound"
	// ReasonImageMissing: nothing says which image pods run: neither
	// spec.image of the cluster nor the operator's --node-image.
	ReasonImageMissing = "ImageMissing"
	// ReasonDeviceNotEmpty: a device holds something that is not this pool's. It
	// is never formatted; the message says what was found.
	ReasonDeviceNotEmpty = "DeviceNotEmpty"
	// ReasonHostNotUnique: the affinity of a node with devices does not select
	// exactly one host.
	ReasonHostNotUnique = "HostNotUnique"
	// ReasonNameTooLong: the names of node, cluster and namespace make an
	// address that glusterd cannot make file names of.
	ReasonNameTooLong = "NameTooLong"
	// ReasonNameTaken: an object of this name exists that Anthill did not make
	// for this cluster. It is left alone.
	ReasonNameTaken = "NameTaken"
	// ReasonRemoveNodeNotSupported: the node has joined and is being deleted.
	// This version cannot take a node out of a pool.
	ReasonRemoveNodeNotSupported = "RemoveNodeNotSupported"
)

// Reasons of Blocked on a volume.
const (
	// ReasonNotEnoughServers: no placement keeps the copies of a set on
	// different nodes. The message says how many more nodes are needed.
	ReasonNotEnoughServers = "NotEnoughServers"
	// ReasonVolumeExistsWithoutMarker: the pool has a volume of this name that
	// Anthill did not make. It is left alone.
	ReasonVolumeExistsWithoutMarker = "VolumeExistsWithoutMarker"
	// ReasonLayoutDiffers: the volume in gluster has a layout that no operation
	// leads from to the declared one, for example bricks added by hand.
	ReasonLayoutDiffers = "LayoutDiffers"
	// ReasonConfirmationMissing: the object is being deleted and
	// AnnotationConfirmDelete is there with another value than its name.
	// Correct it to delete the volume, or remove it to retain the volume.
	ReasonConfirmationMissing = "ConfirmationMissing"
)

// Reasons of Blocked on any object.
const (
	// ReasonOperationSuspended: an operation is parked. The message has the
	// cause and the command that decides how it goes on.
	ReasonOperationSuspended = "OperationSuspended"
	// ReasonIntentAbandoned: a person abandoned the operation that would make
	// it so; it is not planned again until the spec changes or
	// `anthill journal retry` releases it.
	ReasonIntentAbandoned = "IntentAbandoned"
	// ReasonGoalNotSeen: operations completed again and again, and what they
	// made is not there: somebody, or something, undoes it. It is not planned
	// again until the operator restarts or the difference changes.
	ReasonGoalNotSeen = "GoalNotSeen"
	// ReasonJournalFull: the journal has no space for new operations. What is
	// open is finished. Free disk space, or raise the journal's maximum size.
	ReasonJournalFull = "JournalFull"
	// ReasonWaitingForDeletion: the object is being deleted and others, which
	// the message names, must go first.
	ReasonWaitingForDeletion = "WaitingForDeletion"
)

// Reasons of SpecAccepted=False.
const (
	// ReasonOptionRefused: options are dangerous, unknown or not settable where
	// they are declared; the message names each and why. All others are set.
	ReasonOptionRefused = "OptionRefused"
)
