package steps

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

func removing(node string) boxStep {
	return boxStep{planner.StepRemovePod, planner.RemovePodParams{NodeParams: planner.NodeParams{Node: node}}}
}

func (b *box) exists(o client.Object, name string) bool {
	b.t.Helper()
	err := b.kube.Plain().Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, o)
	if err != nil && !apierrors.IsNotFound(err) {
		b.t.Fatal(err)
	}
	return err == nil
}

// The pod goes, what is on its claims stays.
func TestRemovePod(t *testing.T) {
	b := podBox(t, 1, 1)
	b.until(b.plan(preparing("n1", "gluster:1")...), "the pod", completed)
	b.kube.Fail(kubetest.Fault{Verb: "delete", Kind: "StatefulSet", Err: errors.New("connection reset"), Lost: true})
	b.until(b.plan(removing("n1")), "the end of the pod", completed)
	if b.exists(&appsv1.StatefulSet{}, "n1") || b.exists(&corev1.Pod{}, "n1-0") {
		t.Error("StatefulSet or pod are still there")
	}
	if !b.exists(&corev1.PersistentVolumeClaim{}, "n1-state") || !b.exists(&corev1.PersistentVolumeClaim{}, "n1-b1") || !b.exists(&corev1.Service{}, "c") {
		t.Error("a claim or the Service is gone")
	}
	b.until(b.plan(removing("n1")), "the same again", completed)
}

// What somebody else made under the node's name is not removed.
func TestRemovePodOfSomebodyElse(t *testing.T) {
	b := podBox(t, 2, 1)
	theirs := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n1", UID: "theirs"}}
	if err := b.kube.Plain().Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	b.until(b.plan(removing("n1")), "nothing", completed)
	if !b.exists(&appsv1.StatefulSet{}, "n1") {
		t.Error("somebody else's StatefulSet is gone")
	}
}

// A node that carries a copy keeps its pod.
func TestRemovePodWithBricks(t *testing.T) {
	b := podPool(t, 3)
	id := b.plan(removing("n1"))
	b.until(id, "the guard", b.waiting("it has brick"))
	until := b.pool.Now().Add(time.Minute)
	b.until(id, "a minute", func(*view.Op) bool { return b.pool.Now().After(until) })
	if n := b.effects()["delete StatefulSet n1"]; n != 0 {
		t.Errorf("the StatefulSet was deleted %d times", n)
	}
}

// When the whole cluster goes its volumes are retained, on the claims.
func TestRemovePodsOfWholeCluster(t *testing.T) {
	b := podPool(t, 4)
	b.until(b.plan(boxStep{planner.StepRemovePod, planner.RemovePodParams{NodeParams: planner.NodeParams{Node: "n1"}, Whole: true}}), "the end of the pod", completed)
	if b.exists(&appsv1.StatefulSet{}, "n1") || !b.exists(&corev1.PersistentVolumeClaim{}, "n1-b1") {
		t.Error("the StatefulSet is still there, or a claim is gone")
	}
}

// A pod on a host that Kubernetes does not hear from does not end: it says so, and
// what a person can do who knows that the host is off.
func TestRemovePodOfLostHost(t *testing.T) {
	b := podBox(t, 5, 1)
	b.until(b.plan(preparing("n1", "gluster:1")...), "the pod", completed)
	edit(b, &corev1.Pod{}, "n1-0", func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "test/lost") })
	id := b.plan(removing("n1"))
	b.until(id, "the first word", b.waiting("the pod of n1 is being stopped on host host-1"))
	b.pool.Advance(20 * 365 * 24 * time.Hour) // past the time of the journal, which is the real one
	b.until(id, "what to do", b.waiting("kubectl delete pod n1-0 --force"))
	edit(b, &corev1.Pod{}, "n1-0", func(p *corev1.Pod) { p.Finalizers = nil })
	b.until(id, "the end of the pod", completed)
}
