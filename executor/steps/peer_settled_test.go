package steps

import (
	"strings"
	"testing"

	"github.com/gluster/anthill/planner"
)

func TestMissed(t *testing.T) {
	view := func(uuid, option string, bricks ...string) *planner.PoolView {
		v := &planner.PoolView{UUID: uuid, Volumes: []planner.Volume{{Name: "v", ID: "1", Replica: 1, Options: map[string]string{"user.x": option}}}}
		for _, b := range bricks {
			v.Volumes[0].Bricks = append(v.Volumes[0].Bricks, planner.Brick{PeerUUID: b, Path: "/b"})
		}
		for _, peer := range []string{"u1", "u2", "u3"} {
			if peer != uuid {
				v.Peers = append(v.Peers, planner.Peer{UUID: peer, State: planner.PeerInCluster, Connected: true})
			}
		}
		return v
	}
	cut := view("u2", "7", "u1")
	cut.Peers[0].Connected = false
	cases := map[string]struct {
		reason string
		views  map[string]*planner.PoolView
		want   bool
	}{
		"NewOneAlone":    {"a restart makes it take over what the others have", map[string]*planner.PoolView{"n1": view("u1", "7", "u1"), "n2": view("u2", "7", "u1"), "new": view("u3", "6", "u1")}, true},
		"Same":           {"nothing was missed", map[string]*planner.PoolView{"n1": view("u1", "7", "u1"), "n2": view("u2", "7", "u1"), "new": view("u3", "7", "u1")}, false},
		"OthersDiffer":   {"who is right is not known", map[string]*planner.PoolView{"n1": view("u1", "7", "u1"), "n2": view("u2", "5", "u1"), "new": view("u3", "6", "u1")}, false},
		"OthersCut":      {"they have not come to rest", map[string]*planner.PoolView{"n1": view("u1", "7", "u1"), "n2": cut, "new": view("u3", "6", "u1")}, false},
		"NewOneHasData":  {"its bricks may depend on what it has", map[string]*planner.PoolView{"n1": view("u1", "7", "u3"), "n2": view("u2", "7", "u3"), "new": view("u3", "6", "u3")}, false},
		"NobodyToFollow": {"there is nobody else", map[string]*planner.PoolView{"new": view("u3", "6", "u1")}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := strings.Contains(missed(tc.views, "new"), "restart glusterd"); got != tc.want {
				t.Errorf("%s: advised %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
