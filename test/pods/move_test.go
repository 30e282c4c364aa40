package pods

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
)

// R32: pods of one pool prefer hosts of their own. On storage that can move, a
// pod whose host takes no more pods comes up on another one, beside another pod
// of its pool, with its peers, bricks and data; the client notices nothing.
func TestPodMovesToAnotherHost(t *testing.T) {
	ns := mine("move")
	s := killable(t, ns)
	size := resource.MustParse("800Mi")
	p := try(t, s, ns, v1alpha1.TemplateStorage{StorageClassName: cluster.ClassMovable, Size: &size}, s.Env.Node(3))
	must(t, p.sound(t.Context()))
	members, err := p.members(t.Context())
	must(t, err)
	changes := p.changes(t)

	leaves := ""
	hosts := map[string]string{}
	for n := range 3 {
		pod, err := p.pod(t.Context(), NodeName(pool, n))
		must(t, err)
		if other := hosts[pod.Spec.NodeName]; other != "" {
			t.Errorf("%s and %s are both on %s, while there are three hosts", other, pod.Name, pod.Spec.NodeName)
		}
		hosts[pod.Spec.NodeName] = pod.Name
		if pod.Spec.NodeName == s.Env.Node(2).Name() {
			leaves = NodeName(pool, n)
		}
	}
	if leaves == "" {
		t.Fatalf("no pod is on %s: %v", s.Env.Node(2).Name(), hosts)
	}
	must(t, s.cordon(t.Context(), s.Env.Node(2), true))
	t.Cleanup(func() { must(t, s.cordon(context.WithoutCancel(t.Context()), s.Env.Node(2), false)) })
	now := p.replace(t, leaves)
	if now.Spec.NodeName == s.Env.Node(2).Name() {
		t.Fatalf("%s came up on %s, which takes no more pods", leaves, now.Spec.NodeName)
	}
	must(t, p.sound(t.Context()))
	p.calm(t, leaves+" having moved to "+now.Spec.NodeName)
	p.same(t, members)
	p.untouched(t, changes)
	must(t, p.AwaitConverged(t.Context(), slow, p.v))
	n := &v1alpha1.GlusterNode{}
	n.Namespace, n.Name = ns, leaves
	must(t, p.Await(t.Context(), slow, n, func() string {
		if n.Status.Pod == nil || n.Status.Pod.Host != now.Spec.NodeName {
			return "its status does not say " + now.Spec.NodeName
		}
		return ""
	}))
	p.end(t)
	p.clear(t)
}

// cordon lets a node take no more pods, or pods again.
func (s *Site) cordon(ctx context.Context, n *cluster.Node, yes bool) error {
	node := &corev1.Node{}
	node.Name = n.Name()
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return err
	}
	before := node.DeepCopy()
	node.Spec.Unschedulable = yes
	return s.Client.Patch(ctx, node, client.MergeFrom(before))
}
