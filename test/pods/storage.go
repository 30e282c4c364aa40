package pods

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
)

// storageClassVariable names the class of claims in a cluster that KUBECONFIG
// names.
const storageClassVariable = "ANTHILL_STORAGE_CLASS"

// brickMiB is the size of a disk for bricks in a cluster of ours, and of claims
// on it.
const brickMiB = 800

// storage is what each node of a template gets: in a cluster of ours a disk as
// it came, which Anthill formats, and a folder that can move for glusterd's
// state; else claims of a class.
func (s *Site) storage() v1alpha1.TemplateStorage {
	size := resource.MustParse(fmt.Sprintf("%dMi", brickMiB))
	if !s.Env.Ours() {
		return v1alpha1.TemplateStorage{StorageClassName: os.Getenv(storageClassVariable), Size: &size}
	}
	block := corev1.PersistentVolumeBlock
	return v1alpha1.TemplateStorage{
		StorageClassName: cluster.ClassBlock, Size: &size, VolumeMode: &block, StateStorageClassName: cluster.ClassMovable,
	}
}

// Disks gives every node of a cluster of ours so many disks of that name that
// claims of templates can be bound to.
func (s *Site) Disks(ctx context.Context, name string, perNode int) error {
	for _, n := range s.Env.Nodes() {
		for i := range perNode {
			d, err := n.AddDevice(fmt.Sprintf("%s-%d", name, i), brickMiB)
			if err != nil {
				return err
			}
			if _, err := d.PersistentVolume(ctx, corev1.PersistentVolumeBlock); client.IgnoreAlreadyExists(err) != nil {
				return err
			}
		}
	}
	return nil
}
