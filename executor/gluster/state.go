package gluster

import (
	"fmt"
	"strings"
)

// A State is what one glusterd knows, from gluster get-state: the whole pool,
// read without any lock, even while a transaction hangs. It is the idle view.
// Only the server's own bricks carry a status.
type State struct {
	UUID      string // empty: glusterd has not made one yet
	OpVersion int
	Options   map[string]string // cluster-wide ones that were set
	Peers     []Peer            // without the server itself
	Volumes   []StateVolume
}

// A StateVolume is a volume as one glusterd knows it. Bricks are those of
// Volume with what this server knows of their processes.
type StateVolume struct {
	Volume
	Bricks     []StateBrick
	Rebalance  StateRebalance
	SelfHeal   bool   // this server's self-heal daemon is online
	QuorumWord string // quorum_status: "not_applicable", "does_not_meet" ...
}

// A StateBrick is a brick as one glusterd knows it. Brick.PeerUUID is empty when
// the host is the name of no known peer.
type StateBrick struct {
	Brick
	Local bool // the server's own; all below is zero otherwise
	// Started is glusterd's belief. After a restart of glusterd it can stand
	// beside port 0 for ever (LAB-7); after the brick died the old port stands
	// beside Started false.
	Started              bool
	Port                 int
	Registered           bool // the brick process told its port
	SizeBytes, FreeBytes uint64
}

// Online reports whether the server's own brick is started with a port that its
// process registered.
func (b StateBrick) Online() bool { return b.Local && b.Started && b.Registered && b.Port > 0 }

// A StateRebalance is the last rebalance of a volume on this server. A server
// without a brick of the volume knows the TaskID and stays at "not_started";
// see LAB-10 for the counters.
type StateRebalance struct {
	TaskID                            string // empty: none yet
	Word                              string // "not_started", "started", "completed" ...
	Files, Lookups, Failures, Skipped uint64
}

// Status is Word as a RebalanceStatus; ok is false for the layout-fix states.
func (r StateRebalance) Status() (s RebalanceStatus, ok bool) {
	s, ok = rebalanceWords[r.Word]
	return s, ok
}

// Volume finds a volume by name.
func (s *State) Volume(name string) (StateVolume, bool) {
	for _, v := range s.Volumes {
		if v.Name == name {
			return v, true
		}
	}
	return StateVolume{}, false
}

// Peer finds another member by UUID.
func (s *State) Peer(uuid string) (Peer, bool) {
	for _, p := range s.Peers {
		if p.UUID == uuid {
			return p, true
		}
	}
	return Peer{}, false
}

// stateItemsMax bounds peers, volumes and bricks of a volume in one state.
const stateItemsMax = 1 << 14

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// ParseState reads the output of gluster get-state. A state that is cut, holds
// a key twice or lacks what every state has is an error: half a view of the
// pool must not be taken for the pool.
func ParseState(text []byte) (*State, error) {
	f, err := readINI(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading get-state: %w", err)
	}
	s := &State{UUID: f.text["MYUUID"], Options: f.globals}
	switch s.UUID {
	case "":
		return nil, fmt.Errorf("reading get-state: MYUUID is missing")
	case zeroUUID:
		s.UUID = ""
	}
	if !f.complete {
		return nil, fmt.Errorf("reading get-state: the text is cut")
	}
	if s.OpVersion, err = f.number("op-version"); err != nil {
		return nil, fmt.Errorf("reading get-state: %w", err)
	}
	byName := map[string]string{}
	for i := 1; i < stateItemsMax && f.has(fmt.Sprintf("Peer%d.uuid", i)); i++ {
		p := f.peer(fmt.Sprintf("Peer%d.", i))
		for _, n := range p.Names() {
			byName[n] = p.UUID
		}
		s.Peers = append(s.Peers, p)
	}
	for i := 1; i < stateItemsMax && f.has(fmt.Sprintf("Volume%d.name", i)); i++ {
		v, err := f.volume(fmt.Sprintf("Volume%d.", i))
		if err != nil {
			return nil, fmt.Errorf("reading get-state: %w", err)
		}
		for j := range v.Bricks {
			b := &v.Bricks[j]
			if b.Local {
				b.PeerUUID = s.UUID
			} else {
				b.PeerUUID = byName[b.Host]
			}
			v.Volume.Bricks = append(v.Volume.Bricks, b.Brick)
		}
		s.Volumes = append(s.Volumes, v)
	}
	return s, nil
}

func (f *ini) peer(pre string) Peer {
	p := Peer{
		UUID:      f.text[pre+"uuid"],
		Hostname:  f.text[pre+"primary_hostname"],
		State:     PeerState(f.text[pre+"state"]),
		Connected: f.text[pre+"connected"] == "Connected",
	}
	for n := range strings.SplitSeq(f.text[pre+"othernames"], ",") {
		if n = strings.TrimSpace(n); n != "" && n != p.Hostname {
			p.OtherNames = append(p.OtherNames, n)
		}
	}
	return p
}

func (f *ini) volume(pre string) (StateVolume, error) {
	v := StateVolume{Volume: Volume{
		Name:    f.text[pre+"name"],
		ID:      f.text[pre+"id"],
		Type:    f.text[pre+"type"],
		Status:  VolumeStatus(f.text[pre+"status"]),
		Options: f.under(pre + "options."),
	}}
	v.Rebalance.Word = f.text[pre+"rebalance.status"]
	if id := f.text[pre+"rebalance.id"]; id != zeroUUID {
		v.Rebalance.TaskID = id
	}
	v.SelfHeal = f.text[pre+"shd_svc.online_status"] == "Online"
	v.QuorumWord = f.text[pre+"quorum_status"]

	bricks := 0
	n := numbers{f: f, pre: pre}
	n.int("brickcount", &bricks)
	n.int("subvol_count", &v.Sets)
	n.int("replica_count", &v.Replica)
	n.int("arbiter_count", &v.Arbiter)
	n.int("disperse_count", &v.Disperse)
	n.int("redundancy_count", &v.Redundancy)
	n.int("snap_count", &v.Snapshots)
	n.uint("rebalance.files", "", &v.Rebalance.Files)
	n.uint("rebalance.lookedup", "", &v.Rebalance.Lookups)
	n.uint("rebalance.failures", "", &v.Rebalance.Failures)
	n.uint("rebalance.skipped", "", &v.Rebalance.Skipped)
	if n.err == nil && bricks > stateItemsMax {
		n.err = fmt.Errorf("%d bricks are too many", bricks)
	}
	for j := 1; n.err == nil && j <= bricks; j++ {
		b, err := f.brick(fmt.Sprintf("%sBrick%d.", pre, j))
		n.err = err
		v.Bricks = append(v.Bricks, b)
	}
	if n.err != nil {
		return v, fmt.Errorf("volume %q: %w", v.Name, n.err)
	}
	return v, nil
}

func (f *ini) brick(pre string) (StateBrick, error) {
	at, err := ParseBrick(f.text[pre+"path"])
	if err != nil {
		return StateBrick{}, err
	}
	b := StateBrick{Brick: at}
	b.Arbiter = f.text[pre+"is_arbiter"] == "1"
	if b.Local = f.has(pre + "status"); !b.Local {
		return b, nil
	}
	b.Started = f.text[pre+"status"] == "Started"
	b.Registered = f.text[pre+"port_registered"] == "1"
	n := numbers{f: f, pre: pre}
	n.int("port", &b.Port)
	n.uint("spacetotal", "Bytes", &b.SizeBytes)
	n.uint("spacefree", "Bytes", &b.FreeBytes)
	return b, n.err
}
