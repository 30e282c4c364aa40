package planner

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// drawWorld makes a small cluster in which anything may be in any state it can
// get into by a number of random events.
func drawWorld(t *rapid.T) *world {
	w := newWorld()
	w.digests = rapid.Bool().Draw(t, "digests")
	if rapid.Bool().Draw(t, "pods") {
		w.image = "gluster:1"
		if rapid.Bool().Draw(t, "templates") {
			drawTemplate(t, w)
		}
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "nodes") {
		drawNode(t, w, fmt.Sprintf("n%d", i))
	}
	if rapid.IntRange(0, 3).Draw(t, "made") > 0 {
		for range rapid.IntRange(0, 2).Draw(t, "volumes") {
			drawVolume(t, w)
		}
		if _, err := doSettle(w, args{}); err != nil {
			t.Fatal(err)
		}
	}
	for range rapid.IntRange(0, 25).Draw(t, "events") {
		if w.cluster == nil {
			return w
		}
		happen(t, w)
		if rapid.Bool().Draw(t, "plan") && w.cluster != nil {
			w.obey(Plan(w.snapshot()))
		}
	}
	return w
}

func drawNode(t *rapid.T, w *world, name string) {
	kept := w.servers[name]
	if w.image != "" && (kept != nil && kept.pod != nil || kept == nil && rapid.Bool().Draw(t, "pod")) {
		drawPod(t, w, name)
		return
	}
	w.addNode(name, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone"), "/b/1", "/b/2")
	if kept != nil {
		w.servers[name] = kept
	}
}

// happen is one thing that can happen to a world.
func happen(t *rapid.T, w *world) {
	node := func() *v1alpha1.GlusterNode {
		if len(w.nodes) == 0 {
			return nil
		}
		return rapid.SampledFrom(w.nodes).Draw(t, "node")
	}
	switch rapid.IntRange(0, 25).Draw(t, "event") {
	case 21:
		if w.image != "" {
			w.image = rapid.SampledFrom([]string{"gluster:1", "gluster:2"}).Draw(t, "image")
		}
	case 22:
		if n := node(); n != nil && n.IsPod() {
			p := w.servers[n.Name].pod
			p.Ready = p.Declared && !p.Foreign && rapid.Bool().Draw(t, "ready")
		}
	case 0, 1, 2, 3, 4, 5:
		proceed(t, w)
	case 6:
		if name := fmt.Sprintf("n%d", rapid.IntRange(0, 8).Draw(t, "new")); w.node(name) == nil {
			drawNode(t, w, name)
		}
	case 7:
		if n := node(); n != nil {
			now := metav1.NewTime(time.Unix(1, 0))
			n.DeletionTimestamp = &now
		}
	case 8:
		if n := node(); n != nil {
			s := w.servers[n.Name]
			s.unreachable = rapid.SampledFrom([]string{"", "", v1alpha1.ReasonServerUnreachable}).Draw(t, "reach")
			s.down = rapid.Bool().Draw(t, "down") && rapid.Bool().Draw(t, "really")
		}
	case 9:
		if n := node(); n != nil {
			m, there := w.servers[n.Name].mounts["/b/2"]
			if !there {
				return // a pod
			}
			m.Error = rapid.SampledFrom([]string{"", "not mounted"}).Draw(t, "mount")
			m.Same = m.Registered && m.Error == ""
			w.servers[n.Name].mounts["/b/2"] = m
		}
	case 10, 11:
		drawVolume(t, w)
	case 12:
		if len(w.volumes) > 0 {
			v := rapid.SampledFrom(w.volumes).Draw(t, "volume")
			now := metav1.NewTime(time.Unix(1, 0))
			v.DeletionTimestamp = &now
			if rapid.Bool().Draw(t, "confirm") {
				v.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: v.Name}
			}
		}
	case 13:
		w.cluster.Spec.ClusterOptions = drawOptions(t, "cluster.brick-multiplex", "cluster.max-bricks-per-process")
		w.cluster.Generation++
	case 14:
		w.digest = rapid.SampledFrom([]string{"gate-1", "gate-2"}).Draw(t, "gate")
	case 15:
		w.obey(Plan(w.snapshot()))
		told := func(n *v1alpha1.GlusterNode) bool { return n.Status.UUID != "" || !w.servers[n.Name].member }
		if w.cluster != nil && !slices.ContainsFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return !told(n) }) {
			w.ended = nil // the operator restarts
		}
	case 17:
		if n := node(); n != nil {
			w.servers[n.Name].cut = rapid.Bool().Draw(t, "cut")
		}
	case 18:
		if n := node(); n != nil && len(w.pooled) > 0 {
			w.servers[n.Name].hides[rapid.SampledFrom(w.pooled).Draw(t, "hidden").Name] = rapid.Bool().Draw(t, "hides")
		}
	case 19:
		if n := node(); n != nil {
			s := w.servers[n.Name]
			for _, v := range w.pooled {
				for _, b := range v.Bricks {
					s.dead[b.Path] = b.PeerUUID == s.uuid && rapid.Bool().Draw(t, "dead")
				}
			}
		}
	case 20:
		if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
			now := metav1.NewTime(time.Unix(1, 0))
			w.cluster.DeletionTimestamp = &now
			drawPurge(t, w)
		}
	case 23:
		drawPurge(t, w)
	case 24:
		drawUsers(t, w)
	case 25:
		if w.image != "" && w.cluster.DeletionTimestamp == nil {
			drawTemplate(t, w)
		}
	case 16:
		w.cluster.Spec.Paused = rapid.IntRange(0, 4).Draw(t, "paused") == 0
	}
}

func drawOptions(t *rapid.T, keys ...string) map[string]v1alpha1.OptionValue {
	out := map[string]v1alpha1.OptionValue{}
	for _, k := range keys {
		if v := rapid.SampledFrom([]string{"", "on", "off", "7"}).Draw(t, k); v != "" {
			out[k] = v1alpha1.OptionValue(v)
		}
	}
	return out
}

func drawVolume(t *rapid.T, w *world) {
	name := fmt.Sprintf("v%d", rapid.IntRange(0, 2).Draw(t, "volume"))
	v := w.volume(name)
	if v == nil {
		v = &v1alpha1.GlusterVolume{ObjectMeta: w.meta(name)}
		v.Spec.Layout = rapid.SampledFrom([]v1alpha1.VolumeLayout{
			{Replicate: &v1alpha1.ReplicateLayout{Replica: 3, Sets: 1}},
			{Replicate: &v1alpha1.ReplicateLayout{Replica: 2, Arbiter: 1, Sets: 1}},
			{Disperse: &v1alpha1.DisperseLayout{Data: 2, Redundancy: 1, Sets: 1}},
			{Distribute: &v1alpha1.DistributeLayout{Bricks: 2}},
		}).Draw(t, "layout")
		v.Spec.Layout = *v.Spec.Layout.DeepCopy()
		// What an earlier object of the name left is what this one declares.
		for i := range w.pooled {
			if w.pooled[i].Name == name && shapeIn(&w.pooled[i]) != shapeOf(&v.Spec.Layout) {
				return
			}
		}
		w.volumes = append(w.volumes, v)
	}
	v.Generation++
	more := int32(rapid.IntRange(0, 1).Draw(t, "more"))
	switch l := &v.Spec.Layout; {
	case l.Replicate != nil:
		l.Replicate.Sets += more
	case l.Disperse != nil:
		l.Disperse.Sets += more
	case l.Distribute != nil:
		l.Distribute.Bricks += more
	}
	v.Spec.Options = drawOptions(t, "performance.cache-size", "features.shard", "cluster.self-heal-daemon")
}

// proceed lets one open operation get on.
func proceed(t *rapid.T, w *world) {
	var ready []journal.OpID
	for i := range w.open {
		free := !slices.ContainsFunc(w.open[i].Plan.After, func(id journal.OpID) bool { return w.op(id) != nil })
		if free {
			ready = append(ready, w.open[i].ID)
		}
	}
	if len(ready) == 0 {
		return
	}
	op := w.op(rapid.SampledFrom(ready).Draw(t, "op"))
	if op.State == view.Cancelling {
		w.end(op.ID, view.Cancelled)
		return
	}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		_ = w.start(op.ID, rapid.SampledFrom(op.Steps).Draw(t, "step").ID)
	case 1:
		op.State, op.Suspended = view.Suspended, &journal.Suspended{Cause: "Permanent", Message: "no"}
	default:
		if err := w.finish(op.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever the state of the world: the same snapshot gives the same decision in
// any order of its parts, the snapshot is not touched, and with the decision's
// operations open nothing further follows.
func TestPlanning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if w.cluster == nil {
			return
		}
		s, untouched := w.snapshot(), w.snapshot()
		d := Plan(s)
		if diff := cmp.Diff(untouched, s); diff != "" {
			t.Fatalf("planning changed the snapshot (-before +after):\n%s", diff)
		}
		s.Nodes = rapid.Permutation(s.Nodes).Draw(t, "nodes")
		s.Volumes = rapid.Permutation(s.Volumes).Draw(t, "volumes")
		if diff := cmp.Diff(d, Plan(s)); diff != "" {
			t.Fatalf("another order gave another decision (-first +other):\n%s", diff)
		}
		checkPlan(t, w, d)
		w.obey(d)
		if w.cluster == nil {
			return
		}
		checkOpen(t, w)
		if len(d.TemplateNodes)+len(d.Remove) > 0 {
			return // other objects are there now
		}
		again := Plan(w.snapshot())
		if len(again.Plan)+len(again.Supersede)+len(again.Cancel)+len(again.Release) > 0 || again.PoolID != "" {
			t.Fatalf("planned again with the decision in force:\nfirst %s\nagain %s", brief(d), brief(again))
		}
	})
}

func brief(d Decision) string {
	var b strings.Builder
	for _, p := range d.Plan {
		fmt.Fprintf(&b, "[%s: %s]", p.Key, p.Plan.Reason.Difference)
	}
	fmt.Fprintf(&b, " supersede %v cancel %v release %v pool %q", d.Supersede, d.Cancel, d.Release, d.PoolID)
	return b.String()
}

// checkPlan holds every plan against the rules that all plans obey.
func checkPlan(t *rapid.T, w *world, d Decision) {
	keys := map[string]bool{}
	for _, p := range d.Plan {
		if keys[p.Key] {
			t.Fatalf("two plans have the key %q", p.Key)
		}
		keys[p.Key] = true
		if !slices.IsSorted(p.Plan.Locks) || len(p.Plan.Locks) == 0 {
			t.Fatalf("%s: locks %v", p.Key, p.Plan.Locks)
		}
		ids, pivots := map[string]bool{}, 0
		for _, s := range p.Plan.Steps {
			if ids[s.ID] {
				t.Fatalf("%s: two steps are named %q", p.Key, s.ID)
			}
			ids[s.ID] = true
			switch {
			case s.Stage == journal.Pivot:
				pivots++
			case s.Stage == journal.Compensatable && pivots > 0:
				t.Fatalf("%s: step %s could be undone, behind the pivot", p.Key, s.ID)
			}
		}
		end, err := endStateOf(&p.Plan)
		if err != nil {
			t.Fatalf("%s: %v", p.Key, err)
		}
		if end.Node != nil && w.servers[end.Node.Name].unreachable != "" && !takesAway(p.Plan.Kind) {
			t.Fatalf("%s: planned for a server that does not answer", p.Key)
		}
		if end.Node != nil && end.Node.Released && w.servers[end.Node.Name].member && w.cluster.DeletionTimestamp == nil {
			t.Fatalf("%s: the server is in the pool", p.Key)
		}
		checkPurge(t, w, &p.Plan, d.Release)
		if end.Volume != nil && len(end.Volume.Bricks) > 0 {
			checkSets(t, w, end.Volume)
		}
	}
	for _, object := range d.Release {
		name, isNode := strings.CutPrefix(object, "GlusterNode/")
		if isNode && w.cluster.DeletionTimestamp == nil && w.servers[name].member {
			t.Fatalf("node %s is in the pool and was let go", name)
		}
	}
}

// checkSets: no two bricks of a set on one node; every brick on a directory that
// is in order; none where one is already.
func checkSets(t *rapid.T, w *world, end *VolumeEnd) {
	there := map[string]bool{}
	for _, v := range w.pooled {
		for _, b := range v.Bricks {
			there[b.PeerUUID+b.Path] = true
		}
	}
	on := map[string]bool{}
	for _, b := range end.Bricks {
		set, _, _ := strings.Cut(b.Leaf, "-")
		if on[set+"@"+b.Node] {
			t.Fatalf("set %s of %s has two bricks on %s", set, end.Name, b.Node)
		}
		on[set+"@"+b.Node] = true
		m := w.servers[b.Node].mounts[b.Root]
		if !m.Registered || !m.Same || m.Error != "" || !w.servers[b.Node].member {
			t.Fatalf("brick of %s on %s:%s, which is %+v", end.Name, b.Node, b.Root, m)
		}
		if there[b.UUID+b.Path(end.VolumeID)] {
			t.Fatalf("brick of %s on %s:%s, where one is", end.Name, b.Node, b.Path(end.VolumeID))
		}
	}
}

// checkOpen: an intent is carried out once at a time (R27).
func checkOpen(t *rapid.T, w *world) {
	live := map[string]journal.OpID{}
	restarts := 0
	for i := range w.open {
		o := &w.open[i]
		// One that need not pass the heal gate is of a pod that does not run.
		if o.Plan.Kind == KindRestartNode && o.State != view.Cancelling && slices.Contains(o.Plan.Locks, lockPool) {
			if restarts++; restarts > 1 {
				t.Fatalf("%d pods that run are to be restarted at once (S2)", restarts)
			}
		}
		if other, twice := live[o.Plan.Intent]; twice && o.State != view.Cancelling && w.op(other).State != view.Cancelling {
			t.Fatalf("%s of %s is planned twice: %s and %s", o.Plan.Kind, o.Plan.Target, other, o.ID)
		}
		live[o.Plan.Intent] = o.ID
		if !o.PastPivot() && o.State != view.Cancelling {
			checkPurge(t, w, &o.Plan, nil)
		}
	}
}

// Once nothing fails any more, everything comes to rest in a few rounds, with no
// operation left, nothing to plan, and whatever is possible in place.
func TestEverythingSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if w.cluster == nil {
			return
		}
		w.cluster.Spec.Paused, w.ended = false, nil
		w.made.users, w.made.unknown = nil, ""
		if w.cluster.Purges() && w.cluster.DeletionTimestamp != nil { // a person decides
			w.cluster.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: w.cluster.Name}
			if slices.ContainsFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return !n.IsPod() }) {
				w.cluster.Spec.DeletionPolicy = v1alpha1.DeletionRetain
			}
		}
		for i := range w.made.claims {
			w.made.claims[i].Users, w.made.claims[i].Going = nil, ""
		}
		for _, s := range w.servers {
			s.unreachable, s.down, s.cut, s.hides, s.dead = "", false, false, map[string]bool{}, map[string]bool{}
			if s.pod != nil {
				s.pod.Ready, s.pod.Running = s.pod.Declared, s.pod.Declared
			}
			for path, m := range s.mounts {
				m.Error, m.Same = "", m.Registered
				s.mounts[path] = m
			}
		}
		for range 60 {
			purged := w.cluster.Purges()
			d := Plan(w.snapshot())
			w.obey(d)
			if w.cluster == nil {
				checkPurged(t, w, purged)
				return
			}
			if len(w.open) == 0 && len(d.Plan)+len(d.Release)+len(d.TemplateNodes)+len(d.Remove) == 0 {
				checkRest(t, w, d)
				return
			}
			for i := 0; i < len(w.open); {
				o := &w.open[i]
				switch {
				case slices.ContainsFunc(o.Plan.After, func(id journal.OpID) bool { return w.op(id) != nil }):
					i++
				case o.State == view.Cancelling:
					w.end(o.ID, view.Cancelled)
				default:
					if err := w.finish(o.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		t.Fatalf("it does not come to rest: %s", brief(Plan(w.snapshot())))
	})
}

func checkRest(t *rapid.T, w *world, d Decision) {
	if w.cluster.DeletionTimestamp != nil {
		// Pods, and what is to be purged, stay as long as there are volumes that clients may use.
		kept := w.cluster.Purges() || slices.ContainsFunc(w.nodes, (*v1alpha1.GlusterNode).IsPod)
		if !kept || len(w.volumes) == 0 {
			t.Fatalf("a cluster that is being deleted is still there: %+v", d.Results)
		}
		return
	}
	for _, n := range w.nodes {
		if p := w.servers[n.Name].pod; p != nil && n.DeletionTimestamp == nil && (p.Runs != p.Declares || !d.Nodes[n.Name].PodCurrent) {
			t.Fatalf("pod of %s is not as declared: %+v, %+v", n.Name, p.Pod, d.NodeResults[n.Name])
		}
		if n.DeletionTimestamp == nil && !w.servers[n.Name].member {
			t.Fatalf("node %s has not joined: %+v", n.Name, d.NodeResults[n.Name])
		}
	}
	for _, v := range w.volumes {
		if v.DeletionTimestamp != nil {
			t.Fatalf("volume %s is still there: %+v", v.Name, d.VolumeResults[v.Name])
		}
		have := d.Volumes[v.Name].Sets
		if want := v.Spec.Layout.Sets(); have < want && len(w.nodes) >= v.Spec.Layout.BricksPerSet() && !givenUp(w) {
			t.Fatalf("volume %s has %d of %d sets: %+v", v.Name, have, want, d.VolumeResults[v.Name])
		}
	}
	if len(w.nodes) > 0 && d.ReconcileVersion == nil && !slices.ContainsFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return n.DeletionTimestamp != nil }) {
		if len(d.Findings) == 0 || !refused(d) {
			t.Fatalf("not converged: %+v %+v", d.Results, d.NodeResults)
		}
	}
}

// givenUp: nodes that are being deleted take no brick.
func givenUp(w *world) bool {
	return slices.ContainsFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return n.DeletionTimestamp != nil })
}

func refused(d Decision) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Reason == v1alpha1.ReasonOptionRefused })
}

// R14: the order in which actions are listed makes no difference.
func TestActionsInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	var shuffled []*procedures
	for range 200 {
		p, err := newProcedures(rnd.Shuffle)
		if err != nil {
			t.Fatal(err)
		}
		shuffled = append(shuffled, p)
	}
	i := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if w.cluster == nil {
			return
		}
		want := Plan(w.snapshot())
		for range 4 {
			i++
			if diff := cmp.Diff(want, shuffled[i%len(shuffled)].plan(w.snapshot())); diff != "" {
				t.Fatalf("another order of actions gave another decision (-want +got):\n%s", diff)
			}
		}
	})
	least := 200
	if testing.Short() {
		least = 40 // rapid draws a fifth
	}
	if i < least {
		t.Fatalf("only %d orders were tried", i)
	}
}
