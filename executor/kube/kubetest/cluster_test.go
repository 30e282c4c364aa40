package kubetest

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A StatefulSet becomes a pod that serves; a pod that is deleted is stopped and
// made anew, and one whose StatefulSet went goes too.
func TestPodOfAStatefulSet(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "set"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	c, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	var stopped []types.UID
	c.Stop = func(p *corev1.Pod) { stopped = append(stopped, p.UID) }
	tick := func(times int) *corev1.Pod {
		t.Helper()
		for range times {
			if err := c.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var pod corev1.Pod
		err := c.Plain().Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "n-0"}, &pod)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		return &pod
	}
	first := tick(4)
	if first == nil || first.Spec.NodeName != "host-1" || len(first.Status.Conditions) != 2 || first.Status.Conditions[1].Status != "True" {
		t.Fatalf("after four rounds the pod is %+v", first)
	}
	other := types.UID("other")
	if err := c.Client().Delete(t.Context(), first, client.Preconditions{UID: &other}); !apierrors.IsConflict(err) {
		t.Errorf("deleting another pod: %v", err)
	}
	if err := c.Client().Delete(t.Context(), first, client.Preconditions{UID: &first.UID}); err != nil {
		t.Fatal(err)
	}
	if p := tick(0); p == nil || p.DeletionTimestamp == nil {
		t.Error("a pod is gone before its container has ended")
	}
	second := tick(2)
	if second == nil || second.UID == first.UID || len(stopped) != 1 {
		t.Fatalf("the pod was not made anew; stopped: %v", stopped)
	}
	if err := c.Client().Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if p := tick(2); p != nil {
		t.Errorf("the pod outlives its StatefulSet: %+v", p)
	}
}
