package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

const enforce = "pod-security.kubernetes.io/enforce"

// A namespace that forbids privileged pods: the node says so and what to type;
// once that is done it goes on by itself.
func TestNamespaceForbidsPods(t *testing.T) {
	const ns = "strict"
	s := begin(t, ns)
	must(t, s.Disks(t.Context(), "strict", 1))
	namespace := &corev1.Namespace{}
	namespace.Name, namespace.Labels = ns, map[string]string{enforce: "baseline"}
	c, n := s.Cluster(ns, "strict", 1), &v1alpha1.GlusterNode{}
	create(t, s, namespace, c)
	n.Namespace, n.Name = ns, NodeName("strict", 0)
	must(t, s.Await(t.Context(), slow, n, func() string {
		message := rig.Message(n, v1alpha1.ConditionBlocked)
		if !strings.Contains(message, "violates PodSecurity") || !strings.Contains(message, "kubectl label namespace strict "+enforce+"=privileged") {
			return "blocked: " + message
		}
		return rig.Is(n, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonPodNotReady)
	}))
	must(t, s.Change(t.Context(), namespace, func() { namespace.Labels[enforce] = "privileged" }))
	must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	gone(t, s, c, nil)
}

func (s *Site) pods(t *testing.T, ns string) []string {
	t.Helper()
	var list corev1.PodList
	must(t, s.Client.List(t.Context(), &list, client.InNamespace(ns), client.HasLabels{v1alpha1.LabelNode}))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func (s *Site) claims(t *testing.T, ns string) []string {
	t.Helper()
	var list corev1.PersistentVolumeClaimList
	must(t, s.Client.List(t.Context(), &list, client.InNamespace(ns), client.HasLabels{v1alpha1.LabelNode}))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}
