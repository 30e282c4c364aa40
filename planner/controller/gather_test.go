package controller

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

func planConverged(objects ...string) func(planner.Snapshot) planner.Decision {
	return func(planner.Snapshot) planner.Decision { return planner.Decision{Findings: converged(objects...)} }
}

func TestSnapshot(t *testing.T) {
	at := func(n int) metav1.Time { return metav1.NewTime(time.Unix(int64(n), 0).UTC()) }
	in := func(ns, cluster, address string, created int) func(*v1alpha1.GlusterNode) {
		return func(n *v1alpha1.GlusterNode) {
			n.Namespace, n.Spec.Cluster, n.CreationTimestamp = ns, cluster, at(created)
			n.Spec.External = &v1alpha1.ExternalServer{Address: address}
		}
	}
	w := newWorld(t, clusterObject(withPool), nodeObject("n1"), volumeObject("v1"),
		volumeObject("elsewhere", func(v *v1alpha1.GlusterVolume) { v.Spec.Cluster = "c2" }),
		nodeObject("a", in("ns", "c2", "shared.example", 20)),
		nodeObject("b", in("far", "c1", "shared.example", 10)),
		nodeObject("c", in("far", "c1", "far.example", 30)),
		nodeObject("d", in("ns", "c3", "far.example", 30)))
	w.executor.fence = "n3 is away"
	w.plan = once(planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1"), plan("set-options", "GlusterCluster/ns/c1", "cluster/c1", "i2")}})
	w.cycle()
	w.append(w.open()[0].ID, fact(t, journal.OpAbandoned, "", journal.Decision{Reason: "r"}))
	// Of another pool: none of our business.
	other := plan("join-node", "GlusterNode/far/b", "node/b", "i9").Plan
	other.Scope = testVolume
	ev := fact(t, journal.OpPlanned, "", other)
	ev.Actor = "planner"
	w.append(journal.OpID{9, 6: 0x70, 8: 0x80}, ev)

	var s planner.Snapshot
	w.plan = func(got planner.Snapshot) planner.Decision { s = got; return planner.Decision{} }
	w.cycle()
	same(t, "only what names the cluster", "nodes", len(s.Nodes), 1)
	same(t, "only what names the cluster", "volumes", len(s.Volumes), 1)
	same(t, "of several claims on one address the oldest counts, then the first by name", "claims", s.Claims,
		map[string]string{"shared.example": "far/c1", "far.example": "c3"})
	same(t, "since when", "claimed", s.ClaimedAt["shared.example"], time.Unix(10, 0).UTC())
	same(t, "open operations of this pool only", "open", len(s.Open), 1)
	same(t, "operations of this pool that ended", "ended", len(s.Ended), 1)
	same(t, "abandoned intents", "tombstones", len(s.Tombstones), 1)
	same(t, "why nothing may be changed", "fence", s.Fence, "n3 is away")
	same(t, "who we are", "instance", s.Instance, "ns/op")
	same(t, "a fresh id for each volume without", "new ids", s.NewVolumeIDs, map[string]string{"v1": testVolume})
}

func TestJournalIsReadBeforeTheServers(t *testing.T) {
	w := newWorld(t, clusterObject(withPool))
	w.plan = once(planner.Decision{Plan: []planner.Planned{plan("join-node", "GlusterNode/ns/n1", "node/n1", "i1")}})
	w.cycle()
	id := w.open()[0].ID
	w.r.observer = observeThen(func() {
		w.append(id, fact(t, journal.OpAbandoned, "", journal.Decision{Reason: "ends while the servers are looked at"}))
	})
	open := -1
	w.plan = func(s planner.Snapshot) planner.Decision { open = len(s.Open); return planner.Decision{} }
	w.cycle()
	same(t, "an operation that ends while the servers are looked at still counts as open", "open", open, 1)
}

func TestSaidIsBounded(t *testing.T) {
	s := newSaid()
	for i := range 3 * saidMax {
		if !s.first(testKey, fmt.Sprint(i)) {
			t.Fatalf("%d was never said", i)
		}
	}
	if n := len(s.byCluster[testKey]); n > saidMax {
		t.Errorf("%d entries are kept, at most %d are", n, saidMax)
	}
	if s.first(testKey, fmt.Sprint(3*saidMax-1)) {
		t.Error("what was just said is remembered")
	}
}
