package gluster

// A row says how one answer of GlusterFS 10.3 is read.
type row struct {
	verbs   string // comma separated, "volume " may be left out; empty: any command
	errno   int    // 0: any
	text    string // "*" any words, "{host}" the name of a server; without phase, on one line
	verdict Verdict
	class   Class
	reason  Reason
}

// plainTable reads answers that are not XML: the command line speaks, not
// glusterd. That glusterd was not there can also mean that it died under the
// command.
var plainTable = []row{
	{"", 0, "Connection failed. Please check if gluster daemon is operational.*", Unknown, Uncertain, ReasonDaemonDown},
	{"", 0, "Error : Request timed out*", Unknown, Uncertain, ReasonTimedOut},
	{"", 0, "*Usage:*", Term, Permanent, ReasonUsage},
}

// classTable is gluster-facts C for the commands of argv.go; the first row that
// matches counts. The errno of a probe is an enumeration of its own and small.
//
// A Done row is Transient: nothing changed, and whether it is what was wanted
// only a probe can tell. A Need row is Transient where another step, or a
// person at the server, makes it go away by itself, and Permanent where the
// operation needs another plan.
var classTable = []row{
	// Any command.
	{"", 0, "Another transaction * in progress*", Retry, Busy, ReasonAnotherTransaction},
	{"", 0, "Quorum not met. Volume operation not allowed*", Retry, Transient, ReasonQuorum},
	{"", 0, "One of the client * is running with op-version *", Need, Permanent, ReasonClientsTooOld},
	{"", 0, "Volume * has one or more connected clients of a version lower than *", Need, Permanent, ReasonClientsTooOld},

	// peer probe.
	{"peer probe", 1, "*", Done, Transient, ReasonPeerSelf},
	{"peer probe", 2, "*", Done, Transient, ReasonPeerKnown},
	{"peer probe", 3, "*", Term, Permanent, ReasonPeerForeign},
	{"peer probe", 4, "*", Term, Permanent, ReasonPeerVolumeClash},
	{"peer probe", 5, "*", Term, Permanent, ReasonPeerCloned},
	{"peer probe", 6, "*", Need, Permanent, ReasonPeerForgotUs},
	{"peer probe", 7, "*", Retry, Transient, ReasonPeerNotAdded},
	{"peer probe", 8, "*", Retry, Transient, ReasonQuorum},
	{"peer probe", 9, "*", Term, Permanent, ReasonPeerSnapshots},
	{"peer probe", 10, "*", Term, Permanent, ReasonPeerSnapshots},
	{"peer probe", 11, "*", Retry, Transient, ReasonPeerDetaching},
	{"peer probe", 107, "*", Retry, Transient, ReasonPeerUnreachable},

	// Bricks of create and add-brick.
	{"create", 0, "Volume * already exists", Done, Transient, ReasonVolumeExists},
	{"create", 0, "Brick: {host}:/* not available. Brick may be containing or be contained by an existing brick*", Term, Permanent, ReasonBrickListed},
	{"add-brick", 0, "Brick: {host}:/* not available. Brick may be containing or be contained by an existing brick*", Done, Transient, ReasonBrickListed},
	{"create,add-brick", 0, "parent directory /* is already part of a volume", Term, Permanent, ReasonBrickNested},
	{"create,add-brick", 0, "/* is already part of a volume", Term, Permanent, ReasonBrickPartOfVolume},
	{"create,add-brick", 0, "Host {host} is not in 'Peer in Cluster' state", Need, Transient, ReasonHostNotMember},
	{"create,add-brick", 0, "Host {host} not connected", Retry, Transient, ReasonHostNotConnected},
	{"create,add-brick", 0, "Failed to find host {host}", Need, Transient, ReasonHostUnknown},
	{"create,add-brick", 0, "Failed to create brick directory for brick {host}:/*Read-only file system", Need, Transient, ReasonBrickReadOnly},
	{"create,add-brick", 0, "Failed to create brick directory for brick {host}:/*", Need, Transient, ReasonBrickParentMissing},
	{"create,add-brick", 0, "The brick {host}:/* is a mount point*", Term, Permanent, ReasonBrickMountPoint},
	{"create,add-brick", 0, "The brick {host}:/* is being created in the root partition*", Term, Permanent, ReasonBrickRootFS},
	{"create,add-brick", 0, "Glusterfs is not supported on brick: {host}:/*", Term, Permanent, ReasonBrickNoXattr},
	{"create,add-brick", 0, "Multiple bricks of a * volume are present on the same server*", Term, Permanent, ReasonBrickOrder},
	{"create", 0, "Failed to create volume files", Term, Permanent, ReasonVolumeFiles},
	{"add-brick", 0, "Incorrect number of bricks supplied * with count *", Term, Permanent, ReasonBadBrickCount},
	{"add-brick", 0, "Increasing replica count for arbiter volumes is not supported.", Term, Permanent, ReasonArbiterReplica},
	{"add-brick", 0, "*Volume must not be in stopped state when replica-count needs to*be increased.", Need, Permanent, ReasonVolumeNotStarted},
	{"add-brick", 0, "Brick /* is down, changing replica count needs all the bricks to be up to avoid data loss", Need, Transient, ReasonBrickDown},
	{"add-brick", 0, "Volume name * rebalance is in progress. Please retry after completion", Retry, Transient, ReasonRebalanceRunning},
	{"add-brick", 0, "Unable to get volinfo for volume name *", Term, Permanent, ReasonNoVolume},

	// start, stop, delete.
	{"start", 0, "Volume * already started", Done, Transient, ReasonVolumeStarted},
	{"start", 0, "Failed to find brick directory /* for volume *", Need, Transient, ReasonBrickDirMissing},
	{"start", 0, "Failed to get extended attribute trusted.glusterfs.volume-id for brick dir /*", Need, Permanent, ReasonBrickNoMark},
	{"start", 0, "Volume id mismatch for brick {host}:/*", Term, Permanent, ReasonBrickForeign},
	{"stop", 0, "Volume * is not in the started state", Done, Transient, ReasonVolumeNotStarted},
	{"stop", 0, "rebalance session is in progress for the volume *", Retry, Transient, ReasonRebalanceRunning},
	{"delete", 0, "Volume * has been started.*Volume needs to be stopped before deletion.", Need, Permanent, ReasonVolumeStarted},
	{"delete", 0, "Cannot delete Volume * ,as it has * snapshots*", Need, Permanent, ReasonVolumeSnapshots},
	{"delete", 0, "Some of the peers are down", Retry, Transient, ReasonSomePeersDown},
	{"delete", 0, "Volume * does not exist", Done, Transient, ReasonNoVolume},

	// Options.
	{"set all", 0, "Required op-version (*) should not be equal or lower than current cluster op-version (*).", Done, Transient, ReasonOpVersionReached},
	{"set all", 0, "Required op_version (*) is not supported. Max supported op version is *", Need, Permanent, ReasonOpVersionTooHigh},
	{"set all", 0, "Not a valid option for all volumes", Term, Permanent, ReasonOptionNotForAll},
	{"set all", 0, "Brick-multiplexing is not enabled. Please enable brick multiplexing before trying to set this option.", Need, Transient, ReasonOptionPrerequisite},
	{"set,set all,reset,reset all", 0, "option : * does not exist*", Term, Permanent, ReasonOptionUnknown},
	{"set,set all,reset,reset all", 0, "Option * does not exist*", Term, Permanent, ReasonOptionUnknown},
	{"get", 0, "Did you mean *", Term, Permanent, ReasonOptionUnknown},
	{"set", 0, "Not a valid option for single volume", Term, Permanent, ReasonOptionNotForOne},
	{"set,set all", 0, "invalid * format * in *", Term, Permanent, ReasonOptionInvalid},
	{"set,set all", 0, "option *: '*' is not valid*", Term, Permanent, ReasonOptionInvalid},
	{"set,set all", 0, "'*' in 'option *' is out of range*", Term, Permanent, ReasonOptionInvalid},
	{"set,set all", 0, "Error, Validation Failed", Term, Permanent, ReasonOptionInvalid},

	// rebalance.
	{"rebalance start", 0, "Rebalance on * is already started", Done, Transient, ReasonRebalanceRunning},
	{"rebalance start", 0, "A remove-brick task on volume * is not yet committed. Either commit or stop the remove-brick task.", Need, Permanent, ReasonRemoveBrickOpen},
	{"rebalance start,rebalance status", 0, "Volume * is not a distribute volume or contains only 1 brick.*Not performing rebalance", Done, Transient, ReasonSingleSet},
	{"rebalance start", 0, "Volume * needs to be started to perform rebalance", Need, Permanent, ReasonVolumeNotStarted},
	{"rebalance start", 0, "failed to start the rebalance*", Retry, Transient, ReasonRebalanceNotBegun},
	{"rebalance status", 0, "Rebalance not started for volume *", Done, Transient, ReasonNoRebalance},

	// status, heal info, info, and any command on a volume that is gone.
	{"status", 0, "Volume * is not started", Need, Transient, ReasonVolumeNotStarted},
	{"heal info", 0, "*is not of type replicate/disperse", Done, Transient, ReasonNotReplicated},
	{"heal info", 0, "*: Not able to fetch volfile from glusterd", Need, Transient, ReasonVolumeNotStarted},
	{"", 0, "Volume * does not exist", Term, Permanent, ReasonNoVolume},
	{"info", 30806, "*", Term, Permanent, ReasonNoVolume},
}
