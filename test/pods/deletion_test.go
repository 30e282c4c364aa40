package pods

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// R68: a volume and its cluster are to go while a node is dead. The volume says
// which one, and that it is waited for, also to who asks after the operator was
// killed; when the node is back, everything goes by itself.
func TestDeletionWithADeadNode(t *testing.T) {
	t.Parallel()
	const name = "dead"
	ns := named("deletion")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	h := s.Env.Nodes()
	c := rig.Cluster(ns, name)
	one, two := onHost(t, ns, name, h[0], "a"), onHost(t, ns, name, h[1], "a", "b")
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = ns, "doomed"
	v.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: v.Name}
	v.Spec.Cluster = name
	v.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 2}
	create(t, s, c, one, two, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))

	// Its disk is gone, and so it cannot start again.
	disk := two.Spec.Storage[0].Device
	target := strings.TrimSpace(sh(t, h[1], `readlink "$0"; rm "$0"`, disk))
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = ns, two.Name+"-0"
	must(t, s.Client.Delete(t.Context(), pod))
	must(t, s.Client.Delete(t.Context(), v))
	must(t, s.Client.Delete(t.Context(), c))
	saysWhy := func() {
		t.Helper()
		must(t, s.Await(t.Context(), slow, v, func() string {
			if m := rig.Message(v, v1alpha1.ConditionBlocked); !strings.Contains(m, two.Name) {
				return fmt.Sprintf("blocked: %q, without the dead node", m)
			}
			return ""
		}))
		must(t, s.Await(t.Context(), slow, c, func() string {
			if m := rig.Message(c, v1alpha1.ConditionBlocked); !strings.Contains(m, v.Name) {
				return fmt.Sprintf("blocked: %q, without the volume", m)
			}
			return ""
		}))
		blocked(t, s, two, v1alpha1.ReasonPodNotReady, "is being started on "+h[1].Name())
	}
	saysWhy()
	was, err := s.Operator.Kill(t.Context())
	must(t, err)
	must(t, s.Operator.AwaitReady(t.Context(), slow, was))
	s.cycles(t, 3)
	saysWhy()
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(v), v))
	sh(t, h[1], `ln -s "$1" "$0"`, disk, target)
	must(t, s.AwaitGone(t.Context(), slow, v))
	must(t, s.AwaitGone(t.Context(), slow, c))
	s.tidy(t, ns)
}
