// Package gate is the one door through which a Gluster server is changed: a
// small program on the server that refuses operators with a lower fence and
// operators of another pool, owns the deadline of what it runs, survives a
// lost connection and leaves a receipt of every attempt. It imports nothing of
// ours. One request per process: JSON on standard input, a framed JSON reply on
// standard output (see Encode). docs/decisions/0003-the-gate.md has the why.
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

	Claim     Verb = "claim"      // take an unclaimed server, or raise the fence of our own
	Run       Verb = "run"        // a mutating gluster command
	MakeBrick Verb = "make-brick" // make a brick directory on a file system that is the recorded one
	Retire    Verb = "retire"     // rename a brick root into .anthill-retired/<id>
	Register  Verb = "register"   // record the mount identity of brick directories
)

// A Request is one request to a gate.
type Request struct {
	Version  int           `json:"version"`
	Verb     Verb          `json:"verb"`
	Pool     string        `json:"pool,omitempty"`     // pool id (UUID)
	Instance string        `json:"instance,omitempty"` // operator instance
	Fence    uint64        `json:"fence,omitempty"`
	Attempt  string        `json:"attempt,omitempty"`  // required for Run, MakeBrick, Retire, Register: names the receipt
	Deadline time.Duration `json:"deadline,omitempty"` // for the child; the gate kills its process group then
	LockWait time.Duration `json:"lockWait,omitempty"` // how long to wait for an earlier command; 0: do not wait

	Argv     []string   `json:"argv,omitempty"`     // Run, Read: argv[0] must be "gluster"
	TakeOver string     `json:"takeOver,omitempty"` // Claim: the instance this one may replace
	Dirs     []string   `json:"dirs,omitempty"`     // Register, Observe: brick directories (roots)
	Brick    *BrickPath `json:"brick,omitempty"`    // MakeBrick, Retire
	Names    []string   `json:"names,omitempty"`    // Resolve
	Fresh    bool       `json:"fresh,omitempty"`    // Claim of an unclaimed server: refuse unless glusterd has no peers and no volumes
}

// A BrickPath is <Root>/<Volume>/<Leaf>/brick. Root is a registered directory;
// the other two are single path elements.
type BrickPath struct {
	Root   string `json:"root"`
	Volume string `json:"volume"`         // volume id
	Leaf   string `json:"leaf,omitempty"` // <set>-<position>-<generation>; empty for Retire: the whole volume
}

// A Reply is the answer to a Request. Exit tells how the gate fared; for Run
// and Read it is ExitOK whenever the child ran, whatever its own exit code.
type Reply struct {
	Version int    `json:"version"`
	Exit    int    `json:"exit"`
	Error   string `json:"error,omitempty"` // one line, when Exit is not ExitOK

	Owner    *Owner       `json:"owner,omitempty"`  // Hello, Observe, Claim, and whenever Exit is ExitFenced
	Digest   string       `json:"digest,omitempty"` // Hello, Observe: SHA-256 of the gate's own file
	Result   *Result      `json:"result,omitempty"`
	Receipt  *Receipt     `json:"receipt,omitempty"`
	State    *ServerState `json:"state,omitempty"`
	Resolved []Resolved   `json:"resolved,omitempty"`
	Mounts   []Mount      `json:"mounts,omitempty"` // Register: what was recorded
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
	Mounts   []Mount  `json:"mounts,omitempty"` // of the registered and asked for directories
	Bricks   []Brick  `json:"bricks,omitempty"` // brick processes by pid file
	FreeMeta uint64   `json:"freeMeta"`         // bytes free below /var/lib/glusterd
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
	Root       bool   `json:"root,omitempty"` // it is the root file system: refused
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
