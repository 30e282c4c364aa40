package controller

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/planner"
)

func TestPreviewWritesNothing(t *testing.T) {
	w := newWorld(t, clusterObject(), nodeObject("n1"), volumeObject("v1"))
	w.observed = planner.Observed{GateDigest: "d"}
	head := w.journal.Head()
	s, d, err := Preview(t.Context(), w.client, w.r.observer, func(s planner.Snapshot) planner.Decision {
		return planner.Decision{PoolID: s.NewPoolID}
	}, w.view, testKey, Options{Instance: "ns/op", IDs: &countingIDs{}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "it gathers as a cycle does", "nodes", len(s.Nodes), 1)
	same(t, "it gathers as a cycle does", "observed", s.Observed, w.observed)
	same(t, "it decides", "pool id", d.PoolID, testPool)
	same(t, "it writes nothing to the API", "writes", w.writes, []string(nil))
	same(t, "it writes nothing to the journal", "head", w.journal.Head(), head)
	if _, _, err := Preview(t.Context(), w.client, w.r.observer, planner.Plan, w.view, client.ObjectKey{Namespace: "ns", Name: "nope"}, Options{}); err == nil {
		t.Error("a cluster that is not there is an error")
	}
}
