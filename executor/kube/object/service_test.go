package object

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gluster/anthill/planner"
)

func TestFitService(t *testing.T) {
	cases := map[string]struct {
		reason  string
		edit    func(s *corev1.Service)
		changed bool
		unfit   bool
	}{
		"Same":     {"nothing is written", func(*corev1.Service) {}, false, false},
		"Ready":    {"pods would have no name before they serve", func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = false }, true, false},
		"Selector": {"it would name other pods", func(s *corev1.Service) { s.Spec.Selector = nil }, true, false},
		"HasIP":    {"an address of its own cannot be taken away", func(s *corev1.Service) { s.Spec.ClusterIP = "10.0.0.1" }, false, true},
		"External": {"it is of another type", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort }, false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			have, want := Service("ns", planner.ServiceParams{Cluster: "c1"}), Service("ns", planner.ServiceParams{Cluster: "c1"})
			tc.edit(have)
			changed, unfit := FitService(have, want)
			if changed != tc.changed || (unfit != "") != tc.unfit {
				t.Errorf("%s: changed %v, unfit %q", tc.reason, changed, unfit)
			}
		})
	}
}
