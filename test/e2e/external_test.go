package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/rig"
)

// R72, design.md 5: on a server that is not ours, the gate's two paths and the
// bricks are all that is ever made or changed; a server that has not joined
// gets even these back.
func TestOnlyTheGatesTwoPathsAreTouched(t *testing.T) {
	r := begin(t)
	all := take(t, r, 4, 5, 6)
	was := trees(t, all)
	p := declare(t, r, "external", 4, 5)
	p.converged(t, r)
	vol := &v1alpha1.GlusterVolume{}
	vol.Namespace, vol.Name = p.ns, "spread"
	vol.Spec.Cluster = clusterName
	vol.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 2}
	must(t, r.Client.Create(t.Context(), vol))
	must(t, r.AwaitConverged(t.Context(), slow, vol))
	for _, s := range all[:2] {
		bricks := 0
		for _, line := range was[s.Name()].changed(treeOf(t, s)) {
			path, _, _ := strings.Cut(line, " ")
			switch {
			case !strings.HasSuffix(strings.Fields(line)[2], "new:") && strings.Fields(line)[2] != "new:":
				t.Errorf("%s: %s", s.Name(), line)
			case path == filepath.Dir(gate.BinaryPath), path == gate.BinaryPath:
			case path == gate.StateDir, strings.HasPrefix(path, gate.StateDir+"/"):
			case slices.ContainsFunc(s.Bricks(), func(root string) bool {
				own := root + "/" + vol.Status.VolumeID
				return path == own || strings.HasPrefix(path, own+"/")
			}):
				bricks++
			default:
				t.Errorf("%s: %s", s.Name(), line)
			}
		}
		if bricks == 0 {
			t.Errorf("%s carries no brick below <brick directory>/%s", s.Name(), vol.Status.VolumeID)
		}
	}

	// A server that is claimed and cannot join, since a member is down, is let go
	// of without a trace.
	must(t, all[1].StopGlusterd(t.Context()))
	node := p.add(t, r, 6)
	condition(t, r, node, v1alpha1.ConditionProgressing, metav1.ConditionFalse, v1alpha1.ReasonNotJoined)
	await(t, "the third server is claimed", func() string {
		if !hasGate(all[2]) {
			return "it has no gate"
		}
		must(t, r.Client.Get(t.Context(), objectKey(node), node))
		if node.Status.UUID == "" {
			return "its identity is not recorded"
		}
		return ""
	})
	must(t, r.Client.Delete(t.Context(), node))
	condition(t, r, node, v1alpha1.ConditionProgressing, metav1.ConditionTrue, v1alpha1.ReasonDeleting, planner.KindReleaseNode, "does not answer")
	must(t, all[1].StartGlusterd(t.Context()))
	gone(t, r, node)
	untouched(t, all[2:], was)
	p.numbers = []int{4, 5}
	p.converged(t, r)
	must(t, r.Operator.Verify(t.Context()))
	commands, err := rig.Changes(all[2])
	must(t, err)
	if len(commands) > 0 {
		t.Errorf("the server that never joined was given commands: %v", commands)
	}
}
