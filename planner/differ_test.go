package planner

import (
	"maps"
	"slices"
	"testing"
)

func poolView() *PoolView {
	return &PoolView{
		UUID: "u1", OpVersion: 100000, Options: map[string]string{"cluster.x": "1"},
		Peers: []Peer{{UUID: "u2", State: PeerInCluster, Connected: true}, {UUID: "u3", State: PeerInCluster, Connected: true}},
		Volumes: []Volume{
			{Name: "a", ID: "ida", Started: true, Replica: 1, Options: map[string]string{"k": "v"}, Bricks: []Brick{{PeerUUID: "u1", Host: "h1", Path: "/1"}, {PeerUUID: "u2", Host: "h2", Path: "/2"}}},
			{Name: "b", ID: "idb", Replica: 1},
		},
	}
}

func cloneView(v *PoolView) *PoolView {
	out := *v
	out.Options, out.Peers, out.Volumes = maps.Clone(v.Options), slices.Clone(v.Peers), slices.Clone(v.Volumes)
	for i := range out.Volumes {
		out.Volumes[i].Options, out.Volumes[i].Bricks = maps.Clone(out.Volumes[i].Options), slices.Clone(out.Volumes[i].Bricks)
	}
	return &out
}

// Whatever two members must agree on is told by name when they do not, and
// changes the digest; what is only seen from one side is neither.
func TestDiffer(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(v *PoolView)
		want   string
		peers  bool // told by differPeers
		agree  bool
	}{
		"Same":         {reason: "equal views", change: func(*PoolView) {}, agree: true},
		"Order":        {reason: "order of volumes and peers is a server's own", change: func(v *PoolView) { slices.Reverse(v.Volumes); slices.Reverse(v.Peers) }, agree: true},
		"OtherSide":    {reason: "each server leaves itself out of its peers", change: func(v *PoolView) { v.UUID = "u2"; v.Peers[0].UUID = "u1" }, agree: true},
		"Connection":   {reason: "connections are told separately", change: func(v *PoolView) { v.Peers[0].Connected = false }, agree: true},
		"Online":       {reason: "only a brick's own server sees it online", change: func(v *PoolView) { v.Volumes[0].Bricks[0].Online = true }, agree: true},
		"Peer":         {reason: "an unknown peer", change: func(v *PoolView) { v.Peers = v.Peers[:1] }, want: `u3 is "Peer in Cluster" and ""`, peers: true},
		"PeerState":    {reason: "a peer in another state", change: func(v *PoolView) { v.Peers[1].State = PeerRejected }, want: `u3 is "Peer in Cluster" and "Peer Rejected"`, peers: true},
		"Volume":       {reason: "a volume only one knows", change: func(v *PoolView) { v.Volumes = v.Volumes[:1] }, want: "volume b is known to only one of them"},
		"VolumeID":     {reason: "two volumes of one name", change: func(v *PoolView) { v.Volumes[0].ID = "x" }, want: "volume a: ids ida and x"},
		"Started":      {reason: "started for one", change: func(v *PoolView) { v.Volumes[0].Started = false }, want: "volume a: started for only one of them"},
		"BrickCount":   {reason: "LAB-5: peers are connected and the brick lists differ", change: func(v *PoolView) { v.Volumes[0].Bricks = v.Volumes[0].Bricks[:1] }, want: "volume a: 2 and 1 bricks"},
		"Layout":       {reason: "another replica count", change: func(v *PoolView) { v.Volumes[0].Replica = 2 }, want: "volume a: different layouts"},
		"Brick":        {reason: "another brick in the same place", change: func(v *PoolView) { v.Volumes[0].Bricks[1] = Brick{PeerUUID: "u3", Host: "h3", Path: "/2"} }, want: "volume a: brick 2 is h2:/2 and h3:/2"},
		"BrickName":    {reason: "LAB-22: the same brick under another name", change: func(v *PoolView) { v.Volumes[0].Bricks[1].Host = "10.0.0.2" }, agree: true},
		"VolumeOption": {reason: "another value", change: func(v *PoolView) { v.Volumes[0].Options["k"] = "w" }, want: `volume a: option k is "v" and "w"`},
		"MoreOptions":  {reason: "an option more", change: func(v *PoolView) { v.Volumes[0].Options["l"] = "w" }, want: `volume a: option l is "" and "w"`},
		"PoolOption":   {reason: "a cluster-wide option", change: func(v *PoolView) { delete(v.Options, "cluster.x") }, want: `cluster options: cluster.x is "1" and ""`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := poolView(), cloneView(poolView())
			tc.change(b)
			got := Differ(a, b)
			if tc.peers {
				got = differPeers(a, b)
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			if same := a.Sum() == b.Sum(); same != tc.agree {
				t.Errorf("%s: digests equal: %t, want %t", tc.reason, same, tc.agree)
			}
		})
	}
}
