package pods

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// R11: two clusters in one namespace, one in another. One of the first two stops
// answering, whatever is asked: the others grow, and their nodes come to lie on
// different hosts.
func TestOneClusterHangs(t *testing.T) {
	t.Parallel()
	ns, far := named("near"), named("far")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	must(t, s.Namespace(t.Context(), far))
	small := func(ns, name string) *v1alpha1.GlusterCluster {
		c := rig.Cluster(ns, name)
		c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
			Name: Template, Thresholds: v1alpha1.Thresholds{Nodes: 1}, Storage: v1alpha1.TemplateStorage{StorageClassName: cluster.ClassMovable},
		}}
		return c
	}
	broken, beside, away := small(ns, "broken"), small(ns, "beside"), small(far, "beside")
	create(t, s, broken, beside, away)
	for _, c := range []*v1alpha1.GlusterCluster{broken, beside, away} {
		must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	}
	stop := func(signal string) {
		_, err := s.In(t.Context(), ns, NodeName(broken.Name, 0), "/bin/sh", "-c", `kill -s "$0" "$(cat /run/glusterd.pid)"`, signal)
		must(t, err)
	}
	stop("STOP")
	must(t, s.Await(t.Context(), slow, broken, func() string {
		return rig.Is(broken, v1alpha1.ConditionAvailable, metav1.ConditionFalse, "")
	}))
	for _, c := range []*v1alpha1.GlusterCluster{broken, beside, away} {
		must(t, s.Change(t.Context(), c, func() { c.Spec.NodeTemplates[0].Thresholds.Nodes = 2 }))
	}
	for _, c := range []*v1alpha1.GlusterCluster{beside, away} {
		joined(t, s, c, 2)
		must(t, s.AwaitConverged(t.Context(), slow, c))
		spread(t, s, c)
	}
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(broken), broken))
	if n := broken.Status.Nodes; n == nil || n.Joined > 1 {
		t.Errorf("a pool that does not answer took a node in: %+v", n)
	}
	stop("CONT")
	joined(t, s, broken, 2)
	s.tidy(t, ns)
	s.tidy(t, far)
}

// spread fails if two pods of a cluster share a host.
func spread(t *testing.T, s *Site, c *v1alpha1.GlusterCluster) {
	t.Helper()
	pods, err := s.podsOf(t.Context(), c.Namespace, c.Name)
	must(t, err)
	on := map[string]string{}
	for i := range pods {
		host := pods[i].Spec.NodeName
		if on[host] != "" {
			t.Errorf("%s and %s are both on %s, and there are other hosts", on[host], pods[i].Name, host)
		}
		on[host] = pods[i].Name
	}
	if len(pods) == 0 {
		t.Errorf("cluster %s has no pods", c.Name)
	}
}
