package pods

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// R65, R66, R67: a cluster that is to go with its data. While a PersistentVolume
// gives its volume to somebody, everything stays and is looked after. Without the
// confirmation it waits. Then all goes that was made for it, and nothing else:
// what others have in the namespace stays, whatever its labels.
func TestPurge(t *testing.T) {
	t.Parallel()
	const name = "gone"
	ns := named("purge")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	foreign(t, s, ns, name)
	of := func(o client.Object) bool {
		if o.GetNamespace() == ns {
			return true
		}
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return false
		}
		claimed, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "namespace")
		return claimed == ns
	}
	must(t, s.AwaitThat(t.Context(), slow, "the foreign claims are bound", func() string {
		var list corev1.PersistentVolumeClaimList
		must(t, s.Client.List(t.Context(), &list, client.InNamespace(ns)))
		for i := range list.Items {
			if list.Items[i].Status.Phase != corev1.ClaimBound {
				return list.Items[i].Name + " is not"
			}
		}
		return ""
	}))
	before, err := s.inventory(t.Context(), of)
	must(t, err)

	c := rig.Cluster(ns, name)
	c.Spec.DeletionPolicy = v1alpha1.DeletionPurge
	c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
		Name: Template, Thresholds: v1alpha1.Thresholds{Nodes: 2}, Storage: v1alpha1.TemplateStorage{StorageClassName: cluster.ClassMovable},
	}}
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = ns, "files"
	v.Spec.Cluster = name
	v.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 1}
	create(t, s, c, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	joined(t, s, c, 2)

	inUse := givenToSomebody(t, s, v)
	must(t, s.Client.Delete(t.Context(), v))
	must(t, s.Client.Delete(t.Context(), c))
	blocked(t, s, v, v1alpha1.ReasonWaitingForDeletion, inUse.Name)
	n := &v1alpha1.GlusterNode{}
	n.Namespace, n.Name = ns, NodeName(name, 1)
	s.restart(t, n) // still looked after
	must(t, s.Client.Delete(t.Context(), inUse))
	must(t, s.AwaitGone(t.Context(), slow, v))

	blocked(t, s, c, v1alpha1.ReasonConfirmationMissing, v1alpha1.AnnotationConfirmDelete)
	if pods := s.pods(t, ns); len(pods) != 2 {
		t.Errorf("pods are %v before the deletion was confirmed", pods)
	}
	must(t, s.Change(t.Context(), c, func() { c.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: name} }))
	must(t, s.AwaitGone(t.Context(), slow, c))
	var diff string
	must(t, s.AwaitThat(t.Context(), slow, "nothing is left but what was there before", func() string {
		after, err := s.inventory(t.Context(), of)
		must(t, err)
		diff = cmp.Diff(before, after)
		return diff
	}))
}

// foreign makes what others may have: under our labels, and under names like ours.
func foreign(t *testing.T, s *Site, ns, name string) {
	t.Helper()
	labels := map[string]string{v1alpha1.LabelCluster: name, v1alpha1.LabelNode: NodeName(name, 0)}
	for _, n := range []string{"somebodys", NodeName(name, 0) + "-other"} {
		claim(t, s, ns, n, cluster.ClassMovable, "", false)
	}
	labelled := &corev1.PersistentVolumeClaim{}
	labelled.Namespace, labelled.Name = ns, "somebodys"
	must(t, s.Change(t.Context(), labelled, func() { labelled.Labels = labels }))
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	service.Namespace, service.Name, service.Labels = ns, name+"-web", labels
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name, secret.Labels = ns, name, labels
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name, config.Labels = ns, NodeName(name, 1), labels
	create(t, s, service, secret, config)
}

// givenToSomebody makes a PersistentVolume of the volume, as somebody does who
// lets pods claim it.
func givenToSomebody(t *testing.T, s *Site, v *v1alpha1.GlusterVolume) *corev1.PersistentVolume {
	t.Helper()
	pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		StorageClassName:       "by-hand",
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/" + v.Name}},
	}}
	pv.Name = v.Namespace + "-" + v.Name
	pv.Labels = map[string]string{v1alpha1.LabelVolumeNamespace: v.Namespace, v1alpha1.LabelVolume: v.Name}
	create(t, s, pv)
	t.Cleanup(func() { must(t, client.IgnoreNotFound(s.Client.Delete(background, pv))) })
	return pv
}
