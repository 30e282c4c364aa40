package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

var testKey = PodKey{Namespace: "ns", Cluster: "c1", Node: "n1"}

func testSet() *appsv1.StatefulSet {
	s := object.Set("ns", planner.PodParams{Node: "n1", Cluster: "c1", Digest: "d1", PodSpec: planner.PodSpec{Image: "i:1"}})
	s.UID, s.Generation = "set", 2
	return s
}

// testPod is a pod of testSet that serves.
func testPod(edit func(p *corev1.Pod)) *corev1.Pod {
	t := testSet().Spec.Template
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n1-0", UID: "pod", Labels: t.Labels, Annotations: t.Annotations}}
	p.Spec.NodeName = "host-1"
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1alpha1.ContainerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	edit(p)
	return p
}

func same(*corev1.Pod) {}

func notReady(c corev1.ContainerState) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", Message: "containers with unready status: [glusterd]"}}
		p.Status.ContainerStatuses[0].State = c
	}
}

func warning(of, text string, at time.Time) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: text}, Type: corev1.EventTypeWarning, Message: text,
		InvolvedObject: corev1.ObjectReference{UID: types.UID(of)}, LastTimestamp: metav1.NewTime(at)}
}

func TestLook(t *testing.T) {
	at := time.Unix(1000, 0)
	foreignSet := testSet()
	foreignSet.Labels = nil
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    PodView
		message string
	}{
		"Nothing": {"nobody made it yet", nil, PodView{Pod: planner.Pod{Reason: v1alpha1.ReasonPodNotReady}}, "there is no StatefulSet n1 yet"},
		"Serves": {"all is well", []client.Object{testSet(), testPod(same)},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Ready: true, Running: true}, Exists: true}, ""},
		"TakenUp": {"the controller has seen what is declared", []client.Object{func() client.Object {
			s := testSet()
			s.Status.ObservedGeneration = 2
			return s
		}(), testPod(same)},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Ready: true, Running: true}, Exists: true, TakenUp: true}, ""},
		"Foreign": {"somebody else's StatefulSet", []client.Object{foreignSet, testPod(same)},
			PodView{Pod: planner.Pod{Foreign: true, Reason: v1alpha1.ReasonNameTaken}}, "Anthill did not make it"},
		"ForeignPod": {"somebody else's pod", []client.Object{testSet(), testPod(func(p *corev1.Pod) { p.Labels = nil })},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Foreign: true, Reason: v1alpha1.ReasonNameTaken}}, "Anthill did not make it"},
		"Forbidden": {"why there is no pod stands in an event of the StatefulSet", []client.Object{testSet(), warning("set", "violates PodSecurity", at)},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Reason: v1alpha1.ReasonPodNotReady}}, "no pod n1-0 yet: violates PodSecurity; pods of glusterd are privileged, the namespace must permit it: kubectl label namespace ns pod-security"},
		"NoPriority": {"nor is a pod made without its PriorityClass", []client.Object{testSet(), warning("set", `create Pod n1-0 in StatefulSet n1 failed error: pods "n1-0" is forbidden: no PriorityClass with name high was found`, at)},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Reason: v1alpha1.ReasonPodNotReady}}, "there is no pod n1-0 yet: create Pod n1-0 in StatefulSet n1 failed error: pods \"n1-0\" is forbidden: no PriorityClass with name high was found"},
		"Unschedulable": {"the scheduler's words", []client.Object{testSet(), testPod(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes\nare available"}}}
		})}, PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Reason: v1alpha1.ReasonPodUnschedulable}, Exists: true},
			"no host takes pod n1-0: 0/3 nodes are available"},
		"Image": {"the kubelet's words", []client.Object{testSet(), testPod(notReady(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}))},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady}, Exists: true}, "ErrImagePull: not found"},
		"Device": {"why it is not started stands in an event, the newest one", []client.Object{testSet(),
			testPod(notReady(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})),
			warning("pod", "older", at), warning("pod", "is not a block device", at.Add(time.Minute)), warning("other", "of another", at.Add(time.Hour))},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady}, Exists: true}, "being started on host-1: is not a block device"},
		"Crashes": {"how it ended last", []client.Object{testSet(), testPod(func(p *corev1.Pod) {
			notReady(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}})(p)
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", Message: "no state"}
		})}, PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady}, Exists: true}, "it ended with 3 (Error): no state"},
		"GlusterdDown": {"commands reach it", []client.Object{testSet(), testPod(notReady(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}))},
			PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady, Running: true}, Exists: true}, "its glusterd does not serve yet"},
		"HostLost": {"the host does not report", []client.Object{testSet(), testPod(func(p *corev1.Pod) {
			p.Status.Conditions[0] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "the host is lost"}
		})}, PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady, Running: true}, Exists: true}, "the host is lost"},
		"Evicted": {"it ended", []client.Object{testSet(), testPod(func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}
		})}, PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady}, Exists: true}, "Evicted low on memory"},
		"Stopping": {"it was told to stop", []client.Object{testSet(), testPod(func(p *corev1.Pod) {
			now := metav1.NewTime(at)
			p.DeletionTimestamp, p.Finalizers = &now, []string{"x/y"}
		})}, PodView{Pod: planner.Pod{Declared: true, Declares: "d1", Runs: "d1", UID: "pod", Host: "host-1", Reason: v1alpha1.ReasonPodNotReady}, Exists: true, Stopping: true}, "is being stopped"},
		"Orphan": {"a pod without its StatefulSet", []client.Object{testPod(same)},
			PodView{Pod: planner.Pod{Runs: "d1", UID: "pod", Host: "host-1", Ready: true, Running: true}, Exists: true}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := kubetest.New(tc.objects...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&PodReader{Live: c.Plain()}).Look(t.Context(), testKey, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Message, tc.message) || (tc.message == "") != (got.Message == "") {
				t.Errorf("%s: it says %q, want %q", tc.reason, got.Message, tc.message)
			}
			got.Message, got.Claims = "", nil
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, d)
			}
		})
	}
}

func TestLookAtClaims(t *testing.T) {
	claim := func(name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		class := "fast"
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
	}
	block := claim("block", corev1.ClaimBound)
	mode := corev1.PersistentVolumeBlock
	block.Spec.VolumeMode = &mode
	c, err := kubetest.New(block, claim("file", corev1.ClaimBound), claim("waits", corev1.ClaimPending), claim("lost", corev1.ClaimLost),
		warning("waits", "no volume plugin", time.Unix(1000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	// The cache has none of them: a person made them.
	empty, err := kubetest.New()
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&PodReader{Cache: empty.Plain(), Live: c.Plain()}).Look(t.Context(), testKey, []string{"block", "file", "waits", "lost", "missing"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]planner.ClaimView{
		"block": {Bound: true, Block: true, Class: "fast"},
		"file":  {Bound: true, Class: "fast"},
		"waits": {Class: "fast", Message: "it waits for a volume: no volume plugin"},
		"lost":  {Class: "fast", Lost: true, Message: "the volume it was bound to is gone"},
	}
	if d := cmp.Diff(want, got.Claims); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
