package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// Labels of what belongs to a cluster, and to one of its nodes if that is given.
func Labels(cluster, node string) map[string]string {
	l := map[string]string{v1alpha1.LabelCluster: cluster}
	if node != "" {
		l[v1alpha1.LabelNode] = node
	}
	return l
}

// IsOurs reports whether an object carries the labels of want: Anthill made it,
// for the same cluster and node. Without them it is somebody else's, whatever
// its name.
func IsOurs(have, want metav1.Object) bool {
	for _, key := range []string{v1alpha1.LabelCluster, v1alpha1.LabelNode} {
		if have.GetLabels()[key] != want.GetLabels()[key] {
			return false
		}
	}
	return have.GetLabels()[v1alpha1.LabelCluster] != ""
}
