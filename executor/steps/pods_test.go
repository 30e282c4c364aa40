package steps

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// preparing are the steps that make a node's pod.
func preparing(node, image string) []boxStep {
	return []boxStep{
		{planner.StepMakeService, planner.ServiceParams{Cluster: "c"}},
		{planner.StepMakeClaims, claimsStep(node)},
		{planner.StepMakePod, podStep(node, image)},
		{planner.StepPodReady, podStep(node, image)},
	}
}

// made is what preparing n1 creates, each once.
var made = map[string]int{
	"create Service c": 1, "create PersistentVolumeClaim n1-state": 1, "create PersistentVolumeClaim n1-b1": 1, "create StatefulSet n1": 1,
}

func TestPodFromNothing(t *testing.T) {
	b := podBox(t, 1, 1)
	op := b.until(b.plan(preparing("n1", "gluster:1")...), "the pod", completed)
	if want := "the pod of n1 serves on host-1"; op.Steps[3].Message != want {
		t.Errorf("it says %q, want %q", op.Steps[3].Message, want)
	}
	if d := cmp.Diff(made, b.effects()); d != "" {
		t.Errorf("changes in Kubernetes (-want +got):\n%s", d)
	}
	b.until(b.plan(preparing("n1", "gluster:1")...), "the same again", completed)
	if d := cmp.Diff(made, b.effects()); d != "" {
		t.Errorf("doing it again changed something (-want +got):\n%s", d)
	}
}

// Whatever becomes of one call, the end is the same and nothing is made twice.
func TestPodFaults(t *testing.T) {
	gr := schema.GroupResource{Resource: "things"}
	faults := map[string]struct {
		reason string
		fault  kubetest.Fault
	}{
		"LostReply":   {"the call had its effect", kubetest.Fault{Err: errors.New("connection reset"), Lost: true}},
		"NoAnswer":    {"it had none", kubetest.Fault{Err: errors.New("connection refused"), Times: 2}},
		"Timeout":     {"the server says that it does not know", kubetest.Fault{Err: apierrors.NewTimeoutError("later", 1)}},
		"TimeoutDone": {"and had done it", kubetest.Fault{Err: apierrors.NewTimeoutError("later", 1), Lost: true}},
		"Forbidden":   {"rights can be given", kubetest.Fault{Err: apierrors.NewForbidden(gr, "x", errors.New("no right")), Times: 3}},
		"Conflict":    {"somebody changed it at this moment", kubetest.Fault{Err: apierrors.NewConflict(gr, "x", errors.New("changed")), Times: 2}},
		"Busy":        {"the server asks for patience", kubetest.Fault{Err: apierrors.NewTooManyRequests("slow down", 1), Times: 2}},
	}
	for _, kind := range []string{"Service", "PersistentVolumeClaim", "StatefulSet"} {
		for name, tc := range faults {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := podBox(t, 2, 1)
				f := tc.fault
				f.Verb, f.Kind = "create", kind
				b.kube.Fail(f)
				b.until(b.plan(preparing("n1", "gluster:1")...), "the pod", completed)
				if d := cmp.Diff(made, b.effects()); d != "" {
					t.Errorf("%s: changes in Kubernetes (-want +got):\n%s", tc.reason, d)
				}
			})
		}
	}
}

// TestPodCrashes ends the operator at random moments.
func TestPodCrashes(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			b := podBox(t, uint64(seed), 1)
			id := b.plan(preparing("n1", "gluster:1")...)
			for range 12 {
				time.Sleep(time.Duration(b.rand.IntN(10)) * time.Millisecond)
				b.crash()
			}
			b.until(id, "the pod", completed)
			if d := cmp.Diff(made, b.effects()); d != "" {
				t.Errorf("changes in Kubernetes (-want +got):\n%s", d)
			}
		})
	}
}

// What Anthill did not make is never touched, whatever its name.
func TestPodForeignObjects(t *testing.T) {
	at := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "theirs", Labels: map[string]string{"app": "other"}}
	}
	ofOther := at("n1")
	ofOther.Labels = podStepLabels("other", "n1")
	cases := map[string]struct {
		reason string
		object client.Object
	}{
		"Service":       {"a Service of the cluster's name", &corev1.Service{ObjectMeta: at("c"), Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}},
		"Claim":         {"a claim a person made", &corev1.PersistentVolumeClaim{ObjectMeta: at("n1-b1")}},
		"Set":           {"a StatefulSet of the node's name", &appsv1.StatefulSet{ObjectMeta: at("n1")}},
		"SetOfAnother":  {"of another cluster of Anthill's", &appsv1.StatefulSet{ObjectMeta: ofOther}},
		"PodInTheWay":   {"a pod of the pod's name", &corev1.Pod{ObjectMeta: at("n1-0")}},
		"MadeMeanwhile": {"made between look and create", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := podBox(t, 3, 1)
			o := tc.object
			if o == nil {
				o = &appsv1.StatefulSet{ObjectMeta: at("n1")}
				b.kube.Fail(kubetest.Fault{Verb: "create", Kind: "StatefulSet", Before: func() { _ = b.kube.Plain().Create(t.Context(), o.DeepCopyObject().(client.Object)) }})
			} else if err := b.kube.Plain().Create(t.Context(), o.DeepCopyObject().(client.Object)); err != nil {
				t.Fatal(err)
			}
			b.until(b.plan(preparing("n1", "gluster:1")...), "NameTaken", func(op *view.Op) bool {
				return op.State == view.Suspended && b.waiting(reasonNameTaken)(op)
			})
			now := o.DeepCopyObject().(client.Object)
			if err := b.kube.Plain().Get(t.Context(), client.ObjectKeyFromObject(o), now); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(o.GetLabels(), now.GetLabels()); d != "" || now.GetUID() != "theirs" {
				t.Errorf("%s: it was touched: %s", tc.reason, d)
			}
		})
	}
}

func podStepLabels(cluster, node string) map[string]string {
	return map[string]string{"anthill.gluster.org/cluster": cluster, "anthill.gluster.org/node": node}
}

func TestAPIErrors(t *testing.T) {
	gr := schema.GroupResource{Resource: "pods"}
	cases := map[string]struct {
		reason string
		err    error
		want   executor.Class
	}{
		"Invalid":   {"the same request is refused again", apierrors.NewBadRequest("no"), executor.Permanent},
		"Forbidden": {"rights can be given", apierrors.NewForbidden(gr, "x", nil), executor.Transient},
		"Conflict":  {"look again", apierrors.NewConflict(gr, "x", nil), executor.Transient},
		"Exists":    {"look again", apierrors.NewAlreadyExists(gr, "x"), executor.Transient},
		"Timeout":   {"it may have happened", apierrors.NewTimeoutError("", 1), executor.Uncertain},
		"Internal":  {"it may have happened", apierrors.NewInternalError(errors.New("x")), executor.Uncertain},
		"Lost":      {"it may have happened", errors.New("connection reset by peer"), executor.Uncertain},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if c, _ := executor.ClassOf(apiError(fmt.Errorf("creating: %w", tc.err)), true); c != tc.want {
				t.Errorf("%s: class %s, want %s", tc.reason, c, tc.want)
			}
		})
	}
	if apiError(nil) != nil {
		t.Error("no error became one")
	}
}
