package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

func TestAnchor(t *testing.T) {
	cases := map[string]struct {
		reason     string
		anchor     func(w *world) v1alpha1.Anchor
		annotation string
		want       string // part of the one event; empty: none
		forgot     int
	}{
		"Fits": {
			reason: "a journal that holds what the anchor says is fine",
			anchor: func(w *world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "ns/op", JournalID: w.journal.ID(), Fence: 1, Seq: 1}
			},
		},
		"Lost": {
			reason: "another journal of the same instance: it was lost",
			anchor: func(*world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "ns/op", JournalID: testVolume, Fence: 1, Seq: 1}
			},
			want: "Warning JournalRebuilt: the pool was last changed from journal " + testVolume,
		},
		"Rewound": {
			reason: "the journal ends before the anchor: an older copy",
			anchor: func(w *world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "ns/op", JournalID: w.journal.ID(), Fence: 1, Seq: 1 << 40}
			},
			want: "Warning JournalRebuilt: the journal ends at event",
		},
		"Foreign": {
			reason: "another instance's journal is not ours to judge",
			anchor: func(*world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "other/op", JournalID: testVolume, Fence: 1, Seq: 1}
			},
		},
		"TakeOver": {
			reason: "a person lets the other instance be replaced", annotation: "other/op", forgot: 2,
			anchor: func(*world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "other/op", JournalID: testVolume, Fence: 1, Seq: 1}
			},
		},
		"TakeOverOfSomebodyElse": {
			reason: "the annotation names another instance", annotation: "third/op",
			anchor: func(*world) v1alpha1.Anchor {
				return v1alpha1.Anchor{Instance: "other/op", JournalID: testVolume, Fence: 1, Seq: 1}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, clusterObject(withPool, func(c *v1alpha1.GlusterCluster) {
				if tc.annotation != "" {
					c.Annotations = map[string]string{v1alpha1.AnnotationTakeOver: tc.annotation}
				}
			}))
			setAnchor(w, tc.anchor(w))
			w.cycle()
			w.cycle()
			events := w.events.all()
			if tc.want == "" && len(events) > 0 || tc.want != "" && (len(events) != 1 || !strings.Contains(events[0], tc.want)) {
				t.Errorf("%s: events %q, want one with %q", tc.reason, events, tc.want)
			}
			same(t, tc.reason, "asked to forget", len(w.executor.forgot), tc.forgot)
			same(t, "status leaves the anchor alone", "anchor", *w.cluster().Status.Anchor, tc.anchor(w))
		})
	}
}

// Two operators that look after one cluster do not correct each other for ever.
func TestGuestHoldsBack(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	setAnchor(w, v1alpha1.Anchor{Instance: "other/op", JournalID: testVolume, Fence: 1, Seq: 1})
	blocked := v1alpha1.Blocked(v1alpha1.ReasonOwnedByOtherInstance, "of somebody else")
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: []planner.Finding{{Object: "GlusterCluster/c1", Type: blocked.Type, Status: string(blocked.Status), Reason: blocked.Reason, Message: blocked.Message}}}
	}
	rounds := func() (written int) {
		for range 10 {
			_, writes := w.cycle()
			written += len(writes)
			c := w.cluster() // the owner says that all is well
			c.Status.Conditions = v1alpha1.MergeConditions(c.Status.Conditions, []metav1.Condition{v1alpha1.NotBlocked()}, c.Generation, metav1.NewTime(w.now))
			if err := w.client.Status().Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		return written
	}
	if n := rounds(); n != 1 {
		t.Errorf("%d writes about a pool whose owner corrects them, want one", n)
	}
	if n := rounds(); n != 0 {
		t.Errorf("%d writes soon after, want none", n)
	}
	w.now = w.now.Add(guestPause)
	if n := rounds(); n != 1 {
		t.Errorf("%d writes later on, want one: the owner may be gone by now", n)
	}
	c := w.cluster()
	c.Annotations = map[string]string{v1alpha1.AnnotationTakeOver: "other/op"}
	if err := w.client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n := rounds(); n < 10 {
		t.Errorf("%d writes once it may take over, want one a cycle", n)
	}
}

func TestTakenOverIsTold(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	setAnchor(w, v1alpha1.Anchor{Instance: "other/op", JournalID: testVolume, Fence: 1, Seq: 1})
	w.cycle()
	setAnchor(w, v1alpha1.Anchor{Instance: "ns/op", JournalID: w.journal.ID(), Fence: 2, Seq: 1})
	w.cycle()
	w.cycle()
	same(t, "a take-over is told once", "events", w.events.all(),
		[]string{`GlusterCluster/c1 Warning TakenOver: the pool was taken over from operator instance "other/op", as annotated`})
}

func TestRebuiltByTheExecutorIsToldOnce(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.r.opts.Kept = "/j/journal.db.corrupt-1"
	setAnchor(w, v1alpha1.Anchor{Instance: "ns/op", JournalID: testVolume, Fence: 1, Seq: 1})
	w.r.Rebuilt(t.Context(), testPool, "too early: the cluster has not been looked at")
	w.cycle()
	w.r.Rebuilt(t.Context(), testPool, "the executor noticed too")
	events := w.events.all()
	if len(events) != 1 || !strings.Contains(events[0], "kept as /j/journal.db.corrupt-1") {
		t.Errorf("one event that names the kept file, got %q", events)
	}
}

func setAnchor(w *world, a v1alpha1.Anchor) {
	w.t.Helper()
	c := w.cluster()
	c.Status.Anchor = &a
	if err := w.client.Status().Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// The executor moves the anchor on while a cycle is under way.
func TestStatusNeverTakesTheAnchorBack(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	setAnchor(w, v1alpha1.Anchor{Instance: "ns/op", JournalID: w.journal.ID(), Fence: 1, Seq: 1})
	w.r.plan = planConverged("GlusterCluster/c1")
	w.cycle()
	old := w.cluster()
	newer := v1alpha1.Anchor{Instance: "ns/op", JournalID: w.journal.ID(), Fence: 2, Seq: 2}
	setAnchor(w, newer)
	w.r.client = oldReads{Client: w.client, cluster: old}
	w.r.plan = planConverged("GlusterVolume/other") // says something else of the cluster
	_, writes := w.cycle()
	same(t, "the status is applied from an old picture", "writes", writes, []string{"apply(anthill) GlusterCluster/c1"})
	same(t, "and leaves what is the executor's alone", "anchor", *w.cluster().Status.Anchor, newer)
	same(t, "and the identity", "pool id", w.cluster().Status.PoolID, testPool)
}
