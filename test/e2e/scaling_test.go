package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// R33: a pool grows from three to four to six servers, and its volume from one
// set to two, under a client that writes and reads all the time.
func TestGrowthUnderLoad(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	shared = nil // it will have another shape
	v := p.get(t, r, volumeName)
	usable := *v.Status.UsableBytes
	client := writing(t, r, v.Name)
	take(t, r, 4, 5, 6)
	p.add(t, r, 4)
	p.converged(t, r)
	progress(t, client, 5)
	p.add(t, r, 5)
	p.add(t, r, 6)
	p.converged(t, r)
	progress(t, client, 5)
	for _, s := range p.servers(r) {
		if peers := connectedPeers(t, s); len(peers) != 5 {
			t.Errorf("%s sees %d connected peers, want 5", s.Name(), len(peers))
		}
	}

	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Layout.Replicate.Sets = 2 })
	must(t, r.AwaitConverged(t.Context(), slow, v))
	must(t, r.Await(t.Context(), slow, v, func() string {
		if up := v.Status.BricksUp; up == nil || *up != 6 {
			return fmt.Sprintf("bricks up: %v", up)
		}
		return ""
	}))
	// Files that the client replaces while they are to be moved are skipped.
	if s := rig.Is(v, v1alpha1.ConditionDegraded, metav1.ConditionFalse, ""); s != "" {
		must(t, r.AwaitCondition(t.Context(), slow, v, v1alpha1.ConditionDegraded, metav1.ConditionTrue, v1alpha1.ReasonRebalanceIncomplete))
	}
	serving(t, p.servers(r), v.Name, 6)
	progress(t, client, 5)
	wellServed(t, client)
	if now := *v.Status.UsableBytes; now < usable*3/2 {
		t.Errorf("usable size went from %d to %d bytes", usable, now)
	}
	apart(t, p, r, v)
	must(t, r.Operator.Verify(t.Context()))
}

// apart fails if two copies of a set share a server or a zone, by gluster's own
// view of the volume.
func apart(t *testing.T, p *pool, r *rig.Rig, v *v1alpha1.GlusterVolume) {
	t.Helper()
	zones := map[string]string{} // by UUID
	for _, n := range p.numbers {
		node := p.node(t, r, n)
		must(t, r.Client.Get(t.Context(), objectKey(node), node))
		zones[node.Status.UUID] = node.FailureDomain()
	}
	bricks := volumes(t, p.servers(r)[0])[v.Name].Bricks
	for set := 0; set < len(bricks); set += 3 {
		servers, racks := map[string]bool{}, map[string]bool{}
		for _, b := range bricks[set : set+3] {
			servers[b.HostUUID], racks[zones[b.HostUUID]] = true, true
		}
		if len(servers) != 3 || len(racks) != 3 {
			t.Errorf("set %d is on %d servers in %d zones, want 3 and 3: %+v", set/3, len(servers), len(racks), bricks[set:set+3])
		}
	}
}
