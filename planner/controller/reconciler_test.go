package controller

import (
	"errors"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

func TestIdleWritesNothing(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), nodeObject("n1"), volumeObject("v1"))
	heals := int64(0)
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{
			Findings: converged("GlusterCluster/c1", "GlusterNode/n1", "GlusterVolume/v1"),
			Results:  []planner.Result{{Name: "b", Status: "True"}, {Name: "a", Status: "True"}},
			Cluster:  planner.ClusterStatus{Nodes: 1, Joined: 1, Healthy: 1, Volumes: 1, VolumesAvailable: 1, PendingHeals: &heals, Options: map[string]string{"cluster.x": "on"}},
			Nodes: map[string]planner.NodeStatus{"n1": {UUID: testVolume, GateDigest: "ab", Fence: 3, Joined: true, Healthy: true,
				Dirs: []planner.DirStatus{{Path: "/bricks/b1", State: v1alpha1.BrickDirReady, FSUUID: "fs", SizeBytes: 7, Bricks: 1}}}},
			Volumes: map[string]planner.VolumeStatus{"v1": {Layout: "replicate 1 x 3", Up: 1, Total: 1, UsableBytes: 9, Sets: 1,
				Bricks: []planner.BrickStatus{{Node: "n1", Host: "n1.example", Path: "/bricks/b1/x", Online: true, Known: true}}}},
		}
	}
	_, first := w.cycle()
	same(t, "the first cycle protects and reports every object once", "writes", first, []string{
		"patch GlusterNode/n1", "patch GlusterVolume/v1",
		"apply(anthill) GlusterCluster/c1", "apply(anthill) GlusterNode/n1", "apply(anthill) GlusterVolume/v1",
	})
	for range 100 {
		w.now = w.now.Add(time.Minute)
		res, writes := w.cycle()
		same(t, "an idle cycle leaves everything alone (R28)", "writes", writes, []string(nil))
		same(t, "an idle cycle comes again after the resync interval", "result", res, ctrl.Result{RequeueAfter: 30 * time.Second})
	}
	same(t, "an idle cycle appends nothing", "journal", len(w.open()), 0)

	c := w.cluster()
	same(t, "status shows what planning found", "actions", c.Status.ReconcileActions, []v1alpha1.ReconcileAction{{Name: "a", Status: "True"}, {Name: "b", Status: "True"}})
	same(t, "status shows what planning found", "options", c.Status.AppliedOptions, map[string]v1alpha1.OptionValue{"cluster.x": "on"})
	same(t, "a status apply never takes the identity away", "pool id", c.Status.PoolID, testPool)
	v := get(w, &v1alpha1.GlusterVolume{}, "v1")
	same(t, "bricks have gluster's names", "bricks", v.Status.Bricks, []v1alpha1.BrickStatus{{Name: "n1.example:/bricks/b1/x", Node: "n1", State: v1alpha1.BrickOnline}})
}

func TestTransitionTimesMoveOnlyWithTheStatus(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	available, message := "True", "one"
	w.plan = func(planner.Snapshot) planner.Decision {
		f := converged("GlusterCluster/c1")
		f = append(f, planner.Finding{Object: "GlusterCluster/c1", Type: v1alpha1.ConditionAvailable, Status: available, Reason: "R", Message: message})
		return planner.Decision{Findings: f}
	}
	at := func() time.Time {
		for _, c := range w.cluster().Status.Conditions {
			if c.Type == v1alpha1.ConditionAvailable {
				return c.LastTransitionTime.Time
			}
		}
		t.Fatal("no condition Available")
		return time.Time{}
	}
	w.cycle()
	start := at()
	w.now = w.now.Add(time.Hour)
	message = "two"
	_, writes := w.cycle()
	same(t, "a new message is written", "writes", writes, []string{"apply(anthill) GlusterCluster/c1"})
	if !at().Equal(start) {
		t.Errorf("a new message alone is no transition: %v, want %v", at(), start)
	}
	available = "False"
	w.cycle()
	if !at().Equal(w.now) {
		t.Errorf("a new status is a transition: %v, want %v", at(), w.now)
	}
}

func TestStaleCacheDoesNotWriteTwice(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	stale := w.cluster()
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: converged("GlusterCluster/c1")}
	}
	w.cycle()
	w.r.client = oldReads{Client: w.client, cluster: stale}
	w.now = w.now.Add(time.Minute)
	_, writes := w.cycle()
	same(t, "what was applied counts until the cache shows it", "writes", writes, []string(nil))
}

func TestObjectsBeingDeletedGetNoFinalizer(t *testing.T) {
	other := func(n *v1alpha1.GlusterNode) { deleted(n); n.Finalizers = []string{"someone/else"} }
	w := newWorld(t, clusterObject(withPool), nodeObject("n1", other))
	_, writes := w.cycle()
	for _, x := range writes {
		if x == "patch GlusterNode/n1" {
			t.Errorf("an object that is being deleted was protected: %v", writes)
		}
	}
}

func TestReleaseTakesTheFinalizerAndTellsOnce(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), volumeObject("v1", func(v *v1alpha1.GlusterVolume) { deleted(v) }), volumeObject("v2"))
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{
			Release: []string{"GlusterVolume/v1", "GlusterVolume/v2"},
			Events:  []planner.Event{{Object: "GlusterVolume/v1", Reason: v1alpha1.EventRetained, Message: "volume v1 stays"}},
		}
	}
	w.cycle()
	w.cycle()
	if !w.gone(&v1alpha1.GlusterVolume{}, "v1") {
		t.Error("the released object is still there")
	}
	v2 := get(w, &v1alpha1.GlusterVolume{}, "v2")
	same(t, "only an object that is being deleted is let go", "finalizers", v2.Finalizers, []string{v1alpha1.Finalizer})
	same(t, "a release is told once", "events", w.events.all(), []string{"GlusterVolume/v1 Normal Retained: volume v1 stays"})
}

func TestReleaseConflictKeepsTheFinalizer(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), volumeObject("v1", func(v *v1alpha1.GlusterVolume) { deleted(v) }))
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Release: []string{"GlusterVolume/v1"},
			Events: []planner.Event{{Object: "GlusterVolume/v1", Reason: v1alpha1.EventRetained, Message: "stays"}}}
	}
	w.refuse = func(verb string, o object) error {
		if verb == "patch" {
			return conflict("v1")
		}
		return nil
	}
	res, _ := w.cycle()
	same(t, "a conflict is no error, the next cycle sees more", "result", res, ctrl.Result{RequeueAfter: again})
	same(t, "nothing happened yet", "events", w.events.all(), []string(nil))
	get(w, &v1alpha1.GlusterVolume{}, "v1")
}

func TestBrokenStatusDoesNotHoldUpOthers(t *testing.T) {
	w := newWorld(t, clusterObject(withPool), nodeObject("n1"), nodeObject("n2"))
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: converged("GlusterCluster/c1", "GlusterNode/n1", "GlusterNode/n2")}
	}
	broken := errors.New("broken")
	w.refuse = func(verb string, _ object) error {
		if verb == "apply(anthill) GlusterNode/n1" {
			return broken
		}
		return nil
	}
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey})
	if !errors.Is(err, broken) {
		t.Errorf("the failure is reported: %v", err)
	}
	if n := get(w, &v1alpha1.GlusterNode{}, "n2"); len(n.Status.Conditions) == 0 {
		t.Error("the status of n2 was not written because that of n1 could not be")
	}
}

func TestDeadlineEndsACycle(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.r.opts.Deadline = time.Nanosecond
	w.plan = func(planner.Snapshot) planner.Decision {
		t.Error("planned after the deadline")
		return planner.Decision{}
	}
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: testKey}); err == nil {
		t.Error("a cycle past its deadline must fail")
	}
}

func TestAbsentClusterIsForgotten(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.cycle()
	if err := w.client.Delete(t.Context(), clusterObject()); err != nil {
		t.Fatal(err)
	}
	c := w.cluster()
	c.Finalizers = nil
	if err := w.client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	asked := w.asked
	res, _ := w.cycle()
	same(t, "nothing is left to do", "result", res, ctrl.Result{})
	same(t, "no server is asked for a cluster that is gone", "observations", w.asked, asked)
	if _, ok := w.r.scopes.get(testPool); ok {
		t.Error("the pool of a cluster that is gone is still known")
	}
}

func TestBusyComesAgainSooner(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")}})
	res, _ := w.cycle()
	same(t, "an open operation is looked at sooner", "result", res, ctrl.Result{RequeueAfter: 5 * time.Second})
	id := w.open()[0].ID
	w.append(id, fact(t, journal.OpAbandoned, "", journal.Decision{Reason: "test"}))
	res, _ = w.cycle()
	same(t, "afterwards there is time again", "result", res, ctrl.Result{RequeueAfter: 30 * time.Second})
}

func TestReleasedClusterLeavesItsChildrenAlone(t *testing.T) {
	w := newWorld(t, clusterObject(withPool, func(c *v1alpha1.GlusterCluster) { deleted(c) }), nodeObject("n1"), nodeObject("n2", func(n *v1alpha1.GlusterNode) { deleted(n) }))
	w.plan = func(planner.Snapshot) planner.Decision {
		return planner.Decision{Findings: converged("GlusterCluster/c1", "GlusterNode/n1"), Release: []string{"GlusterCluster/c1", "GlusterNode/n2"}}
	}
	_, writes := w.cycle()
	same(t, "children go first, and nothing is written after the cluster has gone: the Orphanage may have written already", "writes", writes,
		[]string{"patch GlusterNode/n1", "patch GlusterNode/n2", "patch GlusterCluster/c1"})
}
