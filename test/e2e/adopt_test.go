package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// R67: a node that has joined cannot be taken out yet, and says so; deleting the
// cluster lets all objects go and leaves everything on the servers; the same
// declared again takes up the same pool, without one command.
func TestDeletedClusterIsTakenUpAgain(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	client := writing(t, r, volumeName)
	v := p.get(t, r, volumeName)
	must(t, r.Client.Get(t.Context(), objectKey(p.cluster), p.cluster))
	pool := p.cluster.Status.PoolID
	uuids := map[string]string{}
	var nodes []*v1alpha1.GlusterNode
	for _, n := range p.numbers {
		node := p.node(t, r, n)
		must(t, r.Client.Get(t.Context(), objectKey(node), node))
		uuids[node.Name] = node.Status.UUID
		nodes = append(nodes, node)
	}
	commands, err := rig.AllChanges(p.servers(r)...)
	must(t, err)

	must(t, r.Client.Delete(t.Context(), nodes[2]))
	blocked(t, r, nodes[2], v1alpha1.ReasonRemoveNodeNotSupported)
	r.Operator.Kill()
	restart(t, r)
	cyclesMore(t, r, 3)
	blocked(t, r, nodes[2], v1alpha1.ReasonRemoveNodeNotSupported)
	condition(t, r, nodes[2], v1alpha1.ConditionAvailable, metav1.ConditionTrue, "")

	must(t, r.Client.Delete(t.Context(), p.cluster))
	gone(t, r, p.cluster)
	gone(t, r, nodes[2])
	for _, n := range nodes[:2] {
		blocked(t, r, n, v1alpha1.ReasonClusterNotFound)
		must(t, r.Client.Delete(t.Context(), n))
		gone(t, r, n)
	}
	blocked(t, r, v, v1alpha1.ReasonClusterNotFound)
	must(t, r.Client.Delete(t.Context(), v))
	gone(t, r, v)
	for _, s := range p.servers(r) {
		if !hasGate(s) {
			t.Errorf("%s has forgotten that it belongs to the pool", s.Name())
		}
	}
	progress(t, client, 5)

	p.cluster = rig.Cluster(p.ns, clusterName)
	must(t, r.Client.Create(t.Context(), p.cluster))
	for _, n := range p.numbers {
		must(t, r.Client.Create(t.Context(), p.node(t, r, n)))
	}
	p.converged(t, r)
	again := rig.Replicated(p.ns, clusterName, volumeName, 1)
	must(t, r.Client.Create(t.Context(), again))
	must(t, r.AwaitConverged(t.Context(), slow, again))
	if p.cluster.Status.PoolID != pool {
		t.Errorf("the pool is %s, was %s", p.cluster.Status.PoolID, pool)
	}
	if again.Status.VolumeID != v.Status.VolumeID {
		t.Errorf("the volume is %s, was %s", again.Status.VolumeID, v.Status.VolumeID)
	}
	for _, n := range p.numbers {
		node := p.node(t, r, n)
		must(t, r.Client.Get(t.Context(), objectKey(node), node))
		if node.Status.UUID != uuids[node.Name] || node.Status.UUID == "" {
			t.Errorf("%s is %q, was %q", node.Name, node.Status.UUID, uuids[node.Name])
		}
	}
	progress(t, client, 5)
	wellServed(t, client)
	now, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	if diff := cmp.Diff(commands, now); diff != "" {
		t.Errorf("commands given (-before +after):\n%s", diff)
	}
	for _, o := range p.ops(t, r) {
		if !o.State.Terminal() {
			t.Errorf("operation %s (%s of %s) is still %s", o.ID, o.Plan.Kind, o.Plan.Target, o.State)
		}
	}
	must(t, r.Operator.Verify(t.Context()))
}
