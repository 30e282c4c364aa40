package manager

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gluster/anthill/executor/kube/object"
)

func TestCached(t *testing.T) {
	all, err := Cached()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for o, by := range all {
		ours, theirs := labels.Set(object.Labels("c", "n")), labels.Set{"app": "other"}
		switch o.(type) {
		case *appsv1.StatefulSet, *corev1.Pod:
			seen++
			if !by.Label.Matches(ours) || by.Label.Matches(theirs) {
				t.Errorf("%T: what Anthill made is cached, and nothing else: %s", o, by.Label)
			}
		case *corev1.PersistentVolumeClaim:
			seen++
			if by.Label != nil {
				t.Errorf("%T: claims of people have no label of ours: %s", o, by.Label)
			}
		}
		if by.Transform == nil {
			t.Errorf("%T is kept with what nobody reads", o)
		}
	}
	if seen != 3 || len(all) != 3 {
		t.Errorf("%d kinds, %d of them known", len(all), seen)
	}
}
