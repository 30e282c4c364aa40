package observe

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// A node that is a pod is what its gate and Kubernetes say, a server outside
// Kubernetes only what its gate says.
func TestObservePods(t *testing.T) {
	w := newWorld(3)
	for i := range w.nodes {
		w.nodes[i].Spec.Storage = []v1alpha1.Storage{{Name: "d", PVCName: "claim-" + w.nodes[i].Name}}
	}
	w.nodes[1].Spec.NodeAffinity = &corev1.NodeAffinity{}
	w.nodes[2].Spec.Storage, w.nodes[2].Spec.External = nil, &v1alpha1.ExternalServer{Address: "e"}
	sets := []client.Object{}
	for _, n := range w.nodes[:2] {
		s := object.Set("ns", planner.PodParams{Node: n.Name, Cluster: "c", Digest: "d", PodSpec: planner.PodSpec{Image: "i"}})
		sets = append(sets, s, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "claim-" + n.Name}})
	}
	c, err := kubetest.New(append(sets, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "h"}})...)
	if err != nil {
		t.Fatal(err)
	}
	c.Place = func(p *corev1.Pod) (string, string) {
		if p.Labels[v1alpha1.LabelNode] == "n1" {
			return "", "no space"
		}
		return "h", ""
	}
	for range 5 {
		if err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o := w.cache().Observer
	o.Pods, o.Landscape = &kube.PodReader{Live: c.Plain()}, &kube.Landscape{Live: places{}}
	obs := o.Pool(t.Context(), &w.cluster, w.nodes)

	n0 := obs.Servers["n0"]
	if !n0.Answered() || n0.UUID != "u" || n0.Pod == nil || !n0.Pod.Ready || n0.Pod.Host != "h" || n0.Pod.Runs != "d" || n0.Pod.Declares != "d" {
		t.Errorf("n0, which runs: %+v, pod %+v", n0, n0.Pod)
	}
	if d := cmp.Diff(map[string]planner.ClaimView{"claim-n0": {Message: "it waits for a volume"}}, n0.Pod.Claims); d != "" {
		t.Errorf("claims of n0: %s", d)
	}
	n1 := obs.Servers["n1"]
	if n1.Reason != v1alpha1.ReasonPodUnschedulable || n1.UUID != "" || n1.Pod == nil || !n1.Pod.Declared || n1.Pod.Ready {
		t.Errorf("n1, which no host takes: %+v, pod %+v", n1, n1.Pod)
	}
	if n2 := obs.Servers["n2"]; !n2.Answered() || n2.Pod != nil {
		t.Errorf("n2, which is no pod: %+v", n2)
	}
	if d := cmp.Diff(planner.Observed{Classes: []string{"fast"}, Hosts: map[string]int{"n1": 1}}, planner.Observed{Classes: obs.Classes, Hosts: obs.Hosts}); d != "" {
		t.Errorf("what they can be placed on: %s", d)
	}
}

// places has one host and one class.
type places struct{ client.Reader }

func (places) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	p := l.(*metav1.PartialObjectMetadataList)
	p.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "fast"}}}
	return nil
}

// A pod that cannot be looked at is not one that is missing.
func TestObserveWhatCannotBeRead(t *testing.T) {
	w := newWorld(1)
	c, err := kubetest.New()
	if err != nil {
		t.Fatal(err)
	}
	c.Fail(kubetest.Fault{Verb: "get", Kind: "StatefulSet", Err: errors.New("forbidden"), Times: 9})
	o := w.cache().Observer
	o.Pods = &kube.PodReader{Live: c.Client()}
	s := o.Pool(t.Context(), &w.cluster, w.nodes).Servers["n0"]
	if s.Answered() || s.Pod != nil {
		t.Errorf("%+v, pod %+v", s, s.Pod)
	}
}

// Kubernetes is not asked for pools without pods.
func TestObserveServersWithoutKubernetes(t *testing.T) {
	w := newWorld(2)
	for i := range w.nodes {
		w.nodes[i].Spec.External = &v1alpha1.ExternalServer{Address: w.nodes[i].Name}
	}
	o := w.cache().Observer
	o.Pods, o.Landscape = &kube.PodReader{Live: nobody{t}}, &kube.Landscape{Live: nobody{t}}
	obs := o.Pool(t.Context(), &w.cluster, w.nodes)
	if len(obs.Servers) != 2 || obs.Classes != nil || obs.Hosts != nil {
		t.Errorf("%+v", obs)
	}
}

// nobody is to be asked.
type nobody struct{ t *testing.T }

func (n nobody) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	n.t.Errorf("%T %s is read", o, key)
	return nil
}

func (n nobody) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	n.t.Errorf("%T is listed", l)
	return nil
}
