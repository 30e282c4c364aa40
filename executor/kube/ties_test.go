package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

func goingCluster(policy v1alpha1.DeletionPolicy) *v1alpha1.GlusterCluster {
	now := metav1.NewTime(time.Unix(1, 0))
	return &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1", DeletionTimestamp: &now},
		Spec: v1alpha1.GlusterClusterSpec{DeletionPolicy: policy}}
}

// What Anthill made is told from what only looks like it.
func TestMade(t *testing.T) {
	mine := object.Labels("c1", "n1")
	meta := func(name, uid string, l map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + uid), Labels: l}
	}
	ours := []client.Object{
		object.Service("ns", planner.ServiceParams{Cluster: "c1"}),
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("n1-state", "1", mine)},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("n1-bricks", "2", mine)},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("n3-bricks", "3", object.Labels("c1", "n3"))},
		&appsv1.StatefulSet{ObjectMeta: meta("n2", "4", object.Labels("c1", "n2"))},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("odd", "5", mine)},
	}
	stuck := ours[1].(*corev1.PersistentVolumeClaim)
	stuck.Finalizers = []string{"kubernetes.io/pvc-protection"}
	pod := func(name string, l map[string]string, phase corev1.PodPhase, claim string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: l}, Status: corev1.PodStatus{Phase: phase}}
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		return p
	}
	theirs := []client.Object{
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("n2-state", "6", object.Labels("c1", "n2"))},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("n9-state", "7", object.Labels("c2", "n9"))},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("plain", "8", nil)},
		&appsv1.StatefulSet{ObjectMeta: meta("n7", "9", object.Labels("c1", "n7"))},
		&appsv1.StatefulSet{ObjectMeta: meta("copy-of-n1", "10", mine)},
		pod("n5-0", object.Labels("c1", "n5"), corev1.PodRunning, "n5-state"),
		pod("debug", mine, corev1.PodRunning, "n1-bricks"),
		pod("job", nil, corev1.PodSucceeded, "n1-bricks"),
		&v1alpha1.GlusterNode{ObjectMeta: meta("hand", "11", nil), Spec: v1alpha1.GlusterNodeSpec{Cluster: "c2",
			State: &v1alpha1.NodeState{PVCName: "n3-bricks"}}},
		&v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n1", Annotations: map[string]string{v1alpha1.AnnotationTemplate: "t"}},
			Spec: v1alpha1.GlusterNodeSpec{Cluster: "c1", State: &v1alpha1.NodeState{PVCName: "n1-state"}}},
	}
	c, err := kubetest.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range theirs {
		if err := c.Plain().Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range ours {
		if err := c.Client().Create(t.Context(), o, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Plain().Delete(t.Context(), stuck); err != nil {
		t.Fatal(err)
	}
	got := (&Ties{Live: c.Plain()}).Leaving(t.Context(), goingCluster(v1alpha1.DeletionPurge))
	want := &planner.Leaving{Users: nil, Made: &planner.Made{Service: string(ours[0].GetUID()), Pods: []string{"n2", "n5"}, Claims: []planner.MadeClaim{
		{Name: "n1-bricks", Node: "n1", UID: "uid-2", Users: []string{"debug"}},
		{Name: "n1-state", Node: "n1", UID: "uid-1", Going: "is being deleted, held by finalizers kubernetes.io/pvc-protection"},
		{Name: "n2-state", Node: "n2", UID: "uid-6", Foreign: "Anthill did not make it"},
		{Name: "n3-bricks", Node: "n3", UID: "uid-3", Foreign: "GlusterNode hand names it"},
		{Name: "odd", Node: "n1", UID: "uid-5", Foreign: `it is none that is made for node "n1"`},
	}}}
	got.Users = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if kept := (&Ties{Live: c.Plain()}).Leaving(t.Context(), goingCluster(v1alpha1.DeletionRetain)); kept.Made != nil || kept.Unknown != "" {
		t.Errorf("of a cluster whose data is kept: %+v", kept)
	}
}

// volumes has PersistentVolumes; it counts how often it is asked.
type volumes struct {
	client.Reader
	items []metav1.PartialObjectMetadata
	asked int
	err   error
}

func (v *volumes) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	v.asked++
	var o client.ListOptions
	o.ApplyOptions(opts)
	p, ok := l.(*metav1.PartialObjectMetadataList)
	if !ok {
		return errors.New("more than names is asked for")
	}
	for _, item := range v.items {
		if o.LabelSelector.Matches(labels.Set(item.Labels)) {
			p.Items = append(p.Items, item)
		}
	}
	return v.err
}

func TestUsers(t *testing.T) {
	pv := func(name, namespace, volume string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1alpha1.LabelVolumeNamespace: namespace, v1alpha1.LabelVolume: volume}}}
	}
	half := pv("half", "ns", "")
	delete(half.Labels, v1alpha1.LabelVolume)
	v := &volumes{items: []metav1.PartialObjectMetadata{pv("b", "ns", "v1"), pv("a", "ns", "v1"), pv("c", "ns", "v2"), pv("d", "other", "v1"), half}}
	now := time.Unix(1000, 0)
	ties := &Ties{Live: v, Now: func() time.Time { return now }}
	for range 2 {
		got := ties.Leaving(t.Context(), goingCluster(v1alpha1.DeletionRetain))
		if d := cmp.Diff(&planner.Leaving{Users: map[string][]string{"v1": {"a", "b"}, "v2": {"c"}}}, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if v.asked != 2 {
		t.Errorf("asked %d times: what is told must be of this moment", v.asked)
	}
	v.err = errors.New("no answer")
	if got := ties.Leaving(t.Context(), goingCluster(v1alpha1.DeletionRetain)); got.Unknown != "listing PersistentVolumes: no answer" {
		t.Errorf("nothing may be concluded from silence: %+v", got)
	}
	// Without the right to look, nobody uses anything, and that is not tried in
	// every cycle.
	v.err, v.asked = apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumes"}, "", errors.New("no")), 0
	for range 3 {
		if got := ties.Leaving(t.Context(), goingCluster(v1alpha1.DeletionRetain)); len(got.Users) > 0 || got.Unknown != "" {
			t.Errorf("%+v", got)
		}
	}
	now, v.err = now.Add(deniedMax), nil
	if got := ties.Leaving(t.Context(), goingCluster(v1alpha1.DeletionRetain)); len(got.Users) != 2 || v.asked != 2 {
		t.Errorf("the right was given: %+v, asked %d times", got, v.asked)
	}
}

// A look at Kubernetes that fails anywhere tells nothing.
func TestMadeUnknown(t *testing.T) {
	for _, kind := range []string{"StatefulSetList", "PodList", "PersistentVolumeClaimList"} {
		f := &failing{kind: kind}
		if got := (&Ties{Live: f}).Leaving(t.Context(), goingCluster(v1alpha1.DeletionPurge)); got.Made != nil || got.Unknown == "" {
			t.Errorf("without %s: %+v", kind, got)
		}
	}
}

// failing cannot list one kind.
type failing struct {
	client.Reader
	kind string
}

func (*failing) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (f *failing) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	if p, ok := l.(*metav1.PartialObjectMetadataList); ok && p.Kind == f.kind {
		return errors.New("no answer")
	}
	return nil
}
