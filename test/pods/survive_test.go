package pods

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/cluster"
)

// R30, R31: pods of glusterd that are deleted, one after the other and all at
// once, and the whole cluster without power, come back as who they were, with
// all data, and neither a person nor the operator has to tell glusterd anything.
func TestPodsComeBack(t *testing.T) {
	ns := mine("back")
	s := killable(t, ns)
	disks, err := s.disks(t.Context(), ns, 1, 1, 1)
	must(t, err)
	p := try(t, s, ns, disks, s.Env.Node(3))
	must(t, p.sound(t.Context()))
	members, err := p.members(t.Context())
	must(t, err)
	changes := p.changes(t)

	for n := range 3 {
		p.elsewhere(t, NodeName(pool, n))
		p.calm(t, "another address of "+NodeName(pool, n))
	}
	p.same(t, members)
	p.untouched(t, changes)

	p.excuse(t, true)
	p.deleteAll(t)
	must(t, p.sound(t.Context()))
	p.excuse(t, false)
	must(t, p.progress(t.Context()))
	p.calm(t, "all pods being deleted")
	p.same(t, members)
	p.untouched(t, changes)

	p.darken(t)
	p.same(t, members)
	p.untouched(t, changes)
	must(t, p.AwaitConverged(t.Context(), slow, p.v))
	p.end(t)
	if _, err := s.Operator.CLI(t.Context(), "journal", "verify"); err != nil {
		t.Error(err)
	}
	p.clear(t)
	must(t, s.forget(t.Context(), ns))
}

// elsewhere deletes the pod of a node until it has another address, and waits
// until the pool is as sound as before.
func (p *trial) elsewhere(t *testing.T, node string) {
	t.Helper()
	was, err := p.pod(t.Context(), node)
	must(t, err)
	const triesMax = 5 // addresses are given out in turn
	for range triesMax {
		now := p.replace(t, node)
		must(t, p.sound(t.Context()))
		if now.Status.PodIP != was.Status.PodIP {
			t.Logf("%s had address %s and has %s", node, was.Status.PodIP, now.Status.PodIP)
			return
		}
	}
	t.Fatalf("%s was deleted %d times and still has address %s", node, triesMax, was.Status.PodIP)
}

// replace deletes the pod of a node and waits until another one is ready.
func (p *trial) replace(t *testing.T, node string) *corev1.Pod {
	t.Helper()
	was, err := p.pod(t.Context(), node)
	must(t, err)
	uid := was.UID
	must(t, p.Client.Delete(t.Context(), was, client.Preconditions{UID: &uid}))
	now, err := p.successor(t.Context(), was)
	must(t, err)
	return now
}

// successor waits until another pod of that name is ready.
func (p *trial) successor(ctx context.Context, was *corev1.Pod) (*corev1.Pod, error) {
	now := &corev1.Pod{}
	now.Namespace, now.Name = was.Namespace, was.Name
	return now, p.Await(ctx, slow, now, func() string {
		if now.UID == was.UID {
			return "the pod that was deleted is still there"
		}
		return notReady(now)
	})
}

// deleteAll deletes all pods of glusterd at the same time and waits for others.
func (p *trial) deleteAll(t *testing.T) {
	t.Helper()
	nodes, err := p.nodes(t.Context())
	must(t, err)
	was := make([]*corev1.Pod, len(nodes))
	for i := range nodes {
		was[i], err = p.pod(t.Context(), nodes[i].Name)
		must(t, err)
	}
	for _, pod := range was {
		must(t, p.Client.Delete(t.Context(), pod))
	}
	for _, pod := range was {
		_, err := p.successor(t.Context(), pod)
		must(t, err)
	}
}

// darken takes the power from all nodes at once and gives it back. The client
// that was there reads first, as it comes back, what it had made durable.
func (p *trial) darken(t *testing.T) {
	t.Helper()
	operator, err := p.Operator.Pod(t.Context())
	must(t, err)
	must(t, p.eachHost(t.Context(), func(ctx context.Context, n *cluster.Node) error { return n.Kill(ctx) }))
	must(t, p.eachHost(t.Context(), func(ctx context.Context, n *cluster.Node) error { return n.Restore(ctx) }))
	must(t, p.Operator.AwaitReady(t.Context(), slow, containerID(operator)))
	must(t, p.client.Unmount(t.Context()))
	must(t, p.until(t.Context(), "all pods serve again", func(ctx context.Context) error {
		_, err := p.members(ctx)
		return err
	}))
	p.mount(t)
	must(t, p.sound(t.Context()))
	p.calm(t, "all nodes without power")
	r, err := p.client.Report(t.Context())
	must(t, err)
	if r.Kept == 0 {
		t.Error("the client that came back found nothing that it had written")
	}
}

// eachHost does something to all nodes of Kubernetes at the same time.
func (p *trial) eachHost(ctx context.Context, do func(context.Context, *cluster.Node) error) error {
	var jobs []func(context.Context) error
	for _, n := range p.Env.Nodes() {
		jobs = append(jobs, func(ctx context.Context) error {
			if err := do(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", n.Name(), err)
			}
			return nil
		})
	}
	return await.All(ctx, jobs)
}
