package object

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/planner"
)

// glusterdPort is where glusterd listens. Bricks have ports of their own, which
// nobody knows beforehand: a headless Service hides none.
const glusterdPort = 24007

// Service is the headless Service by which the pods of a cluster have names.
func Service(namespace string, p planner.ServiceParams) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.Cluster, Labels: Labels(p.Cluster, "")},
		Spec: corev1.ServiceSpec{
			Type:      corev1.ServiceTypeClusterIP,
			ClusterIP: corev1.ClusterIPNone,
			Selector:  Labels(p.Cluster, ""),
			// A pod is ready when its glusterd serves, and glusterd starts only where
			// the names of its peers, and its own, mean something.
			PublishNotReadyAddresses: true,
			Ports:                    []corev1.ServicePort{{Name: "glusterd", Protocol: corev1.ProtocolTCP, Port: glusterdPort}},
		},
	}
}

// FitService brings have in line with want and reports whether it was not. What
// cannot be changed is a reason in words.
func FitService(have, want *corev1.Service) (changed bool, unfit string) {
	if have.Spec.ClusterIP != corev1.ClusterIPNone || have.Spec.Type != want.Spec.Type && have.Spec.Type != "" {
		return false, "it is not headless, and cannot become so"
	}
	if maps.Equal(have.Spec.Selector, want.Spec.Selector) && have.Spec.PublishNotReadyAddresses {
		return false, ""
	}
	have.Spec.Selector, have.Spec.PublishNotReadyAddresses = want.Spec.Selector, true
	return true, ""
}
