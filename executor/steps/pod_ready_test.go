package steps

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// It says what it waits for, and goes on by itself.
func TestPodReadyTells(t *testing.T) {
	cases := map[string]struct {
		reason string
		image  string
		hinder func(b *box) (heal func())
		want   string
	}{
		"Unschedulable": {"the scheduler's words", "gluster:1", func(b *box) func() {
			why := "0/3 nodes are available: 3 Insufficient cpu."
			b.kube.Place = func(*corev1.Pod) (string, string) { return "host-2", why }
			return func() { why = "" }
		}, "Insufficient cpu"},
		"Image": {"the kubelet's words", "gluster:1", func(b *box) func() {
			why := "image not found"
			b.kube.Start = func(*corev1.Pod) string { return why }
			return func() { why = "" }
		}, "ImagePullBackOff: image not found"},
		"Glusterd": {"nobody has words for this", "gluster:1", func(b *box) func() {
			ready := false
			b.kube.Ready = func(*corev1.Pod) bool { return ready }
			return func() { ready = true }
		}, "its glusterd does not serve yet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heal func()
			b := newBox(t, 4, 1, withPods, func(b *box) { heal = tc.hinder(b) })
			t.Cleanup(func() { b.stop(); _ = b.j.Close() })
			id := b.plan(preparing("n1", tc.image)...)
			b.until(id, tc.want, b.waiting(tc.want))
			heal()
			b.until(id, tc.reason, completed)
		})
	}
}

// A claim that somebody else was to make is named.
func TestPodReadyNamesAMissingClaim(t *testing.T) {
	b := podBox(t, 5, 1)
	id := b.plan(boxStep{planner.StepMakePod, podStep("n1", "gluster:1")}, boxStep{planner.StepPodReady, podStep("n1", "gluster:1")})
	b.until(id, "the claim", b.waiting("claim n1-b1: it is not there"))
}

// A pod of an earlier description does not count as ready.
func TestPodReadyWantsThePodDeclared(t *testing.T) {
	b := podBox(t, 6, 1)
	b.until(b.plan(preparing("n1", "gluster:1")...), "the pod", completed)
	id := b.plan(preparing("n1", "gluster:2")...)
	b.until(id, "the old pod", b.waiting("still is as it was declared before"))
	if n := b.effects()["delete Pod n1-0"]; n != 0 {
		t.Errorf("the pod was deleted %d times without a step that may", n)
	}
}

func TestWaitsFor(t *testing.T) {
	v := kube.PodView{Pod: planner.Pod{Message: "no host takes it", Claims: map[string]planner.ClaimView{
		"b": {Message: "it waits for a volume"}, "a": {Bound: true}}}}
	if got, want := waitsFor(v), "no host takes it; claim b: it waits for a volume"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.Running = true
	if got, want := waitsFor(v), "no host takes it"; got != want {
		t.Errorf("%q, want %q: a pod that runs has its claims", got, want)
	}
}
