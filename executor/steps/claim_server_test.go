package steps

import (
	"testing"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// A server that somebody has probed by hand is taken up once it is declared: it
// is a member, and the pool itself tells so. Nobody probes it again.
func TestServerProbedByHand(t *testing.T) {
	b := newBox(t, 6, 3)
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	b.addNode(1)
	b.addNode(2)
	b.settle(400)
	out, err := b.pool.Run(t.Context(), "s1", gluster.Command{Argv: gluster.ArgvPeerProbe("s3")})
	if err != nil || out.Exit != 0 {
		t.Fatalf("probing by hand: %+v, %v", out, err)
	}
	b.addNode(3)
	b.settle(400)
	obs, err := b.world.Observed(t.Context(), b.cluster.Status.PoolID)
	if err != nil {
		t.Fatal(err)
	}
	for n, s := range obs.Servers {
		if s.Gate.Pool != b.cluster.Status.PoolID || len(s.Peers) != 2 {
			t.Errorf("%s belongs to pool %q and has %d peers; want %q and 2", n, s.Gate.Pool, len(s.Peers), b.cluster.Status.PoolID)
		}
	}
	b.once("peer probe s3") // by hand
}

func TestIdentityOfANewServer(t *testing.T) {
	const pool = "p"
	member := planner.Server{UUID: "u1", Gate: planner.Gate{Pool: pool}, View: &planner.PoolView{UUID: "u1", Peers: []planner.Peer{
		{UUID: "u3", State: planner.PeerInCluster}, {UUID: "u4", State: "Peer Rejected"},
	}}}
	foreign := planner.Server{UUID: "u2", Gate: planner.Gate{Pool: "other"}, View: &planner.PoolView{UUID: "u2", Peers: []planner.Peer{
		{UUID: "u5", State: planner.PeerInCluster},
	}}}
	cases := map[string]struct {
		reason string
		server planner.Server
		known  string
		wrong  bool
	}{
		"Fresh":         {reason: "a new server may be claimed", server: planner.Server{UUID: "u9"}},
		"Stranger":      {"one with peers of its own is left alone", planner.Server{UUID: "u9", Peers: []string{"u8"}}, "", true},
		"Peer":          {reason: "one that the pool has in the cluster is a member", server: planner.Server{UUID: "u3", Peers: []string{"u1"}}},
		"Rejected":      {"a rejected peer is none", planner.Server{UUID: "u4", Peers: []string{"u1"}}, "", true},
		"PeerElsewhere": {"what another pool says does not count", planner.Server{UUID: "u5", Peers: []string{"u2"}}, "", true},
		"NoUUID":        {"without a UUID nobody can tell", planner.Server{Peers: []string{"u1"}}, "", true},
		"Twin":          {"a copy of a member is none", planner.Server{UUID: "u1", Peers: []string{"u3"}}, "", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &sight{obs: planner.Observed{Servers: map[string]planner.Server{"n1": member, "n2": foreign, "new": tc.server}}}
			why := identity(s, planner.ClaimParams{Node: "new", Known: tc.known}, tc.server, pool)
			if (why != "") != tc.wrong {
				t.Errorf("%s: refused with %q, want refused %v", tc.reason, why, tc.wrong)
			}
		})
	}
}
