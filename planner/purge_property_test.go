package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A cluster with its data is deleted while people change their mind, create and
// delete volumes, use them and mount claims: whatever the order, no claim is to
// be removed that must not be, and once they want it gone it goes, with all that
// is to go.
func TestPurging(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.image = "gluster:1"
		drawTemplate(t, w)
		if rapid.Bool().Draw(t, "hand") {
			drawPod(t, w, "h1")
		}
		settle(t, w)
		if rapid.Bool().Draw(t, "volume") {
			drawVolume(t, w)
			settle(t, w)
		}
		w.cluster.DeletionTimestamp = someTime()
		drawPurge(t, w)
		cycle := func() {
			purged := w.cluster.Purges()
			d := Plan(w.snapshot())
			checkPlan(t, w, d)
			for i := range d.Plan {
				planned += bit(d.Plan[i].Plan.Kind == KindPurgeNode)
			}
			w.obey(d)
			if w.cluster == nil {
				checkPurged(t, w, purged)
			} else {
				checkOpen(t, w)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			if cycle(); w.cluster == nil {
				return
			}
			meddle(t, w)
		}
		w.wantsGone()
		for range 40 {
			if cycle(); w.cluster == nil {
				return
			}
			for len(w.open) > 0 {
				if op := &w.open[0]; op.State == view.Cancelling {
					w.end(op.ID, view.Cancelled)
				} else if err := w.finish(op.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Fatalf("it does not go: %s, %+v", brief(Plan(w.snapshot())), Plan(w.snapshot()).Results)
	})
	least := 50 // of about 130, and of 27 in 20 worlds
	if testing.Short() {
		least = 5
	}
	if planned < least {
		t.Fatalf("claims of %d nodes only were to be removed: that proves little", planned)
	}
}

// meddle is something that happens to a cluster that is being deleted.
func meddle(t *rapid.T, w *world) {
	switch rapid.IntRange(0, 11).Draw(t, "event") {
	case 0:
		drawPurge(t, w)
	case 1:
		drawUsers(t, w)
	case 2:
		drawVolume(t, w)
	case 3, 4:
		for _, v := range w.volumes {
			v.DeletionTimestamp = someTime()
		}
	case 5:
		w.wantsGone()
	default:
		proceed(t, w)
	}
}

// wantsGone: all of it is to go, and nobody is in the way.
func (w *world) wantsGone() {
	w.cluster.Spec.DeletionPolicy = v1alpha1.DeletionPurge
	w.cluster.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: w.cluster.Name}
	w.made.users, w.made.unknown = nil, ""
	for i := range w.made.claims {
		w.made.claims[i].Users = nil
	}
	for _, v := range w.volumes {
		v.DeletionTimestamp = someTime()
	}
}

func someTime() *metav1.Time {
	now := metav1.NewTime(time.Unix(1, 0))
	return &now
}

func settle(t *rapid.T, w *world) {
	if _, err := doSettle(w, args{}); err != nil {
		t.Fatal(err)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// drawPurge is a person who decides what becomes of the data, perhaps wrongly.
func drawPurge(t *rapid.T, w *world) {
	w.cluster.Generation++
	w.cluster.Spec.DeletionPolicy = rapid.SampledFrom([]v1alpha1.DeletionPolicy{"", v1alpha1.DeletionRetain, v1alpha1.DeletionPurge, v1alpha1.DeletionPurge}).Draw(t, "policy")
	w.cluster.Annotations = nil
	if name := rapid.SampledFrom([]string{"", "c1", "c1", "c2"}).Draw(t, "confirmed"); name != "" {
		w.cluster.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: name}
	}
}

// drawUsers is what else depends on volumes and claims.
func drawUsers(t *rapid.T, w *world) {
	w.made.unknown = rapid.SampledFrom([]string{"", "", "", "no answer"}).Draw(t, "unknown")
	w.made.users = map[string][]string{}
	for _, v := range w.volumes {
		if rapid.IntRange(0, 3).Draw(t, "used") == 0 {
			w.made.users[v.Name] = []string{"pv-" + v.Name}
		}
	}
	for i := range w.made.claims {
		w.made.claims[i].Users = nil
		if rapid.IntRange(0, 3).Draw(t, "mounted") == 0 {
			w.made.claims[i].Users = []string{"job"}
		}
		if rapid.IntRange(0, 15).Draw(t, "named") == 0 {
			w.made.claims[i].Foreign = "GlusterNode x names it"
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "labelled") == 0 {
		w.made.claims = append(w.made.claims, MadeClaim{Name: fmt.Sprint("theirs-", len(w.made.claims)), Node: "c1-t-0", UID: w.made.uid(), Foreign: "made by hand"})
	}
}

func drawTemplate(t *rapid.T, w *world) {
	nodes := rapid.IntRange(0, 3).Draw(t, "templateNodes")
	w.classes = []string{"fast"}
	if _, err := doTemplate(w, arguments("t", fmt.Sprintf("nodes=%d", nodes), "class=fast")); err != nil {
		t.Fatal(err)
	}
}

// takesAway: such an operation does not need the server to answer.
func takesAway(kind string) bool {
	return kind == KindReleaseNode || kind == KindPurgeNode
}

// checkPurge: no claim is to be removed but of a cluster that is being deleted
// with its data, which is confirmed by its name, while nothing is left that could
// use it: no pod is declared, no volume is, nobody's PersistentVolume. And then
// only one that Anthill made. leaving are objects that are let go of right now.
func checkPurge(t *rapid.T, w *world, p *journal.Plan, leaving []string) {
	if p.Kind != KindPurgeNode && p.Kind != KindPurgeCluster {
		return
	}
	c := w.cluster
	switch {
	case c.DeletionTimestamp == nil:
		t.Fatalf("%s of a cluster that is not being deleted", p.Kind)
	case c.Spec.DeletionPolicy != v1alpha1.DeletionPurge || c.Annotations[v1alpha1.AnnotationConfirmDelete] != c.Name:
		t.Fatalf("%s without Purge (%q) and confirmation (%v)", p.Kind, c.Spec.DeletionPolicy, c.Annotations)
	case slices.ContainsFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return !n.IsPod() }):
		t.Fatalf("%s of a cluster with servers outside Kubernetes", p.Kind)
	}
	for _, v := range w.volumes {
		if !slices.Contains(leaving, volumeObject(v.Name)) {
			t.Fatalf("%s while GlusterVolume %s is there", p.Kind, v.Name)
		}
	}
	for name, s := range w.servers {
		if s.pod != nil && s.pod.Declared && !s.pod.Foreign {
			t.Fatalf("%s while the pod of %s is declared", p.Kind, name)
		}
	}
	for _, st := range p.Steps {
		var params RemoveClaimsParams
		if st.Name != StepRemoveClaims {
			continue
		}
		if err := json.Unmarshal(st.Params, &params); err != nil || len(params.Claims) == 0 {
			t.Fatalf("step %s: %s, %v", st.ID, st.Params, err)
		}
		for _, ref := range params.Claims {
			claim := w.made.claim(ref.Name)
			if claim == nil || claim.UID != ref.UID || claim.Foreign != "" || claim.Node != params.Node {
				t.Fatalf("claim %v of %s is to be removed, there is %+v", ref, params.Node, claim)
			}
		}
	}
}

// checkPurged: of a cluster that went with its data nothing is left that Anthill
// made, and everything else is (R66).
func checkPurged(t *rapid.T, w *world, purged bool) {
	if !purged {
		return
	}
	for _, claim := range w.made.claims {
		if claim.Foreign == "" {
			t.Fatalf("claim %s is left", claim.Name)
		}
	}
	if w.made.service != "" {
		t.Fatal("the Service is left")
	}
	for name, s := range w.servers {
		if s.pod != nil && s.pod.Declared && !s.pod.Foreign {
			t.Fatalf("the pod of %s is left", name)
		}
	}
	for _, n := range w.nodes {
		if n.Annotations[v1alpha1.AnnotationTemplate] != "" {
			t.Fatalf("GlusterNode %s of a template is left", n.Name)
		}
	}
}
