package steps

import (
	"slices"
	"testing"

	"github.com/gluster/anthill/executor/gluster/sim"
)

// TestProbeBack: where addresses have no names, the first server is known by
// its address and, once it was probed back, by its name too. glusterd keeps the
// address in front: that is no reason to probe for ever.
func TestProbeBack(t *testing.T) {
	b := newBoxOf(t, 1, sim.Options{Seed: 1, Servers: []string{"s1", "s2"}, NoReverse: true})
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	b.addNode(1)
	b.addNode(2)
	b.settle(400)
	b.once("peer probe s2", "peer probe s1")
	obs, err := b.world.Observed(t.Context(), b.cluster.Status.PoolID)
	if err != nil {
		t.Fatal(err)
	}
	peers := obs.Servers["n2"].View.Peers
	if len(peers) != 1 || !slices.Equal(peers[0].Hostnames, []string{"192.0.2.1", "s1"}) {
		t.Errorf("n2 knows %+v, want n1 by address and name", peers)
	}
}
