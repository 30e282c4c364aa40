package pods

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
)

// disks gives nodes so many disks each, of a storage class of their own, so that
// a pool is on these and on no others, and returns what a template says for it.
func (s *Site) disks(ctx context.Context, class string, perNode ...int) (v1alpha1.TemplateStorage, error) {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	retain := corev1.PersistentVolumeReclaimRetain
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class},
		Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait, ReclaimPolicy: &retain}
	if err := s.Client.Create(ctx, sc); err != nil {
		return v1alpha1.TemplateStorage{}, fmt.Errorf("making storage class %s: %w", class, err)
	}
	for i, n := range s.Env.Nodes()[:len(perNode)] {
		for k := range perNode[i] {
			d, err := n.AddDevice(fmt.Sprintf("%s-%d", class, k), brickMiB)
			if err != nil {
				return v1alpha1.TemplateStorage{}, err
			}
			if err := s.Client.Create(ctx, diskVolume(d, class)); err != nil {
				return v1alpha1.TemplateStorage{}, fmt.Errorf("making the PersistentVolume of %s on %s: %w", d.Name, n.Name(), err)
			}
		}
	}
	storage := s.storage()
	storage.StorageClassName = class
	return storage, nil
}

// diskVolume is the PersistentVolume of a disk as it came.
func diskVolume(d *cluster.Device, class string) *corev1.PersistentVolume {
	block := corev1.PersistentVolumeBlock
	v := &corev1.PersistentVolume{}
	v.Name = d.Node.Name() + "-" + d.Name
	v.Spec = corev1.PersistentVolumeSpec{
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dMi", d.MiB))},
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		StorageClassName:              class, VolumeMode: &block,
		PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: d.Path()}},
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{d.Node.Name()},
			}}}},
		}},
	}
	return v
}

// forget removes the PersistentVolumes and the class of disks.
func (s *Site) forget(ctx context.Context, class string) error {
	var l corev1.PersistentVolumeList
	if err := s.Client.List(ctx, &l); err != nil {
		return fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	for i := range l.Items {
		if l.Items[i].Spec.StorageClassName != class {
			continue
		}
		if err := s.Client.Delete(ctx, &l.Items[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing PersistentVolume %s: %w", l.Items[i].Name, err)
		}
	}
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}}
	return client.IgnoreNotFound(s.Client.Delete(ctx, sc))
}
