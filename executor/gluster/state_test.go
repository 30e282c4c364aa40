package gluster

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func stateText(t interface {
	Helper()
	Fatal(...any)
}, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/10.3/get-state-" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParseState(t *testing.T) {
	s := must[*State](t)(ParseState(stateText(t, "four")))
	if s.UUID != uuid1 || s.OpVersion != 100000 {
		t.Errorf("state of %s at %d", s.UUID, s.OpVersion)
	}
	wantPeers := []Peer{
		{UUID: uuid2, Hostname: "s2", State: PeerInCluster, Connected: true},
		{UUID: uuid3, Hostname: "s3", State: PeerInCluster, Connected: true},
	}
	if diff := cmp.Diff(wantPeers, s.Peers); diff != "" {
		t.Errorf("peers, -want +got:\n%s", diff)
	}
	var names []string
	for _, v := range s.Volumes {
		names = append(names, v.Name+" "+v.Type+" "+string(v.Status))
	}
	want := []string{
		"v3 Distributed-Replicate Started", "va Replicate Started", "vd Disperse Started", "vr2 Replicate Created", "vx Distribute Started",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("volumes, -want +got:\n%s", diff)
	}
	va, _ := s.Volume("va")
	wantBricks := []StateBrick{
		{
			Brick: Brick{Host: "s1", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid1},
			Local: true, Started: true, Port: 53310, Registered: true, SizeBytes: 352321536, FreeBytes: 327802880,
		},
		{Brick: Brick{Host: "s2", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid2}},
		{Brick: Brick{Host: "s3", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid3, Arbiter: true}},
	}
	if diff := cmp.Diff(wantBricks, va.Bricks); diff != "" {
		t.Errorf("bricks, -want +got:\n%s", diff)
	}
	if va.Replica != 3 || va.Arbiter != 1 || va.Sets != 1 || !va.SelfHeal || va.Rebalance.TaskID != "" || va.Volume.Bricks[2] != va.Bricks[2].Brick {
		t.Errorf("volume %+v", va)
	}
	wantOptions := map[string]string{
		"cluster.granular-entry-heal": "on", "storage.fips-mode-rchecksum": "on", "transport.address-family": "inet",
		"nfs.disable": "on", "performance.client-io-threads": "off",
	}
	if diff := cmp.Diff(wantOptions, va.Options); diff != "" {
		t.Errorf("options, -want +got:\n%s", diff)
	}
}

// TestStateAgreesWithVolumeInfo: the idle view and volume info of the same pool
// at the same time are the same volumes.
func TestStateAgreesWithVolumeInfo(t *testing.T) {
	s := must[*State](t)(ParseState(stateText(t, "four")))
	vols := must[[]Volume](t)(NewClient(captured(t, "info-four.xml", ArgvVolumeInfo(""), false)).VolumeInfo(t.Context(), ""))
	if len(vols) != len(s.Volumes) {
		t.Fatalf("%d and %d volumes", len(vols), len(s.Volumes))
	}
	for i, v := range vols {
		if diff := cmp.Diff(v, s.Volumes[i].Volume); diff != "" {
			t.Errorf("volume %s, -info +state:\n%s", v.Name, diff)
		}
	}
}

func TestStates(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		check  func(*State) bool
	}{
		"Virgin":   {"A daemon that was never asked has no UUID yet.", "virgin", func(s *State) bool { return s.UUID == "" && len(s.Peers)+len(s.Volumes) == 0 }},
		"Global":   {"Cluster-wide options are apart.", "global", func(s *State) bool { return s.Options["cluster.server-quorum-ratio"] == "51%" && len(s.Options) == 1 }},
		"PeerDown": {"A peer that is down is disconnected, still in the cluster.", "peerdown", func(s *State) bool { p, ok := s.Peer(uuid3); return ok && !p.Connected && p.State == PeerInCluster }},
		"Clone":    {"A clone is another name.", "clone", func(s *State) bool { return cmp.Equal(s.Peers[0].OtherNames, []string{"s5"}) }},
		"Hang":     {"The view answers while a transaction hangs.", "hang", func(s *State) bool { return len(s.Volumes) == 5 }},
		"BrickDown": {"A dead brick keeps its port and is not online.", "brickdown", func(s *State) bool {
			v, _ := s.Volume("v3")
			return v.Bricks[1].Local && v.Bricks[1].Port > 0 && !v.Bricks[1].Online() && v.Bricks[4].Online() && !v.Bricks[0].Local
		}},
		"Stopped": {"A stopped volume has no online brick.", "stopped", func(s *State) bool {
			v := s.Volumes[0]
			return v.Status == VolumeStopped && !v.Bricks[0].Online() && !v.SelfHeal
		}},
		"Running": {"A rebalance under way.", "rebrun", func(s *State) bool {
			v, _ := s.Volume("vreb")
			st, ok := v.Rebalance.Status()
			return ok && st == RebalanceRunning && v.Rebalance.TaskID == "e02b060d-cc16-472d-a64d-f25ce811fa3e" && v.Rebalance.Files == 2 && v.Rebalance.Lookups == 503
		}},
		"Completed": {"One that is over.", "reb", func(s *State) bool {
			v, _ := s.Volume("vreb")
			st, ok := v.Rebalance.Status()
			return ok && st == RebalanceCompleted
		}},
		"Quorum": {"Server quorum is lost.", "quorum", func(s *State) bool {
			v, _ := s.Volume("v3")
			return v.QuorumWord == "does_not_meet"
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := must[*State](t)(ParseState(stateText(t, tc.file)))
			if !tc.check(s) {
				t.Errorf("%s Got %+v", tc.reason, s)
			}
		})
	}
}

func TestDamagedState(t *testing.T) {
	whole := string(stateText(t, "four"))
	cases := map[string]struct{ reason, text, want string }{
		"Empty":      {"Nothing is not a pool without volumes.", "", "MYUUID is missing"},
		"Twice":      {"A value with a line break could pass for other keys.", strings.Replace(whole, "Volume1.options.nfs.disable: on", "Volume1.options.user.x: a\nVolume2.status: Stopped", 1), "twice"},
		"Bricks":     {"Fewer bricks than it says.", strings.Replace(whole, "Volume1.brickcount: 6", "Volume1.brickcount: 7", 1), "not host:/path"},
		"ManyBricks": {"A bound on what is believed.", strings.Replace(whole, "Volume1.brickcount: 6", "Volume1.brickcount: 600000000", 1), "too many"},
		"Number":     {"A number is a number.", strings.Replace(whole, "Volume1.replica_count: 3", "Volume1.replica_count: three", 1), "not a number"},
		"Junk":       {"Something else.", "glusterd state dumped to /x\n", "not a key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseState([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s ParseState() = %+v, %v; want an error with %q", tc.reason, s, err, tc.want)
			}
		})
	}
}

// TestCutState: no prefix of a state passes for a state, up to its last section
// which holds nothing of interest.
func TestCutState(t *testing.T) {
	whole := stateText(t, "four")
	whole = whole[:bytes.Index(whole, []byte("[Misc]\n"))+len("[Misc]\n")]
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(whole)-1).Draw(t, "length")
		if s, err := ParseState(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes pass for a state of %d volumes", n, len(whole), len(s.Volumes))
		}
	})
}

func FuzzParseState(f *testing.F) {
	for _, n := range []string{"four", "virgin", "clone", "rebrun"} {
		f.Add(stateText(f, n))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseState(text)
		if (s == nil) == (err == nil) {
			t.Errorf("ParseState() = %v, %v", s, err)
		}
	})
}
