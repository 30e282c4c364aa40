package gluster

// A Reason says in one CamelCase word why an answer is not clean. It is fit for
// a condition.
type Reason string

// Reasons, grouped by what they are about.
const (
	// Between us and glusterd.
	ReasonServerUnreachable Reason = "ServerUnreachable" // the command did not start
	ReasonServerBusy        Reason = "ServerBusy"        // an earlier command still runs there
	ReasonServerFenced      Reason = "ServerFenced"      // somebody else owns the server
	ReasonReplyLost         Reason = "ReplyLost"         // it started, the answer did not arrive
	ReasonTimedOut          Reason = "TimedOut"          // no answer in time; the command may go on
	ReasonDaemonDown        Reason = "GlusterdDown"      // not there, or it died under the command
	ReasonCutOutput         Reason = "OutputTooLarge"
	ReasonBadOutput         Reason = "OutputNotUnderstood"
	ReasonUsage             Reason = "BadCommand" // the CLI refuses the words

	// The transaction.
	ReasonAnotherTransaction Reason = "AnotherTransaction"
	ReasonHalfApplied        Reason = "CommitFailed"  // some servers may have applied it
	ReasonUnrecognized       Reason = "GlusterFailed" // a text that is in no table
	ReasonQuorum             Reason = "ServerQuorumNotMet"

	// Peers.
	ReasonPeerSelf           Reason = "PeerIsSelf"
	ReasonPeerKnown          Reason = "PeerKnown"
	ReasonPeerForeign        Reason = "PeerInAnotherPool"
	ReasonPeerVolumeClash    Reason = "PeerHasSameVolume"
	ReasonPeerCloned         Reason = "PeerHasOurUUID"
	ReasonPeerForgotUs       Reason = "PeerDoesNotKnowUs"
	ReasonPeerNotAdded       Reason = "PeerNotAdded"
	ReasonPeerSnapshots      Reason = "PeerSnapshotsConflict"
	ReasonPeerDetaching      Reason = "PeerDetaching"
	ReasonPeerUnreachable    Reason = "PeerUnreachable"
	ReasonHostNotMember      Reason = "HostNotMember"
	ReasonHostNotConnected   Reason = "HostNotConnected"
	ReasonHostUnknown        Reason = "HostUnknown"
	ReasonSomePeersDown      Reason = "SomePeersDown"
	ReasonClientsTooOld      Reason = "ClientsTooOld"
	ReasonOpVersionReached   Reason = "OpVersionReached"
	ReasonOpVersionTooHigh   Reason = "OpVersionTooHigh"
	ReasonOptionUnknown      Reason = "OptionUnknown"
	ReasonOptionInvalid      Reason = "OptionInvalid"
	ReasonOptionNotForAll    Reason = "OptionNotClusterWide"
	ReasonOptionNotForOne    Reason = "OptionClusterWideOnly"
	ReasonOptionPrerequisite Reason = "OptionNeedsAnother"

	// Volumes.
	ReasonVolumeExists      Reason = "VolumeExists"
	ReasonNoVolume          Reason = "VolumeNotFound"
	ReasonVolumeStarted     Reason = "VolumeStarted"
	ReasonVolumeNotStarted  Reason = "VolumeNotStarted"
	ReasonVolumeSnapshots   Reason = "VolumeHasSnapshots"
	ReasonVolumeFiles       Reason = "VolumeFilesNotMade" // leftovers in vols/V: LAB-17
	ReasonNotReplicated     Reason = "VolumeNotReplicated"
	ReasonRebalanceRunning  Reason = "RebalanceRunning"
	ReasonNoRebalance       Reason = "RebalanceNotStarted"
	ReasonRemoveBrickOpen   Reason = "RemoveBrickOpen"
	ReasonSingleSet         Reason = "VolumeHasOneSet"
	ReasonRebalanceNotBegun Reason = "RebalanceProcessFailed"

	// Bricks.
	ReasonBrickListed        Reason = "BrickListed"        // it is a brick of a volume already
	ReasonBrickPartOfVolume  Reason = "BrickPartOfVolume"  // it carries a volume's mark: LAB-3
	ReasonBrickNested        Reason = "BrickInsideVolume"  // a parent does
	ReasonBrickParentMissing Reason = "BrickParentMissing" // not mounted, or not made
	ReasonBrickReadOnly      Reason = "BrickReadOnly"
	ReasonBrickMountPoint    Reason = "BrickIsMountPoint"
	ReasonBrickRootFS        Reason = "BrickOnRootFileSystem"
	ReasonBrickNoXattr       Reason = "BrickWithoutXattr"
	ReasonBrickOrder         Reason = "BricksOfSetTogether"
	ReasonBadBrickCount      Reason = "BrickCountWrong"
	ReasonArbiterReplica     Reason = "ArbiterReplicaFixed"
	ReasonBrickDown          Reason = "BrickDown"
	ReasonBrickDirMissing    Reason = "BrickDirMissing"
	ReasonBrickNoMark        Reason = "BrickUnmarked" // an empty disk in a brick's place
	ReasonBrickForeign       Reason = "BrickOfAnotherVolume"
)
