package object

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// Set is the StatefulSet of a node: one pod, with the node's name for ever. It
// has no volumeClaimTemplates, which could never be changed, and no owner: it
// goes only when an operation removes it.
func Set(namespace string, p planner.PodParams) *appsv1.StatefulSet {
	labels := Labels(p.Cluster, p.Node)
	digest := map[string]string{v1alpha1.AnnotationPodDigest: p.Digest}
	one, history := int32(1), int32(1)
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.Node, Labels: labels, Annotations: digest},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &one,
			ServiceName: p.Cluster,
			Selector:    &metav1.LabelSelector{MatchLabels: maps.Clone(labels)},
			// Only a step, behind the heal gate, lets a pod go.
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			// The default waits for other pods of the set; there are none.
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			RevisionHistoryLimit: &history,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels), Annotations: maps.Clone(digest)},
				Spec:       pod(p),
			},
		},
	}
}

// FitSet brings what can be changed of have in line with want and reports
// whether it was not. Everything in the pod's description is ours: it is
// replaced as a whole. What cannot be changed is a reason in words.
func FitSet(have, want *appsv1.StatefulSet) (changed bool, unfit string) {
	if have.Spec.ServiceName != want.Spec.ServiceName {
		return false, "its Service is " + have.Spec.ServiceName + ", which cannot be changed"
	}
	if fits(have, want) {
		return false, ""
	}
	if have.Annotations == nil {
		have.Annotations = map[string]string{}
	}
	maps.Copy(have.Annotations, want.Annotations)
	have.Spec.Replicas = want.Spec.Replicas
	have.Spec.UpdateStrategy = want.Spec.UpdateStrategy
	have.Spec.Template = want.Spec.Template
	return true, ""
}

func fits(have, want *appsv1.StatefulSet) bool {
	digest := want.Annotations[v1alpha1.AnnotationPodDigest]
	return have.Annotations[v1alpha1.AnnotationPodDigest] == digest &&
		have.Spec.Template.Annotations[v1alpha1.AnnotationPodDigest] == digest &&
		have.Spec.Replicas != nil && *have.Spec.Replicas == *want.Spec.Replicas &&
		have.Spec.UpdateStrategy.Type == want.Spec.UpdateStrategy.Type &&
		image(have) == image(want)
}

func image(s *appsv1.StatefulSet) string {
	for _, c := range s.Spec.Template.Spec.Containers {
		if c.Name == v1alpha1.ContainerName {
			return c.Image
		}
	}
	return ""
}
