package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

func TestOrphans(t *testing.T) {
	node := nodeObject("x", func(n *v1alpha1.GlusterNode) { n.Status.UUID = testPool })
	volume := volumeObject("x", func(v *v1alpha1.GlusterVolume) { v.Status.VolumeID = testVolume })
	del := func(o client.Object) client.Object { o = o.DeepCopyObject().(client.Object); deleted(o); return o }
	cases := map[string]struct {
		reason  string
		kind    string
		objects []client.Object
		blocked metav1.ConditionStatus
		writes  []string // of the first call; the second writes nothing
		gone    bool
	}{
		"NodeWithoutCluster": {reason: "a node says that its cluster is missing", kind: v1alpha1.KindNode, objects: []client.Object{node},
			blocked: metav1.ConditionTrue, writes: []string{"apply(anthill) GlusterNode/x"}},
		"VolumeWithoutCluster": {reason: "so does a volume", kind: v1alpha1.KindVolume, objects: []client.Object{volume},
			blocked: metav1.ConditionTrue, writes: []string{"apply(anthill) GlusterVolume/x"}},
		"WithCluster":         {reason: "with a cluster it is not ours", kind: v1alpha1.KindNode, objects: []client.Object{node, clusterObject()}},
		"DeletedNode":         {reason: "nobody else lets it go", kind: v1alpha1.KindNode, objects: []client.Object{del(node)}, writes: []string{"patch GlusterNode/x"}, gone: true},
		"DeletedVolume":       {reason: "nobody else lets it go", kind: v1alpha1.KindVolume, objects: []client.Object{del(volume)}, writes: []string{"patch GlusterVolume/x"}, gone: true},
		"DeletedWithCluster":  {reason: "its cluster decides", kind: v1alpha1.KindNode, objects: []client.Object{del(node), clusterObject()}},
		"AbsentObjectIsFine":  {reason: "gone already", kind: v1alpha1.KindNode, gone: true},
		"OtherKindOfThatName": {reason: "only its kind", kind: v1alpha1.KindNode, objects: []client.Object{volume}, gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, o := range tc.objects {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			w := newWorld(t, objects...)
			r := NewOrphanage(w.client, tc.kind, planner.Plan, Options{Recorder: w.events, Clock: w.r.opts.Clock})
			req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "x"}}
			for i := range 2 {
				w.writes = nil
				res, err := r.Reconcile(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if ours := tc.writes != nil; ours && i == 0 {
					same(t, tc.reason, "result", res, ctrl.Result{RequeueAfter: 30 * time.Second})
				}
				want := tc.writes
				if i > 0 {
					want = nil
				}
				same(t, tc.reason, "writes", w.writes, want)
			}
			o := newObject(tc.kind)
			same(t, tc.reason, "gone", w.gone(o, "x"), tc.gone)
			if tc.blocked != "" {
				b := conditionOf(conditionsOf(o), v1alpha1.ConditionBlocked)
				same(t, tc.reason, "blocked", b.Status, tc.blocked)
				same(t, tc.reason, "why", b.Reason, v1alpha1.ReasonClusterNotFound)
			}
			same(t, "only letting go is worth an event", "events", len(w.events.with("Retained")), len(tc.writes)*bit(tc.gone))
		})
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.GlusterNode:
		return o.Status.Conditions
	case *v1alpha1.GlusterVolume:
		return o.Status.Conditions
	}
	return nil
}

func TestClusterTakesOverFromTheOrphanage(t *testing.T) {
	w := newWorld(t, nodeObject("n1"))
	r := NewOrphanage(w.client, v1alpha1.KindNode, planner.Plan, Options{})
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "n1"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Create(t.Context(), clusterObject()); err != nil {
		t.Fatal(err)
	}
	w.plan = nil
	w.r.plan = planConverged("GlusterCluster/c1", "GlusterNode/n1")
	w.cycle()
	n := get(w, &v1alpha1.GlusterNode{}, "n1")
	same(t, "one owner: the next apply replaces what was said", "blocked", conditionOf(n.Status.Conditions, v1alpha1.ConditionBlocked).Status, metav1.ConditionFalse)
}
