package api

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// asOperator reaches the API server with the rights of the operator only.
func asOperator() *rest.Config {
	c := rest.CopyConfig(config)
	c.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:anthill-system:anthill-operator",
		Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	return c
}

func typedClient(t *testing.T, c *rest.Config) kclient.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, storagev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	out, err := kclient.NewWithWatch(c, kclient.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// freshNamespace is one of its own: nobody deletes what is in a namespace here.
func freshNamespace(t *testing.T, admin kclient.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "pods-"}}
	if err := admin.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	// Without controllers nobody makes it, and no pod is admitted without.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "default"}}
	if err := admin.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

func podParams(image string) planner.PodParams {
	p := planner.PodParams{Node: "n1", Cluster: "c1", PodSpec: planner.PodSpec{Image: image, State: planner.PodState{Claim: "n1-state"},
		Storage: []planner.PodStorage{{Name: "d", Device: "/dev/disk/by-id/x"}, {Name: "b", Claim: "n1-b", Block: true}, {Name: "f", Claim: "n1-f"}},
		Affinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"h"}}}}}}},
		Tolerations: []corev1.Toleration{{Key: "storage", Operator: corev1.TolerationOpExists}}}}
	p.Digest = p.Sum()
	return p
}

func wantedObjects(t *testing.T, ns, image string) []kclient.Object {
	t.Helper()
	claims, err := object.Claims(ns, "c1", planner.ClaimsParams{Node: "n1", Claims: []planner.Claim{
		{Name: "n1-state", Class: "fast", Size: "1Gi"}, {Name: "n1-b", Class: "fast", Size: "10Gi", Block: true}, {Name: "n1-f", Class: "fast", Size: "10Gi"}}})
	if err != nil {
		t.Fatal(err)
	}
	out := []kclient.Object{object.Service(ns, planner.ServiceParams{Cluster: "c1"})}
	for _, c := range claims {
		out = append(out, c)
	}
	return append(out, object.Set(ns, podParams(image)))
}

// What is made is accepted by a real API server with the operator's rights, is
// found to be as wanted in spite of what the server fills in, and is not written
// again.
func TestPodObjects(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	pods := &kube.Pods{Client: typedClient(t, asOperator())}
	versions := func() (all []string) {
		for _, o := range wantedObjects(t, ns, "i:1") {
			if err := admin.Get(t.Context(), kclient.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
			all = append(all, o.GetName()+" "+o.GetResourceVersion())
		}
		return all
	}
	var before []string
	for round := range 2 {
		for _, want := range wantedObjects(t, ns, "i:1") {
			s, err := pods.Look(t.Context(), want)
			if err != nil || (round == 0) != (s.State == kube.Absent) || round == 1 && s.State != kube.Fits {
				t.Errorf("round %d: %T %s: %+v, %v", round, want, want.GetName(), s, err)
			}
			if err := pods.Make(t.Context(), want); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if round == 0 {
			before = versions()
		}
	}
	if d := cmp.Diff(before, versions()); d != "" {
		t.Errorf("what is as wanted was written: %s", d)
	}
}

// Another description replaces the whole of the old one, and nothing of anybody
// else's; a change in between is not overwritten.
func TestPodChanges(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	operator := typedClient(t, asOperator())
	pods := &kube.Pods{Client: operator}
	if err := pods.Make(t.Context(), object.Set(ns, podParams("i:1"))); err != nil {
		t.Fatal(err)
	}
	next := podParams("i:2")
	next.Affinity, next.Tolerations = nil, nil
	next.Digest = next.Sum()
	want := object.Set(ns, next)
	annotate := func(value string) {
		var s appsv1.StatefulSet
		if err := admin.Get(context.Background(), kclient.ObjectKeyFromObject(want), &s); err != nil {
			t.Fatal(err)
		}
		s.Annotations["theirs"] = value
		if err := admin.Update(context.Background(), &s); err != nil {
			t.Fatal(err)
		}
	}
	racing := &kube.Pods{Client: interceptor.NewClient(operator, interceptor.Funcs{
		Update: func(ctx context.Context, c kclient.WithWatch, o kclient.Object, opts ...kclient.UpdateOption) error {
			annotate("meanwhile")
			return c.Update(ctx, o, opts...)
		}})}
	if err := racing.Make(t.Context(), want); !apierrors.IsConflict(err) {
		t.Errorf("a change in between: %v", err)
	}
	if err := pods.Make(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	var s appsv1.StatefulSet
	if err := admin.Get(t.Context(), kclient.ObjectKeyFromObject(want), &s); err != nil {
		t.Fatal(err)
	}
	spec := s.Spec.Template.Spec
	if spec.Containers[0].Image != "i:2" || spec.Affinity.NodeAffinity != nil || len(spec.Tolerations) > 0 ||
		s.Annotations["theirs"] != "meanwhile" || s.Annotations[v1alpha1.AnnotationPodDigest] != next.Digest {
		t.Errorf("image %s, affinity %v, tolerations %v, annotations %v", spec.Containers[0].Image, spec.Affinity.NodeAffinity, spec.Tolerations, s.Annotations)
	}
}

// Names that are somebody else's stay so.
func TestPodForeign(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	pods := &kube.Pods{Client: typedClient(t, asOperator())}
	for _, o := range wantedObjects(t, ns, "theirs:1") {
		o.SetLabels(map[string]string{"app": "theirs"})
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range wantedObjects(t, ns, "i:1") {
		if s, err := pods.Look(t.Context(), want); err != nil || s.State != kube.Taken {
			t.Errorf("%T %s: %+v, %v", want, want.GetName(), s, err)
		}
		if err := pods.Make(t.Context(), want); !errors.Is(err, kube.ErrTaken) {
			t.Errorf("%T %s: %v", want, want.GetName(), err)
		}
	}
	k := kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}
	if err := pods.RemoveSet(t.Context(), k); err != nil {
		t.Error(err)
	}
	var s appsv1.StatefulSet
	if err := admin.Get(t.Context(), kclient.ObjectKey{Namespace: ns, Name: "n1"}, &s); err != nil || s.Spec.Template.Spec.Containers[0].Image != "theirs:1" {
		t.Errorf("their StatefulSet: %v, %v", s.Spec.Template.Spec.Containers, err)
	}
}

// made makes the StatefulSet and, in the place of its controller, the pod.
func madePod(t *testing.T, admin kclient.Client, pods *kube.Pods, ns string) *corev1.Pod {
	t.Helper()
	want := object.Set(ns, podParams("i:1"))
	if err := pods.Make(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "n1-0", Labels: want.Spec.Template.Labels, Annotations: want.Spec.Template.Annotations},
		Spec: want.Spec.Template.Spec}
	if err := admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// A pod is let go only if it is the one that was looked at.
func TestPodDelete(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	pods := &kube.Pods{Client: typedClient(t, asOperator())}
	k := kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}
	pod := madePod(t, admin, pods, ns)
	if err := pods.DeletePod(t.Context(), k, someUUID); !apierrors.IsConflict(err) {
		t.Errorf("another pod: %v", err)
	}
	if err := pods.DeletePod(t.Context(), kube.PodKey{Namespace: ns, Cluster: "other", Node: "n1"}, string(pod.UID)); !errors.Is(err, kube.ErrTaken) {
		t.Errorf("a pod of another cluster: %v", err)
	}
	if v, err := pods.Pod(t.Context(), k, nil); err != nil || v.UID != string(pod.UID) {
		t.Errorf("%+v, %v", v, err)
	}
	if err := pods.DeletePod(t.Context(), k, string(pod.UID)); err != nil {
		t.Error(err)
	}
	if v, err := pods.Pod(t.Context(), k, nil); err != nil || v.Exists || !v.Declared {
		t.Errorf("%+v, %v", v, err)
	}
	for range 2 {
		if err := pods.RemoveSet(t.Context(), k); err != nil {
			t.Error(err)
		}
	}
	if v, err := pods.Pod(t.Context(), k, nil); err != nil || v.Declared {
		t.Errorf("%+v, %v", v, err)
	}
}

// What keeps a pod from starting is found in the server's own records.
func TestPodWarning(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	pods := &kube.Pods{Client: typedClient(t, asOperator())}
	if err := pods.Make(t.Context(), object.Set(ns, podParams("i:1"))); err != nil {
		t.Fatal(err)
	}
	var s appsv1.StatefulSet
	if err := admin.Get(t.Context(), kclient.ObjectKey{Namespace: ns, Name: "n1"}, &s); err != nil {
		t.Fatal(err)
	}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "n1.1"}, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
		Message: "violates PodSecurity", LastTimestamp: metav1.Now(), Count: 1,
		InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", APIVersion: "apps/v1", Namespace: ns, Name: "n1", UID: s.UID}}
	if err := admin.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	v, err := pods.Pod(t.Context(), kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}, nil)
	if err != nil || !strings.Contains(v.Message, "violates PodSecurity") {
		t.Errorf("%q, %v", v.Message, err)
	}
}

// Hosts and classes are read by name and label.
func TestLandscape(t *testing.T) {
	admin := typedClient(t, config)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "landscape"}, Provisioner: "example.org/none"}
	host := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "landscape", Labels: map[string]string{corev1.LabelHostname: "h"}}}
	for _, o := range []kclient.Object{class, host} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := admin.Delete(context.WithoutCancel(t.Context()), o); err != nil {
				t.Error(err)
			}
		})
	}
	l := &kube.Landscape{Live: typedClient(t, asOperator())}
	if d := cmp.Diff([]string{"landscape"}, l.Classes(t.Context())); d != "" {
		t.Error(d)
	}
	if n, known := l.Hosts(t.Context(), podParams("i").Affinity); n != 1 || !known {
		t.Errorf("%d hosts, known %v", n, known)
	}
}
