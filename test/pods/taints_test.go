package pods

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// R8: hosts that are kept for storage take the pods of a template only when it
// tolerates that. The pod that waited is replaced at once: it served nobody.
// Not beside other tests, which start pods on the same hosts.
func TestHostsKeptForStorage(t *testing.T) {
	const name, key = "kept", "anthill-test/storage"
	ns := named("kept")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	taint(t, s, key)
	c := rig.Cluster(ns, name)
	c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
		Name: Template, Thresholds: v1alpha1.Thresholds{Nodes: 1}, Storage: v1alpha1.TemplateStorage{StorageClassName: cluster.ClassMovable},
	}}
	n := &v1alpha1.GlusterNode{}
	n.Namespace, n.Name = ns, NodeName(name, 0)
	create(t, s, c)
	blocked(t, s, n, v1alpha1.ReasonPodUnschedulable, "taint") // Kubernetes does not name it
	pods, err := s.podsOf(t.Context(), ns, name)
	must(t, err)
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			t.Errorf("%s runs on %s, which it does not tolerate", pods[i].Name, pods[i].Spec.NodeName)
		}
	}
	must(t, s.Change(t.Context(), c, func() {
		c.Spec.NodeTemplates[0].Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}))
	must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	must(t, s.AwaitCondition(t.Context(), slow, n, v1alpha1.ConditionBlocked, metav1.ConditionFalse, ""))
	s.tidy(t, ns)
}

// taint keeps all hosts from pods that do not tolerate that, for the length of a
// test.
func taint(t *testing.T, s *Site, key string) {
	t.Helper()
	set := func(ctx context.Context, change func(*corev1.Node)) {
		for _, h := range s.Env.Nodes() {
			node := &corev1.Node{}
			must(t, s.Client.Get(ctx, client.ObjectKey{Name: h.Name()}, node))
			before := node.DeepCopy()
			change(node)
			must(t, s.Client.Patch(ctx, node, client.MergeFrom(before)))
		}
	}
	t.Cleanup(func() {
		set(context.WithoutCancel(t.Context()), func(n *corev1.Node) {
			kept := n.Spec.Taints[:0]
			for _, taint := range n.Spec.Taints {
				if taint.Key != key {
					kept = append(kept, taint)
				}
			}
			n.Spec.Taints = kept
		})
	})
	set(t.Context(), func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	})
}
