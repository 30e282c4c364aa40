package steps

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

func TestMembers(t *testing.T) {
	const pool = "p"
	server := func(uuid string, peers ...string) planner.Server {
		return planner.Server{UUID: uuid, Peers: peers, Gate: planner.Gate{Installed: true, Pool: pool}, View: &planner.PoolView{UUID: uuid}}
	}
	withVolume := server("u1")
	withVolume.View.Volumes = []planner.Volume{{Name: "v"}}
	foreign := server("u3", "u9")
	foreign.Gate.Pool = "other"
	cases := map[string]struct {
		reason  string
		servers map[string]planner.Server
		known   map[string]string // identities recorded in status
		seed    []string
		want    []string
	}{
		"Peers": {"who has peers is in, who is only claimed is not",
			map[string]planner.Server{"a": server("u1", "u2"), "b": server("u2", "u1"), "c": server("u3")}, map[string]string{"a": "u1", "b": "u2", "c": "u3"}, nil, []string{"a", "b"}},
		"ClaimedBesideTheSeed": {"of a pool of one, a join knows the member by its plan; others that are claimed and recorded do not hold it up",
			map[string]planner.Server{"a": server("u1"), "b": server("u2"), "c": server("u3")}, map[string]string{"a": "u1", "b": "u2", "c": "u3"}, []string{"a"}, []string{"a"}},
		"OneWithVolumes": {"volumes tell as well as peers",
			map[string]planner.Server{"a": withVolume, "b": server("u2")}, map[string]string{"a": "u1", "b": "u2"}, nil, []string{"a"}},
		"One": {"in a pool of one only the record tells",
			map[string]planner.Server{"a": server("u1"), "b": server("u2")}, map[string]string{"a": "u1"}, nil, []string{"a"}},
		"OneWiped": {"a record of another identity tells nothing",
			map[string]planner.Server{"a": server("u1")}, map[string]string{"a": "u9"}, nil, nil},
		"Foreign": {"a server of another pool is no member, whoever its peers are",
			map[string]planner.Server{"a": server("u1", "u2"), "c": foreign}, nil, nil, []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &sight{obs: planner.Observed{Servers: tc.servers}}
			for node, uuid := range tc.known {
				s.servers = append(s.servers, kube.Server{Node: node, UUID: uuid})
			}
			if d := cmp.Diff(tc.want, s.members(pool, tc.seed...)); d != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, d)
			}
		})
	}
}
