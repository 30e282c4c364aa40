package steps

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

func (b *box) serviceUID() string {
	b.t.Helper()
	var s corev1.Service
	b.must(b.kube.Plain().Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: "c"}, &s))
	return string(s.UID)
}

func TestRemoveService(t *testing.T) {
	b := purgeBox(t, 1)
	b.kube.Fail(kubetest.Fault{Verb: "delete", Kind: "Service", Err: errors.New("connection reset"), Lost: true})
	step := boxStep{planner.StepRemoveService, planner.RemoveServiceParams{Cluster: "c", UID: b.serviceUID()}}
	b.until(b.plan(step), "the end of the Service", completed)
	if b.exists(&corev1.Service{}, "c") {
		t.Error("the Service is still there")
	}
	b.until(b.plan(step), "the same again", completed)
}

// It stays as long as a pod has a name by it.
func TestRemoveServiceOfPods(t *testing.T) {
	b := purgeBox(t, 2)
	b.until(b.plan(preparing("n2", "gluster:1")...), "a pod", completed)
	id := b.plan(boxStep{planner.StepRemoveService, planner.RemoveServiceParams{Cluster: "c", UID: b.serviceUID()}})
	b.until(id, "why not", b.waiting("while pods of the cluster are there: n2"))
	if !b.exists(&corev1.Service{}, "c") {
		t.Error("the Service is gone")
	}
}

// One that Anthill did not make stays, labels or not.
func TestRemoveServiceOfSomebodyElse(t *testing.T) {
	b := purgeBox(t, 3)
	var s corev1.Service
	b.must(b.kube.Plain().Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c"}, &s))
	b.must(b.kube.Plain().Delete(t.Context(), &s))
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "theirs", Labels: object.Labels("c", "")}}
	b.must(b.kube.Plain().Create(t.Context(), theirs))
	b.until(b.plan(boxStep{planner.StepRemoveService, planner.RemoveServiceParams{Cluster: "c", UID: "theirs"}}), "nothing", completed)
	if !b.exists(&corev1.Service{}, "c") {
		t.Error("somebody else's Service is gone")
	}
}
