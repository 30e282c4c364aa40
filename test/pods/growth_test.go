package pods

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/narration"
	"github.com/gluster/anthill/test/rig"
)

const (
	pool   = "demo"
	volume = "data"
)

// The main job: a cluster of ten lines becomes a pool of pods, its volume is
// served, grows by a node and a set under a client that writes all the time, the
// operator is killed in the middle; then the objects are deleted and declared
// again, and everything is found as it was.
func TestLifeOfAPool(t *testing.T) {
	const ns = "life"
	s := begin(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	must(t, s.Disks(t.Context(), "life", 2))
	c, v := s.Cluster(ns, pool, 3), Volume(ns, pool, volume, 1)
	create(t, s, c, v)
	must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	must(t, s.AwaitConverged(t.Context(), slow, v))
	if groups, err := s.In(t.Context(), ns, NodeName(pool, 0), "ls", "/var/lib/glusterd/groups"); err != nil || !strings.Contains(groups, "virt") {
		t.Errorf("groups of options, which the pod's volume lies over, are %q (%v)", groups, err)
	}

	mount, err := s.Mount(t.Context(), ns, "client", Server(ns, pool, 0), volume)
	must(t, err)
	must(t, mount.StartWriter(t.Context()))
	grow(t, s, c, v)
	must(t, mount.Progress(t.Context(), 5))
	report, err := mount.StopWriter(t.Context())
	must(t, err)
	if p := report.Problem(); p != "" {
		t.Errorf("the client saw: %s", p)
	}
	t.Logf("the client wrote %d files and read %d; longest call %d ms", report.Written, report.Read, report.SlowestMillis)
	apart(t, s, ns)
	must(t, mount.Verify(t.Context(), report))
	must(t, mount.Unmount(t.Context()))

	who := identities(t, s, ns, pool)
	gone(t, s, c, v)
	c, v = s.Cluster(ns, pool, 4), Volume(ns, pool, volume, 2)
	create(t, s, c, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	adopted(t, s, ns, pool, who)
	mount, err = s.Mount(t.Context(), ns, "client-again", Server(ns, pool, 1), volume)
	must(t, err)
	must(t, mount.Verify(t.Context(), report))
	must(t, mount.Unmount(t.Context()))
	if _, err := s.Operator.CLI(t.Context(), "journal", "verify"); err != nil {
		t.Error(err)
	}
	s.tidy(t, ns)
}

// grow adds a node and a replica set, with the operator killed in the middle of
// the rebalance command.
func grow(t *testing.T, s *Site, c *v1alpha1.GlusterCluster, v *v1alpha1.GlusterVolume) {
	t.Helper()
	must(t, s.Change(t.Context(), c, func() { c.Spec.NodeTemplates[0].Thresholds.Nodes = 4 }))
	must(t, s.Await(t.Context(), slow, c, func() string {
		if n := c.Status.Nodes; n == nil || n.Joined != 4 {
			return fmt.Sprintf("nodes are %+v", n)
		}
		return ""
	}))
	follow := narration.After(s.head(t, operatorPod)).Again(t.Context(), narration.New(t.Output()), s.Operator.Follow)
	defer follow.Stop()
	kill := follow.When("step.started", "rebalance")
	must(t, s.Change(t.Context(), v, func() { v.Spec.Layout.Replicate.Sets = 2 }))
	must(t, kill(t.Context(), slow))
	was, err := s.Operator.Kill(t.Context())
	must(t, err)
	must(t, s.Operator.AwaitReady(t.Context(), slow, was))
	must(t, s.AwaitConverged(t.Context(), slow, v))
	must(t, s.Await(t.Context(), slow, v, func() string {
		if up := v.Status.BricksUp; up == nil || *up != 6 {
			return fmt.Sprintf("bricks up: %v", up)
		}
		return ""
	}))
}

// apart fails if two copies of a set share a node.
func apart(t *testing.T, s *Site, ns string) {
	t.Helper()
	v := rig.Replicated(ns, pool, volume, 2)
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(v), v))
	sets := map[int32]map[string]bool{}
	for _, b := range v.Status.Bricks {
		if sets[b.Set] == nil {
			sets[b.Set] = map[string]bool{}
		}
		sets[b.Set][b.Node] = true
	}
	for set, nodes := range sets {
		if len(nodes) != 3 {
			t.Errorf("set %d is on %d nodes, want 3: %v", set, len(nodes), nodes)
		}
	}
	if len(sets) != 2 {
		t.Errorf("the volume has %d sets, want 2", len(sets))
	}
}

// gone deletes a volume's object and its cluster, and waits until they and the
// pods are gone. Claims stay.
func gone(t *testing.T, s *Site, c *v1alpha1.GlusterCluster, v *v1alpha1.GlusterVolume) {
	t.Helper()
	must(t, s.Client.Delete(t.Context(), c))
	if v != nil {
		must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonWaitingForDeletion))
		must(t, s.Client.Delete(t.Context(), v))
	}
	before := s.claims(t, c.Namespace)
	must(t, s.AwaitGone(t.Context(), slow, c))
	if pods := s.pods(t, c.Namespace); len(pods) != 0 {
		t.Errorf("pods are left: %v", pods)
	}
	if after := s.claims(t, c.Namespace); len(after) != len(before) || len(after) == 0 {
		t.Errorf("claims are %v, they were %v", after, before)
	}
}
