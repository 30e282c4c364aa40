package steps

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// purgeBox is a box whose cluster is being deleted with its data: the pod of n1 is
// gone, its claims and the Service are there.
func purgeBox(t *testing.T, seed uint64) *box {
	t.Helper()
	b := podBox(t, seed, 1)
	steps := []boxStep{{planner.StepMakeService, planner.ServiceParams{Cluster: "c"}}, {planner.StepMakeClaims, templateClaims("n1")}}
	b.until(b.plan(steps...), "claims and Service", completed)
	c := &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", Finalizers: []string{v1alpha1.Finalizer},
		Annotations: map[string]string{v1alpha1.AnnotationConfirmDelete: "c"}}, Spec: v1alpha1.GlusterClusterSpec{DeletionPolicy: v1alpha1.DeletionPurge}}
	b.must(b.kube.Plain().Create(t.Context(), c))
	b.must(b.kube.Plain().Delete(t.Context(), c))
	return b
}

func (b *box) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// claimNames are those of a node of a template.
func claimNames(node string) []string {
	return []string{node + "-state", node + "-bricks"}
}

func templateClaims(node string) planner.ClaimsParams {
	p := planner.ClaimsParams{Node: node}
	for _, name := range claimNames(node) {
		p.Claims = append(p.Claims, planner.Claim{Name: name, Class: "fast", Size: "1Gi"})
	}
	return p
}

// claim is one of n1's as it is.
func (b *box) claim(name string) *corev1.PersistentVolumeClaim {
	b.t.Helper()
	var c corev1.PersistentVolumeClaim
	b.must(b.kube.Plain().Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, &c))
	return &c
}

// purging removes the claims of n1 that are there now, each in a step.
func (b *box) purging() []boxStep {
	b.t.Helper()
	var out []boxStep
	for _, name := range claimNames("n1") {
		ref := planner.ObjectRef{Name: name, UID: string(b.claim(name).UID)}
		out = append(out, boxStep{planner.StepRemoveClaims, planner.RemoveClaimsParams{Node: "n1", Claims: []planner.ObjectRef{ref}}})
	}
	return out
}

func (b *box) claimsLeft() (left []string) {
	b.t.Helper()
	for _, name := range claimNames("n1") {
		if b.exists(&corev1.PersistentVolumeClaim{}, name) {
			left = append(left, name)
		}
	}
	return left
}

// edit changes an object of the box as somebody else would.
func edit[T client.Object](b *box, o T, name string, change func(T)) {
	b.t.Helper()
	b.must(b.kube.Plain().Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, o))
	change(o)
	b.must(b.kube.Plain().Update(b.t.Context(), o))
}

func TestRemoveClaims(t *testing.T) {
	b := purgeBox(t, 1)
	theirs := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "theirs"}}
	b.must(b.kube.Plain().Create(t.Context(), theirs))
	steps := b.purging()
	op := b.until(b.plan(steps...), "the end of the claims", completed)
	if left := b.claimsLeft(); len(left) > 0 || !b.exists(&corev1.PersistentVolumeClaim{}, "data") {
		t.Errorf("claims left: %v; or somebody else's is gone", left)
	}
	if want := "removed: n1-bricks"; op.Steps[1].Message != want {
		t.Errorf("it says %q, want %q", op.Steps[1].Message, want)
	}
	b.until(b.plan(steps...), "the same again", completed)
	want := map[string]int{"delete PersistentVolumeClaim n1-state": 1, "delete PersistentVolumeClaim n1-bricks": 1}
	if d := cmp.Diff(want, b.removals()); d != "" {
		t.Errorf("removals (-want +got):\n%s", d)
	}
}

// removals are the effects that take something away.
func (b *box) removals() map[string]int {
	out := map[string]int{}
	for e, n := range b.effects() {
		if strings.HasPrefix(e, "delete ") {
			out[e] = n
		}
	}
	return out
}

// Whatever becomes of one call, both go, and only they.
func TestRemoveClaimsFaults(t *testing.T) {
	gr := schema.GroupResource{Resource: "persistentvolumeclaims"}
	faults := map[string]struct {
		reason string
		fault  kubetest.Fault
	}{
		"LostReply": {"the call had its effect", kubetest.Fault{Err: errors.New("connection reset"), Lost: true}},
		"NoAnswer":  {"it had none", kubetest.Fault{Err: errors.New("connection refused"), Times: 2}},
		"Forbidden": {"rights can be given", kubetest.Fault{Err: apierrors.NewForbidden(gr, "x", errors.New("no right")), Times: 3}},
		"Conflict":  {"somebody changed it at this moment", kubetest.Fault{Err: apierrors.NewConflict(gr, "x", errors.New("changed")), Times: 2}},
		"Busy":      {"the server asks for patience", kubetest.Fault{Err: apierrors.NewTooManyRequests("slow down", 1), Times: 2}},
	}
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := purgeBox(t, 2)
			f := tc.fault
			f.Verb, f.Kind = "delete", "PersistentVolumeClaim"
			b.kube.Fail(f)
			b.until(b.plan(b.purging()...), "the end of the claims", completed)
			if left := b.claimsLeft(); len(left) > 0 {
				t.Errorf("%s: claims left: %v", tc.reason, left)
			}
			if d := cmp.Diff(map[string]int{"delete PersistentVolumeClaim n1-state": 1, "delete PersistentVolumeClaim n1-bricks": 1}, b.removals()); d != "" {
				t.Errorf("%s: removals (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestRemoveClaimsCrashes ends the operator at random moments.
func TestRemoveClaimsCrashes(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			b := purgeBox(t, uint64(seed))
			service := &corev1.Service{}
			b.must(b.kube.Plain().Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c"}, service))
			id := b.plan(append(b.purging(), boxStep{planner.StepRemoveService, planner.RemoveServiceParams{Cluster: "c", UID: string(service.UID)}})...)
			for range 12 {
				time.Sleep(time.Duration(b.rand.IntN(10)) * time.Millisecond)
				b.crash()
			}
			b.until(id, "the end of the claims", completed)
			want := map[string]int{"delete PersistentVolumeClaim n1-state": 1, "delete PersistentVolumeClaim n1-bricks": 1, "delete Service c": 1}
			if d := cmp.Diff(want, b.removals()); d != "" {
				t.Errorf("removals (-want +got):\n%s", d)
			}
		})
	}
}

// While one of these holds nothing is removed, and it says why; then it is.
func TestRemoveClaimsGuards(t *testing.T) {
	mount := func(name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "p", Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c"}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "n1-state"}}}}}}
	}
	policy := func(p v1alpha1.DeletionPolicy) func(*box) {
		return func(b *box) {
			edit(b, &v1alpha1.GlusterCluster{}, "c", func(c *v1alpha1.GlusterCluster) { c.Spec.DeletionPolicy = p })
		}
	}
	confirm := func(name string) func(*box) {
		return func(b *box) {
			edit(b, &v1alpha1.GlusterCluster{}, "c", func(c *v1alpha1.GlusterCluster) {
				c.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: name}
			})
		}
	}
	cases := map[string]struct {
		reason         string
		says           string
		before, lifted func(*box)
	}{
		"Retain":       {"the data is to be kept", "spec.deletionPolicy is not Purge", policy(v1alpha1.DeletionRetain), policy(v1alpha1.DeletionPurge)},
		"NoPolicy":     {"Retain is the default", "spec.deletionPolicy is not Purge", policy(""), policy(v1alpha1.DeletionPurge)},
		"NotConfirmed": {"a mistake is no confirmation", "is not the name of the cluster", confirm("C"), confirm("c")},
		"Declared": {"a pod of the cluster is declared", "while pods of the cluster are there: n2",
			func(b *box) { b.until(b.plan(preparing("n2", "gluster:1")...), "a pod", completed) },
			func(b *box) {
				b.until(b.plan(boxStep{planner.StepRemovePod, planner.RemovePodParams{NodeParams: planner.NodeParams{Node: "n2"}, Whole: true}}), "its end", completed)
			}},
		"Running": {"a pod of the cluster is left", "while pods of the cluster are there: n2",
			func(b *box) { b.must(b.kube.Plain().Create(b.t.Context(), mount("n2-0", object.Labels("c", "n2")))) },
			func(b *box) { b.must(b.kube.Plain().Delete(b.t.Context(), mount("n2-0", nil))) }},
		"Mounted": {"somebody else mounts a claim", "claim n1-state is not removed while a pod mounts it: delete pod rescue first",
			func(b *box) { b.must(b.kube.Plain().Create(b.t.Context(), mount("rescue", nil))) },
			func(b *box) { b.must(b.kube.Plain().Delete(b.t.Context(), mount("rescue", nil))) }},
		"Named": {"a person's GlusterNode names a claim", "claim n1-state is not removed: GlusterNode hand names it",
			func(b *box) {
				b.must(b.kube.Plain().Create(b.t.Context(), &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hand"},
					Spec: v1alpha1.GlusterNodeSpec{Cluster: "other", Storage: []v1alpha1.Storage{{Name: "d", PVCName: "n1-state"}}}}))
			},
			func(b *box) {
				b.must(b.kube.Plain().Delete(b.t.Context(), &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hand"}}))
			}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := purgeBox(t, 3)
			tc.before(b)
			id := b.plan(b.purging()...)
			b.until(id, "why not", b.waiting(tc.says))
			until := b.pool.Now().Add(time.Minute)
			b.until(id, "a minute", func(*view.Op) bool { return b.pool.Now().After(until) })
			if left := b.claimsLeft(); len(left) != 2 {
				t.Fatalf("%s: claims left: %v", tc.reason, left)
			}
			tc.lifted(b)
			b.until(id, "the end of the claims", completed)
			if left := b.claimsLeft(); len(left) > 0 {
				t.Errorf("claims left: %v", left)
			}
		})
	}
}

// What is not the claim that Anthill made, and that was planned, stays.
func TestRemoveClaimsOfSomebodyElse(t *testing.T) {
	theirs := func(labels map[string]string) func(*box) {
		return func(b *box) {
			b.must(b.kube.Plain().Delete(b.t.Context(), b.claim("n1-state")))
			b.must(b.kube.Plain().Create(b.t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n1-state", UID: "theirs", Labels: labels}}))
		}
	}
	cases := map[string]struct {
		reason string
		change func(*box)
		later  bool // after it was planned
	}{
		"Labelled": {"a person made it, with our labels", theirs(object.Labels("c", "n1")), false},
		"Again":    {"another one has its name by now", theirs(object.Labels("c", "n1")), true},
		"Unlabeled": {"a person took our label off to keep it", func(b *box) {
			edit(b, &corev1.PersistentVolumeClaim{}, "n1-state", func(c *corev1.PersistentVolumeClaim) { c.Labels = nil })
		}, true},
		"OtherNode": {"it is another node's by now", func(b *box) {
			edit(b, &corev1.PersistentVolumeClaim{}, "n1-state", func(c *corev1.PersistentVolumeClaim) { c.Labels[v1alpha1.LabelNode] = "n2" })
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := purgeBox(t, 4)
			if !tc.later {
				tc.change(b)
			}
			steps := b.purging()
			if tc.later {
				tc.change(b)
			}
			b.until(b.plan(steps...), "the end of the other claim", completed)
			if d := cmp.Diff([]string{"n1-state"}, b.claimsLeft()); d != "" {
				t.Errorf("%s: claims left (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// From the first claim on there is no way back: what a person takes back then
// does not leave half of a node.
func TestRemoveClaimsNoWayBack(t *testing.T) {
	b := purgeBox(t, 5)
	edit(b, &corev1.PersistentVolumeClaim{}, "n1-state", func(c *corev1.PersistentVolumeClaim) { c.Finalizers = []string{"kubernetes.io/pvc-protection"} })
	id := b.plan(b.purging()...)
	b.until(id, "what holds it", b.waiting("claim n1-state is being deleted, held by finalizers kubernetes.io/pvc-protection"))
	edit(b, &v1alpha1.GlusterCluster{}, "c", func(c *v1alpha1.GlusterCluster) { c.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
	b.crash()
	edit(b, &corev1.PersistentVolumeClaim{}, "n1-state", func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	b.until(id, "the end of the claims", completed)
	if left := b.claimsLeft(); len(left) > 0 {
		t.Errorf("claims left: %v", left)
	}
}
