package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/gluster/anthill/apis/v1alpha1"
)

func TestServed(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Spec: corev1.PodSpec{NodeName: "h1"}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		change(p)
		return p
	}
	cases := map[string]struct {
		reason string
		change func(*corev1.Pod)
		want   bool
	}{
		"Nothing": {"a resync tells nothing", func(*corev1.Pod) {}, false},
		"Probe":   {"when it was last looked at is the kubelet's matter", func(p *corev1.Pod) { p.Status.Conditions[0].LastProbeTime = metav1.Now() }, false},
		"Unready": {"it ceased to serve", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"Moved":   {"another host", func(p *corev1.Pod) { p.Spec.NodeName = "h2" }, true},
		"Another": {"another pod of the name", func(p *corev1.Pod) { p.UID = "2" }, true},
		"Going":   {"it is being deleted", func(p *corev1.Pod) { now := metav1.Now(); p.DeletionTimestamp = &now }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := served().Update(event.UpdateEvent{ObjectOld: pod(func(*corev1.Pod) {}), ObjectNew: pod(tc.change)}); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestToClusterOfPod(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{v1alpha1.LabelCluster: "c1"}}}
	if got := toClusterOfPod(t.Context(), p); len(got) != 1 || got[0].String() != "ns/c1" {
		t.Errorf("got %v, want ns/c1", got)
	}
	if got := toClusterOfPod(t.Context(), &corev1.Pod{}); len(got) != 0 {
		t.Errorf("a pod of nobody's leads to %v", got)
	}
}
