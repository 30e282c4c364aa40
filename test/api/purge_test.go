package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// purgeClaims are the claims of a node of a template.
func purgeClaims(t *testing.T, ns, node string) []*corev1.PersistentVolumeClaim {
	t.Helper()
	p := planner.ClaimsParams{Node: node}
	for _, name := range []string{node + "-state", node + "-bricks"} {
		p.Claims = append(p.Claims, planner.Claim{Name: name, Class: "fast", Size: "1Gi"})
	}
	claims, err := object.Claims(ns, "c1", p)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// remnants names all claims, Services, StatefulSets, pods and nodes of a namespace.
func remnants(t *testing.T, admin kclient.Client, ns string) []string {
	t.Helper()
	var out []string
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), corev1.SchemeGroupVersion.WithKind("Service"),
		appsv1.SchemeGroupVersion.WithKind("StatefulSet"), corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Secret"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), v1alpha1.GroupVersion.WithKind(v1alpha1.KindNode),
	} {
		var l metav1.PartialObjectMetadataList
		l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := admin.List(t.Context(), &l, kclient.InNamespace(ns)); err != nil {
			t.Fatalf("listing %s: %v", kind, err)
		}
		for i := range l.Items {
			if o := &l.Items[i]; o.DeletionTimestamp == nil { // without controllers its finalizers stay
				out = append(out, kind.Kind+" "+o.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// mountingPod mounts a claim.
func mountingPod(ns, name, claim string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}}}
}

// R66: with the rights of the operator all is removed that it made, and nothing
// that only looks like it: claims and Services with the same labels, StatefulSets
// and pods that were copied with theirs.
func TestPurgeRemovesWhatWasMade(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	pods := &kube.Pods{Client: typedClient(t, asOperator())}
	labels := object.Labels("c1", "n1")
	create := func(o kclient.Object) {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	// What others made: first, so that what is left can be compared.
	before := remnants(t, admin, ns)
	theirs := purgeClaims(t, ns, "n9")
	for _, c := range theirs { // somebody restored them from a backup, labels and all
		create(c)
	}
	other := purgeClaims(t, ns, "n1")[0]
	other.Name = "n1-backup"
	create(other)
	copied := object.Set(ns, podParams("i:1"))
	copied.Name = "copy-of-n1"
	create(copied)
	create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c1-metrics", Labels: object.Labels("c1", "")}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 1}}}})
	debug := mountingPod(ns, "debug", "n9-state")
	debug.Labels = labels
	create(debug)
	foreign := remnants(t, admin, ns)

	k := kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}
	for _, c := range purgeClaims(t, ns, "n1") {
		if err := pods.Make(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := pods.Make(t.Context(), object.Service(ns, planner.ServiceParams{Cluster: "c1"})); err != nil {
		t.Fatal(err)
	}
	if err := pods.Make(t.Context(), object.Set(ns, podParams("i:1"))); err != nil {
		t.Fatal(err)
	}
	made, err := pods.Made(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"n1"}, made.Pods); d != "" {
		t.Errorf("nodes with pods: %s", d)
	}
	if err := pods.RemoveSet(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if made, err = pods.Made(t.Context(), k); err != nil || len(made.Pods) > 0 {
		t.Fatalf("%+v, %v", made, err)
	}
	removed := 0
	for _, c := range made.Claims {
		ref := planner.ObjectRef{Name: c.Name, UID: c.UID}
		node := kube.PodKey{Namespace: ns, Cluster: "c1", Node: c.Node}
		err := pods.RemoveClaim(t.Context(), node, ref)
		switch {
		case c.Foreign == "" && err == nil:
			removed++
		case c.Foreign != "" && errors.Is(err, kube.ErrTaken):
		default:
			t.Errorf("claim %s (%s): %v", c.Name, c.Foreign, err)
		}
	}
	if removed != 2 {
		t.Errorf("%d claims were removed, want 2", removed)
	}
	if err := pods.RemoveService(t.Context(), k, planner.ObjectRef{Name: "c1", UID: made.Service}); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(foreign, remnants(t, admin, ns)); d != "" {
		t.Errorf("what is left is not what others made (-want +got):\n%s", d)
	}
	if len(foreign) < len(before)+6 {
		t.Errorf("there was less of others than was to be: %v", foreign)
	}
}

// A claim is removed only as it was looked at: another one of its name, and one
// that somebody changed in between, stays. One that a pod uses is waited for, and
// what holds it is said.
func TestPurgePreconditions(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	operator := typedClient(t, asOperator())
	pods := &kube.Pods{Client: operator}
	k := kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}
	want := purgeClaims(t, ns, "n1")[0]
	if err := pods.Make(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	claim := &corev1.PersistentVolumeClaim{}
	read := func() *corev1.PersistentVolumeClaim {
		if err := admin.Get(t.Context(), kclient.ObjectKeyFromObject(want), claim); err != nil {
			t.Fatal(err)
		}
		return claim
	}
	ref := planner.ObjectRef{Name: want.Name, UID: string(read().UID)}
	racing := &kube.Pods{Client: interceptor.NewClient(operator, interceptor.Funcs{
		Delete: func(ctx context.Context, c kclient.WithWatch, o kclient.Object, opts ...kclient.DeleteOption) error {
			kept := read()
			kept.Annotations = map[string]string{"theirs": "keep"}
			if err := admin.Update(ctx, kept); err != nil {
				t.Error(err)
			}
			return c.Delete(ctx, o, opts...)
		}})}
	if err := racing.RemoveClaim(t.Context(), k, ref); !apierrors.IsConflict(err) {
		t.Errorf("a change in between: %v", err)
	}
	other := planner.ObjectRef{Name: want.Name, UID: someUUID}
	if r, err := pods.Claim(t.Context(), k, other); err != nil || !r.Gone {
		t.Errorf("another claim of the name: %+v, %v", r, err)
	}
	if err := pods.RemoveClaim(t.Context(), k, other); err != nil {
		t.Error(err)
	}
	if r, err := pods.Claim(t.Context(), k, ref); err != nil || r != (kube.Remnant{}) {
		t.Errorf("it is not there any more: %+v, %v", r, err)
	}
	// The API server puts pvc-protection on each claim; without its controller
	// nobody takes it off, which is what a pod that mounts the claim looks like.
	if err := admin.Create(t.Context(), mountingPod(ns, "rescue", want.Name)); err != nil {
		t.Fatal(err)
	}
	if err := pods.RemoveClaim(t.Context(), k, ref); err != nil {
		t.Error(err)
	}
	made, err := pods.Made(t.Context(), k)
	if err != nil || len(made.Claims) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	if d := cmp.Diff(planner.MadeClaim{Name: want.Name, Node: "n1", UID: ref.UID, Users: []string{"rescue"},
		Going: "is being deleted, held by finalizers kubernetes.io/pvc-protection"}, made.Claims[0]); d != "" {
		t.Error(d)
	}
}

// R65: who may look finds the PersistentVolumes that use a volume; who may not
// finds none, and that is no error.
func TestVolumeUsers(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	for i, l := range []map[string]string{
		{v1alpha1.LabelVolumeNamespace: ns, v1alpha1.LabelVolume: "v1"},
		{v1alpha1.LabelVolumeNamespace: "other", v1alpha1.LabelVolume: "v1"},
		{v1alpha1.LabelVolume: "v1"}, nil,
	} {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(ns, "-", i), Labels: l}, Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: *purgeClaims(t, ns, "n")[0].Spec.Resources.Requests.Storage()},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}}}
		if err := admin.Create(t.Context(), pv); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := admin.Delete(context.WithoutCancel(t.Context()), pv); err != nil {
				t.Error(err)
			}
		})
	}
	now := metav1.Now()
	cluster := &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c1", UID: types.UID("u"), DeletionTimestamp: &now}}
	ties := &kube.Ties{Live: typedClient(t, asOperator())}
	want := &planner.Leaving{Users: map[string][]string{"v1": {ns + "-0"}}}
	if d := cmp.Diff(want, ties.Leaving(t.Context(), cluster)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	unbind(t, "anthill-operator-volumes", "", "persistentvolumes")
	if d := cmp.Diff(&planner.Leaving{}, ties.Leaving(t.Context(), cluster)); d != "" {
		t.Errorf("without the right to look (-want +got):\n%s", d)
	}
}
