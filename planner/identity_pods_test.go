package planner

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

// A cluster of pods that was deleted and created again gets an id so that its
// pods can be run, and takes up the one that they turn out to remember.
func TestIdentifyRecreatedPods(t *testing.T) {
	const made, remembered = "made", "remembered"
	cases := map[string]struct {
		reason string
		change func(*Snapshot)
		want   string
	}{
		"Remembered": {"the pods of the cluster before", func(*Snapshot) {}, remembered},
		"Fresh":      {"nobody remembers anything", func(s *Snapshot) { gatePool(s, "") }, ""},
		"Foreign": {"another operator's", func(s *Snapshot) {
			n := s.Observed.Servers["n1"]
			n.Gate.Instance = "other"
			s.Observed.Servers["n1"] = n
		}, ""},
		"Joined":  {"a member of the pool with the recorded id", func(s *Snapshot) { s.Nodes[0].Status.UUID = "0a1b2c3d-0001-4000-8000-000000000001" }, ""},
		"Claimed": {"a server of the pool with the recorded id", func(s *Snapshot) { gatePool(s, made) }, ""},
		"External": {"no pod: it may be another cluster's", func(s *Snapshot) {
			s.Nodes[0].Spec = v1alpha1.GlusterNodeSpec{Cluster: "c1", External: &v1alpha1.ExternalServer{Address: "n1"}}
		}, ""},
		"Busy": {"an operation is about the recorded id", func(s *Snapshot) { s.Open = []view.Op{{}} }, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Snapshot{Instance: "me", Cluster: &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "ns"}}}
			s.Cluster.Status.PoolID = made
			n := v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Name: "n1", Namespace: "ns"}}
			n.Spec = v1alpha1.GlusterNodeSpec{Cluster: "c1", Storage: []v1alpha1.Storage{{Name: "b", PVCName: "b"}}, State: &v1alpha1.NodeState{PVCName: "s"}}
			s.Nodes = []v1alpha1.GlusterNode{n}
			s.Observed.Servers = map[string]Server{"n1": {Gate: Gate{Installed: true, Instance: "me"}}}
			gatePool(&s, remembered)
			tc.change(&s)
			c := newCycle(&s)
			if p := c.identify(); p != nil {
				t.Fatalf("%s: %v", tc.reason, p)
			}
			if c.out.PoolID != tc.want {
				t.Errorf("%s: the pool becomes %q, want %q", tc.reason, c.out.PoolID, tc.want)
			}
		})
	}
}

func gatePool(s *Snapshot, pool string) {
	n := s.Observed.Servers["n1"]
	n.Gate.Pool = pool
	s.Observed.Servers["n1"] = n
}
