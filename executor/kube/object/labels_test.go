package object

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestIsOurs(t *testing.T) {
	of := func(cluster, node string) *corev1.Pod {
		p := &corev1.Pod{}
		p.Labels = Labels(cluster, node)
		return p
	}
	cases := map[string]struct {
		reason string
		have   *corev1.Pod
		ours   bool
	}{
		"Ours":       {"both labels", of("c1", "n1"), true},
		"OtherNode":  {"of another node", of("c1", "n2"), false},
		"Cluster":    {"of another cluster", of("c2", "n1"), false},
		"NoNode":     {"of the cluster as a whole", of("c1", ""), false},
		"NoLabels":   {"somebody else's", &corev1.Pod{}, false},
		"EmptyLabel": {"labels without values are nobody's", of("", ""), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsOurs(tc.have, of("c1", "n1")); got != tc.ours {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
	if IsOurs(&corev1.Pod{}, &corev1.Pod{}) {
		t.Error("what has no labels is nobody's")
	}
}
