package manager

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// Cached says what the cache holds of Kubernetes' own kinds. A kind is watched
// once somebody reads it: in an installation without pods, none is. Of
// StatefulSets and pods it holds only what Anthill made. Claims that a person
// made for a node carry no label of ours, so of them it holds all, without what
// nobody reads.
func Cached() (map[client.Object]cache.ByObject, error) {
	ours, err := labels.NewRequirement(v1alpha1.LabelNode, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting what Anthill made: %w", err)
	}
	made := cache.ByObject{Label: labels.NewSelector().Add(*ours), Transform: cache.TransformStripManagedFields()}
	return map[client.Object]cache.ByObject{
		&appsv1.StatefulSet{}:           made,
		&corev1.Pod{}:                   made,
		&corev1.PersistentVolumeClaim{}: {Transform: cache.TransformStripManagedFields()},
	}, nil
}
