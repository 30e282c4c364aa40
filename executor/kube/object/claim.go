package object

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/planner"
)

// Claims are the claims of a node of a template.
func Claims(namespace, cluster string, p planner.ClaimsParams) ([]*corev1.PersistentVolumeClaim, error) {
	out := make([]*corev1.PersistentVolumeClaim, 0, len(p.Claims))
	for _, c := range p.Claims {
		size, err := resource.ParseQuantity(c.Size)
		if err != nil {
			return nil, fmt.Errorf("size %q of claim %q: %w", c.Size, c.Name, err)
		}
		mode := corev1.PersistentVolumeFilesystem
		if c.Block {
			mode = corev1.PersistentVolumeBlock
		}
		out = append(out, &corev1.PersistentVolumeClaim{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name, Labels: Labels(cluster, p.Node)},
			Spec: corev1.PersistentVolumeClaimSpec{
				// Not ReadWriteOncePod, which only some drivers know: there is one pod
				// of a StatefulSet at a time anyway.
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: &c.Class,
				VolumeMode:       &mode,
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			},
		})
	}
	return out, nil
}

// UnfitClaim says why a claim of ours is not the one wanted; a claim is never
// changed. A larger one will do.
func UnfitClaim(have, want *corev1.PersistentVolumeClaim) string {
	if a, b := ClassOf(have), ClassOf(want); a != b {
		return fmt.Sprintf("it is of storage class %q, not %q", a, b)
	}
	if a, b := IsBlock(have), IsBlock(want); a != b {
		return fmt.Sprintf("its volume mode is %s, not %s", *have.Spec.VolumeMode, *want.Spec.VolumeMode)
	}
	a, b := have.Spec.Resources.Requests[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if a.Cmp(b) < 0 {
		return fmt.Sprintf("it asks for %s, not %s", a.String(), b.String())
	}
	return ""
}

// ClassOf is the storage class of a claim; empty: none, or not decided yet.
func ClassOf(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// SizeOf is what a claim asks for; empty: nothing.
func SizeOf(c *corev1.PersistentVolumeClaim) string {
	if q, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		return q.String()
	}
	return ""
}

// IsBlock reports whether a claim is of volume mode Block.
func IsBlock(c *corev1.PersistentVolumeClaim) bool {
	return c.Spec.VolumeMode != nil && *c.Spec.VolumeMode == corev1.PersistentVolumeBlock
}
