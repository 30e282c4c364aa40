package object

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gluster/anthill/planner"
)

func TestFitSet(t *testing.T) {
	params := planner.PodParams{Node: "n1", Cluster: "c1", Digest: "d2", PodSpec: planner.PodSpec{Image: "i:2"}}
	cases := map[string]struct {
		reason  string
		edit    func(s *appsv1.StatefulSet)
		changed bool
		unfit   bool
	}{
		"Same":          {"nothing is written", func(*appsv1.StatefulSet) {}, false, false},
		"Defaults":      {"what the API server fills in is no difference", func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.RestartPolicy = "Always" }, false, false},
		"Digest":        {"another description", func(s *appsv1.StatefulSet) { s.Annotations["anthill.gluster.org/pod-digest"] = "d1" }, true, false},
		"TemplateOnly":  {"a write that somebody undid by half", func(s *appsv1.StatefulSet) { s.Spec.Template.Annotations = nil }, true, false},
		"Scaled":        {"somebody scaled it", func(s *appsv1.StatefulSet) { *s.Spec.Replicas = 0 }, true, false},
		"Strategy":      {"Kubernetes would restart pods by itself", func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = "RollingUpdate" }, true, false},
		"Image":         {"edited by hand", func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "x" }, true, false},
		"Service":       {"its pod would have another name", func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "other" }, false, true},
		"NoAnnotations": {"made before there were any", func(s *appsv1.StatefulSet) { s.Annotations = nil }, true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			have, want := Set("ns", params), Set("ns", params)
			have.Annotations["theirs"] = "kept"
			tc.edit(have)
			changed, unfit := FitSet(have, want)
			if changed != tc.changed || (unfit != "") != tc.unfit {
				t.Errorf("%s: changed %v, unfit %q", tc.reason, changed, unfit)
			}
			if again, _ := FitSet(have, want); again && !tc.unfit {
				t.Errorf("%s: what was brought in line differs", tc.reason)
			}
			if have.Annotations != nil && tc.changed && name != "NoAnnotations" && have.Annotations["theirs"] != "kept" {
				t.Errorf("%s: somebody's annotation is gone", tc.reason)
			}
		})
	}
}
