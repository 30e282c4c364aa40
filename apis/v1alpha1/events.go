package v1alpha1

// Reasons of Kubernetes events. An event tells of something that has happened,
// once; its note names the operation in the journal.
const (
	// EventOperationPlanned: an operation was put into the journal.
	EventOperationPlanned = "OperationPlanned"
	// EventOperationCompleted: an operation reached its goal.
	EventOperationCompleted = "OperationCompleted"
	// EventOperationSuspended (Warning): an operation was parked.
	EventOperationSuspended = "OperationSuspended"
	// EventOperationEnded (Warning): an operation ended without its goal:
	// failed, cancelled, abandoned or superseded.
	EventOperationEnded = "OperationEnded"
	// EventRebalanceIncomplete (Warning): bricks were added, some files were
	// not moved.
	EventRebalanceIncomplete = "RebalanceIncomplete"

	// EventPoolCreated: a cluster got its pool id and first server.
	EventPoolCreated = "PoolCreated"
	// EventPoolAdopted: the operator took over a pool of its own instance whose
	// history is not in its journal.
	EventPoolAdopted = "PoolAdopted"
	// EventJournalRebuilt (Warning): the journal was lost, damaged or older
	// than the pool's anchor; what is true was taken from the pool.
	EventJournalRebuilt = "JournalRebuilt"
	// EventTakenOver (Warning): the pool was taken over from another operator
	// instance, as AnnotationTakeOver asked.
	EventTakenOver = "TakenOver"

	// EventNodeJoined: a server became a peer.
	EventNodeJoined = "NodeJoined"
	// EventVolumeCreated: a volume was created and serves.
	EventVolumeCreated = "VolumeCreated"
	// EventVolumeExpanded: a volume has more bricks.
	EventVolumeExpanded = "VolumeExpanded"
	// EventVolumeDeleted: a volume was deleted and its brick directories
	// retired.
	EventVolumeDeleted = "VolumeDeleted"
	// EventOptionsChanged: options were set or reset.
	EventOptionsChanged = "OptionsChanged"
	// EventRetained: an object was deleted and what it stood for stays in
	// gluster as it is.
	EventRetained = "Retained"
	// EventPurged (Warning): a cluster was deleted, and its data was removed with
	// the claims it was on. The note says what stays, and where.
	EventPurged = "Purged"
)
