package planner

// Observed is one pool as its servers see it, each for itself. It is never
// remembered: a new one is gathered for every cycle.
type Observed struct {
	// Servers is keyed by the name of the GlusterNode. A node that was not asked
	// has no entry.
	Servers map[string]Server
	// GateDigest is the SHA-256 of the gate this operator brings along.
	GateDigest string
	// Heals is keyed by volume name; only filled in when somebody had reason to
	// ask (heal info is not part of the idle view).
	Heals map[string]Heal
	// Classes are the StorageClasses there are, if a node is a pod; nil: not
	// asked.
	Classes []string
	// Hosts counts, for each node with an affinity, the Kubernetes nodes it
	// selects; a node that is missing was not asked.
	Hosts map[string]int
}

// A Server is one server's own view.
type Server struct {
	// Reason is empty when the server answered, else a condition reason
	// (SecretNotFound, ServerUnreachable, HostKeyMismatch, LoginRefused ...).
	Reason  string
	Message string

	Gate     Gate
	UUID     string    // of its glusterd; empty: none made yet
	Peers    []string  // UUIDs with a file in peers/, whether or not glusterd runs
	Volumes  []string  // names with a folder in vols/, likewise
	Glusterd bool      // the daemon runs
	View     *PoolView // what glusterd answered; nil when it did not
	ViewErr  string
	Mounts   []Mount
	Bricks   []BrickProcess
	FreeMeta uint64 // bytes free below /var/lib/glusterd

	// Pod is set for a node that is one, also when it does not answer.
	Pod *Pod
	// Devices are those of a pod, as its gate sees them.
	Devices []Device
}

// A Pod is what Kubernetes says of a node's pod.
type Pod struct {
	// Declared: the StatefulSet is there. Foreign: it is somebody else's.
	Declared, Foreign bool
	// Declares is the digest of what the StatefulSet describes, Runs that of what
	// the pod was made from; empty: there is none, or nobody knows.
	Declares, Runs string
	// UID of the pod; Host is the Kubernetes node it runs on.
	UID, Host string
	// Running: its container runs, and is not being stopped: commands reach it.
	Running bool
	// Ready: glusterd serves. Reason and Message say why it does not: a condition
	// reason (PodNotReady, PodUnschedulable).
	Ready           bool
	Reason, Message string
	// Claims are those the node names that exist.
	Claims map[string]ClaimView
}

// A ClaimView is what Kubernetes says of a claim.
type ClaimView struct {
	Bound bool
	Block bool
	Class string
	Size  string // that it asks for; empty: none
	// Lost: it is being deleted, or its volume is gone. A pod that has it must not
	// let go of it.
	Lost    bool
	Message string // why it is not bound, or lost, if that is known
}

// A Device is a block device of a pod.
type Device struct {
	Name      string // of the storage entry
	SizeBytes uint64
	// Holds tells what was found on it: empty for nothing at all, else for
	// example "xfs", "ext4", "LVM2_member", "a partition table (gpt)".
	Holds string
	// UUID and Label of the file system, if there is one.
	UUID, Label string
	Unfinished  bool   // its XFS was begun by mkfs.xfs and not made to its end
	Mounted     bool   // at its directory
	Error       string // it could not be looked at, or what is mounted is something else
}

// Answered reports whether the server was reached.
func (s Server) Answered() bool { return s.Reason == "" }

// Fresh reports whether the server belongs to no pool and holds no volume, by
// its files (S8).
func (s Server) Fresh() bool {
	return len(s.Peers) == 0 && len(s.Volumes) == 0
}

// A Gate is the state of the gate on a server.
type Gate struct {
	Installed bool
	Digest    string
	Pool      string
	Instance  string
	Fence     uint64
}

// A PoolView is the whole pool as one glusterd sees it (get-state).
type PoolView struct {
	UUID      string
	OpVersion int
	Options   map[string]string // cluster-wide
	Peers     []Peer            // without the server itself
	Volumes   []Volume
	// Digest is Sum, or empty. Views with the same digest agree and are not
	// compared in full, which keeps planning linear in a large pool.
	Digest string
}

// Peer finds a peer by UUID.
func (v *PoolView) Peer(uuid string) (Peer, bool) {
	for _, p := range v.Peers {
		if p.UUID == uuid {
			return p, true
		}
	}
	return Peer{}, false
}

// Volume finds a volume by name.
func (v *PoolView) Volume(name string) (Volume, bool) {
	for _, vol := range v.Volumes {
		if vol.Name == name {
			return vol, true
		}
	}
	return Volume{}, false
}

// PeerInCluster is the only good state of a peer.
const PeerInCluster = "Peer in Cluster"

// A Peer is another member, as one glusterd sees it.
type Peer struct {
	UUID      string
	Hostnames []string // the first is the primary one
	State     string   // "Peer in Cluster", "Peer Rejected" ...
	Connected bool
}

// Member reports whether p is a connected, accepted member.
func (p Peer) Member() bool { return p.Connected && p.State == PeerInCluster }

// A Volume is one volume as one glusterd sees it.
type Volume struct {
	Name       string
	ID         string // gluster's own
	Started    bool
	New        bool // it was never started
	Replica    int  // 1 for distribute and disperse
	Arbiter    int
	Disperse   int // 0 unless disperse
	Redundancy int
	Options    map[string]string
	Bricks     []Brick // in gluster's order: sets are runs of SetSize
	Rebalance  Rebalance
	Snapshots  int
	// SelfHeal: the self-heal daemon of the server whose view this is serves the
	// volume.
	SelfHeal bool
}

// Marker is the volume option that holds Anthill's volume id.
const Marker = "user.anthill.volume"

// SetSize is the number of bricks of one set.
func (v Volume) SetSize() int {
	switch {
	case v.Disperse > 0:
		return v.Disperse
	case v.Replica > 1:
		return v.Replica
	}
	return 1
}

// A Brick is compared by (PeerUUID, Path), never by name (LAB-22).
type Brick struct {
	PeerUUID             string // empty when the name maps to no known peer
	Host                 string
	Path                 string
	Arbiter              bool
	Online               bool   // as the brick's own glusterd sees it: started, with a port
	SizeBytes, FreeBytes uint64 // only in its own server's view
}

// A Rebalance is the state of the volume's last rebalance task on one server.
type Rebalance struct {
	TaskID                   string // empty: none
	Status                   string // not_started, started, stopped, completed, failed ...
	Failures, Skipped, Files uint64
}

// A BrickProcess is a brick's process on its server.
type BrickProcess struct {
	Volume, Path string
	PID          int
	Alive        bool
}

// A Mount is the file system below a brick directory.
type Mount struct {
	Dir                  string
	Registered           bool
	Same                 bool   // the mounted file system is the registered one
	Error                string // what is wrong: not a directory, on the root file system ...
	FSUUID               string
	SizeBytes, FreeBytes uint64
}

// Heal is what heal info said of a volume. A number that is missing is not
// zero: Known is false then (F2).
type Heal struct {
	Known      bool
	Pending    int
	SplitBrain int
}
