package e2e

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// below lists what is in a folder of the root file system of a server, under
// whatever is mounted there.
func below(t *testing.T, s *local.Server, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.Root(), dir))
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// S12: a brick directory that is not mounted never gets a brick, and what needs
// it goes on once it is mounted again.
func TestUnmountedDirectoryGetsNoBrick(t *testing.T) {
	r := begin(t)
	take(t, r, 4, 5, 6)
	p := declare(t, r, "mounts", 4, 5, 6)
	p.converged(t, r)
	s := r.Env.Server(4)
	b1, b2 := s.Bricks()[0], s.Bricks()[1]
	node := p.node(t, r, 4)

	// One of two: the other one carries the brick.
	must(t, s.UnmountBrick(t.Context(), 1))
	blocked(t, r, node, v1alpha1.ReasonBrickDirNotMounted, b1)
	condition(t, r, node, v1alpha1.ConditionDegraded, metav1.ConditionTrue, v1alpha1.ReasonBrickDirNotMounted, b1)
	first := p.volume(t, r, "first")
	if got := brickOf(first, node.Name); got != b2+"/"+first.Status.VolumeID {
		t.Errorf("the brick of %s is below %q, want it below %s", node.Name, got, b2)
	}

	// Taken away between plan and deed: the gate looks before it makes anything,
	// and the operation waits.
	must(t, s.MountBrick(t.Context(), 1))
	for name, at := range map[string]string{
		"BeforeTheFolders": "executor.before-probe/" + planner.KindCreateVolume + "/" + planner.StepMakeBricks + "#1",
		"AmongTheFolders":  "steps.brick-made/" + planner.KindCreateVolume + "#1",
		"BeforeTheVolume":  "executor.before-probe/" + planner.KindCreateVolume + "/" + planner.StepCreateVolume + "#1",
	} {
		t.Run(name, func(t *testing.T) {
			begin(t)
			r.Operator.Stop()
			r.Operator.Env = []string{"ANTHILL_CRASH_AT=" + at}
			restart(t, r)
			v := rig.Replicated(p.ns, clusterName, "between", 1)
			must(t, r.Client.Create(t.Context(), v))
			died(t, r)
			must(t, s.UnmountBrick(t.Context(), 1))
			r.Operator.Env = nil
			restart(t, r)
			condition(t, r, v, v1alpha1.ConditionProgressing, metav1.ConditionTrue, v1alpha1.ReasonOperationRunning, b1)
			if got := below(t, s, b1); len(got) > 0 {
				t.Errorf("on the root file system below %s there is %v", b1, got)
			}
			must(t, s.MountBrick(t.Context(), 1))
			must(t, r.AwaitConverged(t.Context(), slow, v))
			if got := brickOf(v, node.Name); got != b1+"/"+v.Status.VolumeID {
				t.Errorf("the brick of %s is below %q, want it below %s", node.Name, got, b1)
			}
			remove(t, r, v)
		})
	}

	// None left: the volume waits, and says for what.
	must(t, s.UnmountBrick(t.Context(), 1))
	must(t, s.UnmountBrick(t.Context(), 2))
	blocked(t, r, node, v1alpha1.ReasonBrickDirNotMounted, b1, b2)
	second := rig.Replicated(p.ns, clusterName, "second", 1)
	must(t, r.Client.Create(t.Context(), second))
	blocked(t, r, second, v1alpha1.ReasonNotEnoughServers, node.Name)
	must(t, s.MountBrick(t.Context(), 1))
	must(t, r.AwaitConverged(t.Context(), slow, second))
	if got := brickOf(second, node.Name); got != b1+"/"+second.Status.VolumeID {
		t.Errorf("the brick of %s is below %q, want it below %s", node.Name, got, b1)
	}
	for _, dir := range s.Bricks() {
		if got := below(t, s, dir); len(got) > 0 {
			t.Errorf("on the root file system below %s there is %v", dir, got)
		}
	}
	must(t, r.Operator.Verify(t.Context()))
}

// brickOf is the folder <brick directory>/<volume id> of a volume on a node.
func brickOf(v *v1alpha1.GlusterVolume, node string) string {
	for _, b := range v.Status.Bricks {
		if b.Node == node {
			return brickRoot(b.Name)
		}
	}
	return ""
}
