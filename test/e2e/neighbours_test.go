package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// R11: a cluster that is broken in the middle of an operation does not disturb
// another one, which grows meanwhile. A server that both name stays with the one
// that has it.
func TestBrokenClusterDoesNotDisturbAnother(t *testing.T) {
	r := begin(t)
	broken := base(t, r)
	take(t, r, 4, 5, 6)
	// With the same names: what is called alike in two clusters is not the same.
	healthy := declareAs(t, r, "healthy", 3, 4, 5)
	healthy.converged(t, r)

	// The operator dies in the middle of an operation on the one, and two of its
	// three glusterds go away.
	r.Operator.Stop()
	r.Operator.Env = []string{"ANTHILL_CRASH_AT=executor.after-intent/" + planner.KindSetOptions + "/" + planner.StepSetOption + "#1"}
	restart(t, r)
	v := broken.get(t, r, volumeName)
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = options{"performance.cache-refresh-timeout": "3"} })
	died(t, r)
	lost := broken.servers(r)[1:]
	must(t, rig.Each(lost, func(s *local.Server) error { return s.StopGlusterd(t.Context()) }))
	r.Operator.Env = nil
	restart(t, r)
	condition(t, r, broken.cluster, v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonQuorumLost)
	blocked(t, r, broken.cluster, v1alpha1.ReasonQuorumLost, "node-2", "node-3")

	// The other grows by a server and gets a volume.
	healthy.add(t, r, 6)
	healthy.converged(t, r)
	healthy.volume(t, r, volumeName)
	condition(t, r, v, v1alpha1.ConditionProgressing, metav1.ConditionTrue, "", planner.KindSetOptions)

	// It names a server of the broken one too: refused, and nothing is done there.
	owner := treeOf(t, broken.servers(r)[0])
	thief := healthy.node(t, r, 1)
	thief.Name = "thief"
	must(t, r.Client.Create(t.Context(), thief))
	blocked(t, r, thief, v1alpha1.ReasonServerClaimed, broken.ns+"/"+clusterName)
	condition(t, r, thief, v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonServerClaimed)
	cyclesMore(t, r, 5)
	if diff := owner.changed(treeOf(t, broken.servers(r)[0])); len(diff) > 0 {
		t.Errorf("the server that is another cluster's was touched: %v", diff)
	}
	must(t, r.Client.Delete(t.Context(), thief))
	gone(t, r, thief)
	if diff := owner.changed(treeOf(t, broken.servers(r)[0])); len(diff) > 0 {
		t.Errorf("the server that is another cluster's was touched: %v", diff)
	}
	healthy.converged(t, r)

	// The broken one recovers and finishes what it had begun.
	must(t, rig.Each(lost, func(s *local.Server) error { return s.StartGlusterd(t.Context()) }))
	broken.converged(t, r)
	must(t, r.AwaitConverged(t.Context(), slow, v))
	awaitOptions(t, broken.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-refresh-timeout"], "3")
	})
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = nil })
	must(t, r.AwaitConverged(t.Context(), slow, v))
	must(t, r.Operator.Verify(t.Context()))
}

// A fresh server that two clusters name goes to the one that named it first,
// and to nobody else as long as that one stands.
func TestServerNamedByTwoGoesToTheFirst(t *testing.T) {
	r := begin(t)
	take(t, r, 4)
	one := &pool{ns: namespace(t, r, "first")}
	two := &pool{ns: namespace(t, r, "second")}
	for _, p := range []*pool{one, two} {
		p.cluster = rig.Cluster(p.ns, clusterName)
		must(t, r.Client.Create(t.Context(), p.cluster))
	}
	// Neither can be reached before both have named it.
	nodes := []*v1alpha1.GlusterNode{one.add(t, r, 4), two.node(t, r, 4)}
	must(t, r.Client.Create(t.Context(), nodes[1]))
	for _, n := range nodes {
		blocked(t, r, n, v1alpha1.ReasonSecretNotFound)
	}
	must(t, r.Secret(t.Context(), two.ns, secretName))
	blocked(t, r, nodes[1], v1alpha1.ReasonServerClaimed, one.ns+"/"+clusterName)
	if hasGate(r.Env.Server(4)) {
		t.Error("the second to name it has put a gate onto the server")
	}
	must(t, r.Secret(t.Context(), one.ns, secretName))
	one.converged(t, r)
	blocked(t, r, nodes[1], v1alpha1.ReasonServerClaimed, one.ns+"/"+clusterName)
	if ops := two.ops(t, r); len(ops) > 0 {
		t.Errorf("%d operations of the cluster that got no server", len(ops))
	}
	was := treeOf(t, r.Env.Server(4))
	must(t, r.Client.Delete(t.Context(), two.cluster))
	must(t, r.Client.Delete(t.Context(), nodes[1]))
	gone(t, r, two.cluster)
	gone(t, r, nodes[1])
	if diff := cmp.Diff(was, treeOf(t, r.Env.Server(4))); diff != "" {
		t.Errorf("the server was touched (-before +after):\n%s", diff)
	}
}
