package object

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/planner"
)

// affinity lets the pods of one cluster prefer different hosts, so that a host
// takes one copy with it and not two. It is no more than a preference: a pod
// that waits for ever for a host of its own serves nobody.
func affinity(p planner.PodParams) *corev1.Affinity {
	return &corev1.Affinity{
		NodeAffinity: p.Affinity,
		PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight: 100,
				PodAffinityTerm: corev1.PodAffinityTerm{
					LabelSelector: &metav1.LabelSelector{MatchLabels: Labels(p.Cluster, "")},
					TopologyKey:   corev1.LabelHostname,
				},
			}},
		},
	}
}
