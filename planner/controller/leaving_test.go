package controller

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// ties counts how often it is asked.
type ties struct {
	ObserverFunc
	asked int
	tells *planner.Leaving
}

func (o *ties) Leaving(context.Context, *v1alpha1.GlusterCluster) *planner.Leaving {
	o.asked++
	return o.tells
}

// What depends on an object is asked for while it is being deleted, and never of
// an idle cluster (R28).
func TestTiesAreAskedOnlyOfWhatIsDeleted(t *testing.T) {
	cases := map[string]struct {
		reason  string
		cluster func(*v1alpha1.GlusterCluster)
		volume  func(*v1alpha1.GlusterVolume)
		asked   int
	}{
		"Idle":    {"nothing is being deleted", withPool, func(*v1alpha1.GlusterVolume) {}, 0},
		"Volume":  {"a volume is", withPool, func(v *v1alpha1.GlusterVolume) { deleted(v) }, 3},
		"Cluster": {"the cluster is", func(c *v1alpha1.GlusterCluster) { withPool(c); deleted(c) }, func(*v1alpha1.GlusterVolume) {}, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, clusterObject(tc.cluster), volumeObject("v1", tc.volume))
			o := &ties{tells: &planner.Leaving{Unknown: "why"}, ObserverFunc: func(context.Context, *v1alpha1.GlusterCluster, []v1alpha1.GlusterNode) planner.Observed {
				return planner.Observed{}
			}}
			w.r.observer = o
			var seen *planner.Leaving
			w.plan = func(s planner.Snapshot) planner.Decision { seen = s.Observed.Leaving; return planner.Decision{} }
			for range 3 {
				w.cycle()
			}
			same(t, tc.reason, "asked", o.asked, tc.asked)
			same(t, "planning gets to know", "told", seen != nil, tc.asked > 0)
		})
	}
}

// The real planner with the real controller: a cluster whose data is to go says
// what is missing, and stays.
func TestPurgeUnconfirmed(t *testing.T) {
	w := newWorld(t, clusterObject(func(c *v1alpha1.GlusterCluster) {
		withPool(c)
		deleted(c)
		c.Spec.DeletionPolicy = v1alpha1.DeletionPurge
	}), nodeObject("c1-main-0", func(n *v1alpha1.GlusterNode) {
		n.Spec.External = nil
		n.Annotations = map[string]string{v1alpha1.AnnotationTemplate: "main"}
	}))
	w.plan = planner.Plan
	w.observed = planner.Observed{Servers: map[string]planner.Server{"c1-main-0": {Reason: v1alpha1.ReasonPodNotReady, Pod: &planner.Pod{Declared: true, UID: "u"}}}}
	w.cycle()
	blocked := conditionOf(w.cluster().Status.Conditions, v1alpha1.ConditionBlocked)
	same(t, "what a person has to say", "reason", blocked.Reason, v1alpha1.ReasonConfirmationMissing)
	same(t, "nothing is taken away meanwhile", "operations", len(w.open()), 0)

	c := w.cluster()
	c.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: "c1"}
	if err := w.client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.cycle()
	same(t, "confirmed, its pods go", "operations", len(w.open()), 1)
	same(t, "", "kind", w.open()[0].Plan.Kind, planner.KindReleaseNode)
}

// A claim that is removed is news for people, with what it was about.
func TestPurgedIsTold(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	w := newWorld(t, clusterObject(func(c *v1alpha1.GlusterCluster) { withPool(c); c.DeletionTimestamp = &now }))
	w.plan = once(planner.Decision{Release: []string{"GlusterCluster/c1"},
		Events: []planner.Event{{Object: "GlusterCluster/c1", Warning: true, Reason: v1alpha1.EventPurged, Message: "all gone"}}})
	w.cycle()
	same(t, "it is told once, as a warning", "events", w.events.all(), []string{"GlusterCluster/c1 Warning Purged: all gone"})
	if !w.gone(&v1alpha1.GlusterCluster{}, "c1") {
		t.Error("the cluster is still there")
	}
}
