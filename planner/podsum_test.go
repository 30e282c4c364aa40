package planner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The digest decides whether pods are restarted. What this release knows beyond
// earlier ones, and nobody declares, is not in it.
func TestPodSum(t *testing.T) {
	base := func() PodSpec {
		return PodSpec{Image: "gluster:10", State: PodState{Claim: "c1-main-0-state"}, Storage: []PodStorage{{Name: "bricks", Claim: "c1-main-0-bricks"}}}
	}
	memory := func(s string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s)}}
	}
	plain := base()
	if got, want := plain.Sum(), "9e0ad4a11e51caa4"; got != want {
		t.Errorf("a pod of the first release has digest %s, was %s: every pod would be restarted", got, want)
	}
	if plain.sumOf(podSpecVersion) != plain.Sum() || plain.sumOf(podSpecVersion+1) == plain.Sum() {
		t.Error("the digest is not of the version of this release")
	}
	seen := map[string]string{plain.Sum(): "plain"}
	for name, edit := range map[string]func(*PodSpec){
		"image":    func(p *PodSpec) { p.Image = "gluster:11" },
		"storage":  func(p *PodSpec) { p.Storage = append(p.Storage, PodStorage{Name: "more", Claim: "x"}) },
		"priority": func(p *PodSpec) { p.PriorityClass = "high" },
		"memory":   func(p *PodSpec) { p.Resources = memory("1Gi") },
		"more":     func(p *PodSpec) { p.Resources = memory("2Gi") },
	} {
		p := base()
		edit(&p)
		if other := seen[p.Sum()]; other != "" {
			t.Errorf("another %s makes the same digest as %s", name, other)
		}
		seen[p.Sum()] = name
	}
	same := base()
	same.Resources = memory("1024Mi")
	if seen[same.Sum()] != "memory" {
		t.Error("the same amount of memory, written otherwise, restarts the pod")
	}
}
