package gate

import "time"

// Paths on a server. Exactly these two are Anthill's.
const (
	BinaryPath = "/usr/local/lib/anthill/gate"
	StateDir   = "/var/lib/anthill"
)

// Exit codes of the gate itself; a child's exit code is in the reply.
const (
	ExitOK      = 0
	ExitUsage   = 2
	ExitFailed  = 1
	ExitBusy    = 75 // the lock was not free within LockWait: an earlier command still runs
	ExitFenced  = 77 // a higher fence, another instance or another pool owns this server
	ExitMissing = 127
)

// ProtocolVersion is the version of Request and Reply.
const ProtocolVersion = 1

// A Verb is what a request asks for.
type Verb string

// Reads take no lock and no fence. All others take the lock and need the
// request's pool, instance and fence to be at least the recorded ones.
const (
	Hello   Verb = "hello"   // read: who owns this server, which gate is this
	Observe Verb = "observe" // read: everything the idle view needs, in one go
	Read    Verb = "read"    // read: a gluster command from the list of ReadOnly
	GetRecv Verb = "receipt" // read: the receipt of an attempt
	Resolve Verb = "resolve" // read: look names up as glusterd on this server would
	History Verb = "history" // read: the tail of glusterd's cmd_history.log, in Result.Stdout
	Inspect Verb = "inspect" // read: what is at a brick path, see BrickInfo

	Claim     Verb = "claim"      // take an unclaimed server, or raise the fence of our own
	Run       Verb = "run"        // a mutating gluster command
	MakeBrick Verb = "make-brick" // make a brick directory on a file system that is the recorded one
	Retire    Verb = "retire"     // rename a brick root into .anthill-retired/<id>
	Register  Verb = "register"   // record the mount identity of brick directories
	Drop      Verb = "drop-brick" // remove an empty brick directory of ours that never became a brick
	Release   Verb = "release"    // let go of a server that has no peers and no volumes: the gate removes itself
	Reclaim   Verb = "reclaim"    // clear what a failed volume create left on our own brick directory (LAB-3)

	// Of nodes that are pods only: what they were told is in NodeFile.
	FormatDevice Verb = "format" // make a file system on a device that holds nothing
	MountDevice  Verb = "mount"  // mount the file system of a device at its directory

	// Install is spoken by unix transports only: Size bytes of the gate's binary
	// follow the request. Over ssh the gate is installed without a gate.
	Install Verb = "install"
)

// Limits. What is larger is refused or, for output, cut and marked.
const (
	RequestBytesMax = 1 << 20
	OutputBytesMax  = 256 << 10 // of a mutating child, each stream
	ReadBytesMax    = 4 << 20   // of a reading child, each stream, and of get-state
	HistoryBytesMax = 256 << 10
	ReplyBytesMax   = 16 << 20
	BinaryBytesMax  = 256 << 20
	ReceiptsMax     = 256 // receipts kept; the oldest completed ones go first
	DirsMax         = 64  // brick directories registered on one server
	StorageMax      = 64  // devices of a pod
	NamesMax        = 256 // names in one Resolve
	DeadlineMax     = time.Hour
	DeadlineDefault = 2 * time.Minute // of a child when the request names none
)

// A Reason says in one stable word why a request was refused.
type Reason string

// Reasons, with the exit they come with.
const (
	ReasonUsage         Reason = "usage"          // ExitUsage: the request makes no sense
	ReasonVersion       Reason = "version"        // ExitUsage: another ProtocolVersion
	ReasonNotAllowed    Reason = "not-allowed"    // ExitUsage: an argv outside the list of its verb
	ReasonAttemptReused Reason = "attempt-reused" // ExitUsage: the attempt belongs to another command
	ReasonBusy          Reason = "busy"           // ExitBusy: Reply.Receipt names what runs
	ReasonForeignPool   Reason = "foreign-pool"   // ExitFenced
	ReasonOtherInstance Reason = "other-instance" // ExitFenced
	ReasonLowerFence    Reason = "lower-fence"    // ExitFenced
	ReasonUnclaimed     Reason = "unclaimed"      // ExitFailed: claim first
	ReasonNotFresh      Reason = "not-fresh"      // ExitFailed: glusterd has peers or volumes
	ReasonInterrupted   Reason = "interrupted"    // ExitFailed: this attempt began and its end was not seen
	ReasonNoReceipt     Reason = "no-receipt"     // ExitFailed: no such attempt is on record
	ReasonMount         Reason = "mount"          // ExitFailed: Reply.Mounts says what was wanted and what is there
	ReasonBrick         Reason = "brick"          // ExitFailed: Reply.Brick says what is in the way
	ReasonDevice        Reason = "device"         // ExitFailed: Reply.Device says what is on it
	ReasonNotPod        Reason = "not-a-pod"      // ExitFailed: there is no NodeFile, nothing is formatted or mounted here
	ReasonState         Reason = "state"          // ExitFailed: the gate's own files cannot be read or written
	ReasonNoGluster     Reason = "no-gluster"     // ExitMissing: no gluster command on this server
	ReasonNotInstalled  Reason = "not-installed"  // ExitMissing: unix transports only, there is no gate
)

// A Request is one request to a gate.
type Request struct {
	Version  int           `json:"version"`
	Verb     Verb          `json:"verb"`
	Pool     string        `json:"pool,omitempty"`     // pool id (UUID)
	Instance string        `json:"instance,omitempty"` // operator instance
	Fence    uint64        `json:"fence,omitempty"`
	Attempt  string        `json:"attempt,omitempty"`  // required for what changes something, but for Claim and Release: names the receipt
	Deadline time.Duration `json:"deadline,omitempty"` // for the child; the gate kills its process group then
	LockWait time.Duration `json:"lockWait,omitempty"` // how long to wait for an earlier command; 0: do not wait

	Argv     []string   `json:"argv,omitempty"`     // Run, Read: argv[0] must be "gluster"; see Allowed
	TakeOver string     `json:"takeOver,omitempty"` // Claim: the instance this one may replace
	Dirs     []string   `json:"dirs,omitempty"`     // Register, Observe: brick directories (roots)
	Brick    *BrickPath `json:"brick,omitempty"`    // MakeBrick, Drop, Retire, Reclaim, Inspect
	Names    []string   `json:"names,omitempty"`    // Resolve
	Fresh    bool       `json:"fresh,omitempty"`    // Claim of an unclaimed server: refuse unless glusterd has no peers and no volumes
	VolumeID string     `json:"volumeID,omitempty"` // Reclaim: the gluster volume id found by Inspect, which must still be there
	Device   *DeviceRef `json:"device,omitempty"`   // FormatDevice, MountDevice
	Size     int64      `json:"size,omitempty"`     // Install: bytes that follow the request
}

// A BrickPath is <Root>/<Volume>/<Leaf>/brick. Root is a registered directory;
// the other two are single path elements.
type BrickPath struct {
	Root   string `json:"root"`
	Volume string `json:"volume"`         // volume id
	Leaf   string `json:"leaf,omitempty"` // <set>-<position>-<generation>; empty for Retire: the whole volume
}

// A DeviceRef names a device and the file system it has, or is to have.
type DeviceRef struct {
	Name string `json:"name"` // as in NodeFile
	UUID string `json:"uuid"`
}

// A Reply is the answer to a Request. Exit tells how the gate fared; for Run
// and Read it is ExitOK whenever the child ran, whatever its own exit code.
type Reply struct {
	Version int    `json:"version"`
	Exit    int    `json:"exit"`
	Error   string `json:"error,omitempty"`  // one line, when Exit is not ExitOK
	Reason  Reason `json:"reason,omitempty"` // when Exit is not ExitOK

	Owner    *Owner       `json:"owner,omitempty"`  // Hello, Observe, Claim, and whenever Exit is ExitFenced
	Digest   string       `json:"digest,omitempty"` // Hello, Observe: SHA-256 of the gate's own file
	Result   *Result      `json:"result,omitempty"`
	Receipt  *Receipt     `json:"receipt,omitempty"`
	State    *ServerState `json:"state,omitempty"`
	Resolved []Resolved   `json:"resolved,omitempty"`
	Mounts   []Mount      `json:"mounts,omitempty"` // Register: what was recorded; ReasonMount: what is wrong
	Brick    *BrickInfo   `json:"brick,omitempty"`  // MakeBrick, Retire, Reclaim, Inspect; ReasonBrick: what is in the way
	Device   *Device      `json:"device,omitempty"` // FormatDevice, MountDevice: as it is now; ReasonDevice: what is in the way
}

// Owner is who may change the server.
type Owner struct {
	Pool     string `json:"pool,omitempty"`
	Instance string `json:"instance,omitempty"`
	Fence    uint64 `json:"fence,omitempty"`
}

// A Result is what a child did. Output is bounded (OutputBytesMax each).
type Result struct {
	Exit      int           `json:"exit"` // 128+n when signal n ended it
	Stdout    []byte        `json:"stdout,omitempty"`
	Stderr    []byte        `json:"stderr,omitempty"`
	Truncated bool          `json:"truncated,omitempty"`
	TimedOut  bool          `json:"timedOut,omitempty"` // the gate killed it at its deadline
	Elapsed   time.Duration `json:"elapsed,omitempty"`
}

// A Receipt is the trace of one attempt, written before the child starts and
// completed when it ended. Ended zero and not Running: the gate was killed; the
// child has ended too (it holds the lock, and the lock is free).
type Receipt struct {
	Attempt string   `json:"attempt"`
	Verb    Verb     `json:"verb"`
	Argv    []string `json:"argv,omitempty"`
	Fence   uint64   `json:"fence"`
	Started int64    `json:"started"` // unix ns, the server's clock
	Ended   int64    `json:"ended,omitempty"`
	Result  *Result  `json:"result,omitempty"`
	Running bool     `json:"running,omitempty"` // filled in on reading: somebody holds the lock for it

	// GlusterdStart identifies the glusterd that got the command (boot id, pid
	// and start time): a different one now means it restarted since.
	GlusterdStart string `json:"glusterdStart,omitempty"`
}

// ServerState is what Observe sees. All of it is local and lock-free.
type ServerState struct {
	Hostname string   `json:"hostname"`
	Glusterd Glusterd `json:"glusterd"`
	UUID     string   `json:"uuid,omitempty"`    // from glusterd.info; empty: not made yet
	Peers    []string `json:"peers,omitempty"`   // UUIDs that have a file in peers/
	Volumes  []string `json:"volumes,omitempty"` // names that have a folder in vols/
	State    []byte   `json:"state,omitempty"`   // output of gluster get-state; empty when glusterd does not answer
	StateErr string   `json:"stateErr,omitempty"`
	Mounts   []Mount  `json:"mounts,omitempty"`  // of the registered and asked for directories
	Bricks   []Brick  `json:"bricks,omitempty"`  // brick processes by pid file
	FreeMeta uint64   `json:"freeMeta"`          // bytes free below /var/lib/glusterd
	Devices  []Device `json:"devices,omitempty"` // of a pod
}

// Glusterd is the daemon's process.
type Glusterd struct {
	Running bool   `json:"running"`
	Start   string `json:"start,omitempty"` // identifies this run of it, see Receipt.GlusterdStart
	Version string `json:"version,omitempty"`
}

// A Mount is the identity of the file system under a brick directory, as
// recorded at registration (Want) and as it is now (Have).
type Mount struct {
	Dir       string   `json:"dir"`
	Want      *MountID `json:"want,omitempty"` // nil: not registered
	Have      *MountID `json:"have,omitempty"` // nil: see Error
	Error     string   `json:"error,omitempty"`
	SizeBytes uint64   `json:"sizeBytes,omitempty"`
	FreeBytes uint64   `json:"freeBytes,omitempty"`
}

// A MountID tells one mounted file system from another.
type MountID struct {
	FSType     string `json:"fsType"`
	FSUUID     string `json:"fsUUID,omitempty"`
	Source     string `json:"source,omitempty"`
	MountPoint string `json:"mountPoint"`
	FSRoot     string `json:"fsRoot,omitempty"` // the folder of the file system that is mounted, when not its root
	Root       bool   `json:"root,omitempty"`   // it is the root file system: refused
}

// A Brick is a brick process of this server.
type Brick struct {
	Volume string `json:"volume"`
	Path   string `json:"path"`
	PID    int    `json:"pid"`
	Alive  bool   `json:"alive"`
}

// Resolved is one name as this server sees it.
type Resolved struct {
	Name    string   `json:"name"`
	Addrs   []string `json:"addrs,omitempty"`
	Local   bool     `json:"local,omitempty"` // one of the addresses is this server's own
	Reverse []string `json:"reverse,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// A Device is a block device of a pod.
type Device struct {
	Name       string `json:"name"`
	Path       string `json:"path"`
	SizeBytes  uint64 `json:"sizeBytes,omitempty"`
	Holds      string `json:"holds,omitempty"` // what was found on it; empty: nothing at all
	UUID       string `json:"uuid,omitempty"`  // of its XFS
	Label      string `json:"label,omitempty"`
	Unfinished bool   `json:"unfinished,omitempty"` // its XFS was not made to its end
	Dir        string `json:"dir"`                  // where it belongs
	Mounted    bool   `json:"mounted,omitempty"`    // it is mounted there
	Recorded   string `json:"recorded,omitempty"`   // UUID of the file system this node made or mounted on it
	Error      string `json:"error,omitempty"`      // it cannot be looked at, or is not what it was
}

// A BrickInfo is what is at a BrickPath.
type BrickInfo struct {
	Path      string   `json:"path"`                // <root>/<volume>/<leaf>/brick, or <root>/<volume> without a leaf
	Exists    bool     `json:"exists"`              // it is there and a directory
	VolumeID  string   `json:"volumeID,omitempty"`  // xattr trusted.glusterfs.volume-id as a UUID
	Empty     bool     `json:"empty,omitempty"`     // it holds nothing at all
	Leftover  bool     `json:"leftover,omitempty"`  // it holds at most an empty skeleton of .glusterfs: no data was ever there
	Entries   []string `json:"entries,omitempty"`   // the first few names in it
	Retired   []string `json:"retired,omitempty"`   // paths below .anthill-retired this volume was renamed to
	BrickOf   string   `json:"brickOf,omitempty"`   // glusterd on this server knows it as a brick of this volume
	ServedBy  int      `json:"servedBy,omitempty"`  // pid of a live brick process below the path
	MountedOn []string `json:"mountedOn,omitempty"` // mount points below the path
}
