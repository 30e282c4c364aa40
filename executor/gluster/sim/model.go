package sim

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/executor/gluster"
)

// A server is one machine: a glusterd, its files, brick processes and gate.
// All of it is plain data, so that a pool can be saved and loaded.
type server struct {
	Name string
	Addr string // an IP address, unique

	Running bool // glusterd runs
	Stopped bool // by SIGSTOP: it still counts as connected
	Cut     bool // from all others, and from nobody else
	Away    bool // the whole machine is off
	Dark    bool // the operator cannot reach it; all else works
	Starts  int  // of glusterd

	Mem  *store // nil unless Running
	Disk *store

	FS      *files
	Procs   map[string]*proc // brick processes by path; they outlive glusterd
	NextPID int
	History []byte // cmd_history.log

	Gate *gateState

	Pod     bool      // it has devices, and mounts that end with it
	Devices []*Device // of a pod
}

// A store is what a glusterd knows, in memory or on disk.
type store struct {
	UUID    string // empty: not made yet
	Peers   []*peer
	Volumes map[string]*volume
	Options map[string]string // cluster-wide
	OpVer   int
}

type peer struct {
	UUID  string
	Host  string
	Names []string
	State gluster.PeerState
}

type volume struct {
	Name       string
	ID         string
	Status     gluster.VolumeStatus
	Replica    int
	Arbiter    int
	Disperse   int
	Redundancy int
	Bricks     []brick
	Options    map[string]string
	Task       *task

	Version int
	Sum     uint64 // of the stored content, as compared in a handshake
}

type brick struct {
	Host string
	UUID string
	Path string
}

func (b brick) String() string { return b.Host + ":" + b.Path }

// A task is a rebalance.
type task struct {
	ID      string
	Started time.Time
	Plan    RebalancePlan
	// Lost are servers whose glusterd restarted meanwhile: their counters
	// restart from zero (LAB-10).
	Lost map[string]bool
}

type proc struct {
	Volume string
	PID    int
	Port   int
	Alive  bool
	Ended  bool // by a stop of its volume, in good order
}

// files is what the file systems of a server hold below brick roots.
type files struct {
	Roots map[string]*root // by mount point
	Dirs  map[string]*dir  // by path
}

type root struct {
	FSUUID   string
	Size     uint64
	Free     uint64
	Mounted  bool
	ReadOnly bool
	// Hidden are the directories of the file system while it is not mounted.
	Hidden map[string]*dir
}

type dir struct {
	VolumeID string // xattr trusted.glusterfs.volume-id
	Skeleton bool   // .glusterfs
	Data     bool   // files of users
}

func (s *store) clone() *store {
	c := &store{UUID: s.UUID, OpVer: s.OpVer, Options: maps.Clone(s.Options), Volumes: map[string]*volume{}}
	for _, p := range s.Peers {
		q := *p
		q.Names = slices.Clone(p.Names)
		c.Peers = append(c.Peers, &q)
	}
	for n, v := range s.Volumes {
		c.Volumes[n] = v.clone()
	}
	return c
}

func (v *volume) clone() *volume {
	c := *v
	c.Bricks = slices.Clone(v.Bricks)
	c.Options = maps.Clone(v.Options)
	if v.Task != nil {
		t := *v.Task
		t.Lost = maps.Clone(t.Lost)
		c.Task = &t
	}
	return &c
}

func (v *volume) setSize() int { return max(1, v.Replica, v.Disperse) }
func (v *volume) sets() int    { return len(v.Bricks) / v.setSize() }
func (v *volume) started() bool {
	return v.Status == gluster.VolumeStarted
}

// healing reports whether the volume has self-heal daemons.
func (v *volume) healing() bool { return v.Replica > 1 || v.Disperse > 0 }

func (v *volume) typeName() (string, int) {
	many := v.sets() > 1
	switch {
	case v.Disperse > 0 && many:
		return "Distributed-Disperse", 9
	case v.Disperse > 0:
		return "Disperse", 4
	case v.Replica > 1 && many:
		return "Distributed-Replicate", 7
	case v.Replica > 1:
		return "Replicate", 2
	}
	return "Distribute", 0
}

func (v *volume) arbiter(i int) bool { return v.Arbiter > 0 && i%v.setSize() == v.setSize()-1 }

// on are the bricks on the server with this UUID.
func (v *volume) on(uuid string) []brick {
	var out []brick
	for _, b := range v.Bricks {
		if b.UUID == uuid {
			out = append(out, b)
		}
	}
	return out
}

// sum is the checksum of the volume's file.
func (v *volume) sum() uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, v.ID, v.Status, v.Replica, v.Arbiter, v.Disperse, v.Redundancy)
	for _, b := range v.Bricks {
		fmt.Fprintln(h, b.UUID, b.Path)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Options)) {
		fmt.Fprintln(h, k, v.Options[k])
	}
	return h.Sum64()
}

// store puts a volume on disk: the version goes up on both.
func (s *server) storeVolume(v *volume) {
	v.Version++
	v.Sum = v.sum()
	s.Disk.Volumes[v.Name] = v.clone()
}

func (s *server) storePeers() {
	c := (&store{Peers: s.Mem.Peers}).clone()
	s.Disk.Peers = c.Peers
}

func (s *store) peer(uuid string) *peer {
	for _, p := range s.Peers {
		if p.UUID == uuid {
			return p
		}
	}
	return nil
}

// peerNamed finds a peer by one of its names.
func (s *store) peerNamed(host string) *peer {
	for _, p := range s.Peers {
		if p.Host == host || slices.Contains(p.Names, host) {
			return p
		}
	}
	return nil
}

func (s *store) names() []string { return slices.Sorted(maps.Keys(s.Volumes)) }

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// rootOf finds the mounted brick root that path is on; nil: the root file
// system.
func (f *files) rootOf(path string) (mountPoint string, r *root) {
	for at, one := range f.Roots {
		if one.Mounted && within(path, at) && len(at) > len(mountPoint) {
			mountPoint, r = at, one
		}
	}
	return mountPoint, r
}

// has reports whether a directory is there; mount points always are.
func (f *files) has(path string) bool {
	if _, ok := f.Dirs[path]; ok {
		return true
	}
	for at := range f.Roots {
		if within(at, path) {
			return true
		}
	}
	return path == "/" || path == "/srv" || path == "/mnt"
}
