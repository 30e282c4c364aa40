package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

func TestUnseenKeepsWhatWasSeen(t *testing.T) {
	have := v1alpha1.GlusterVolumeStatus{
		VolumeID: testVolume, GlusterID: "g", Layout: "replicate 1 x 3", BricksUp: new(int32(3)), BricksTotal: new(int32(3)),
		UsableBytes: new(int64(7)), AppliedOptions: map[string]v1alpha1.OptionValue{"a.b": "c"},
		Bricks: []v1alpha1.BrickStatus{{Name: "h:/b", State: v1alpha1.BrickOnline}},
	}
	v := volumeObject("v1", func(v *v1alpha1.GlusterVolume) { v.Status = have })
	got := (&cycle{}).volumeStatus(v, have, metav1.Now())
	same(t, "options we set must stay known, or they could never be reset", "options", got.AppliedOptions, have.AppliedOptions)
	same(t, "bricks stay known, whether they serve does not", "bricks", got.Bricks, []v1alpha1.BrickStatus{{Name: "h:/b", State: v1alpha1.BrickUnknown}})
	if got.BricksUp != nil || got.UsableBytes != nil || got.PendingHeals != nil {
		t.Errorf("numbers that nobody saw are not shown: %v %v %v", got.BricksUp, got.UsableBytes, got.PendingHeals)
	}
	same(t, "the argument is not changed", "bricks of have", have.Bricks[0].State, v1alpha1.BrickOnline)

	node := v1alpha1.GlusterNodeStatus{UUID: testVolume, Gate: &v1alpha1.GateStatus{Digest: "d", Fence: 4},
		BrickDirs: []v1alpha1.BrickDirStatus{{Path: "/b", State: v1alpha1.BrickDirReady, FSUUID: "fs", SizeBytes: 5}}}
	c := &cycle{decision: planner.Decision{Nodes: map[string]planner.NodeStatus{"n1": {
		Dirs: []planner.DirStatus{{Path: "/b", State: v1alpha1.BrickDirUnknown, Message: "not asked"}}}}}}
	n := c.nodeStatus(nodeObject("n1"), node, metav1.Now())
	same(t, "who the server is stays known", "uuid", n.UUID, testVolume)
	same(t, "its gate stays known", "gate", n.Gate, node.Gate)
	same(t, "its directories stay known, whether they are in order does not", "dirs", n.BrickDirs,
		[]v1alpha1.BrickDirStatus{{Path: "/b", State: v1alpha1.BrickDirUnknown, FSUUID: "fs", SizeBytes: 5, Message: "not asked"}})

	cl := v1alpha1.GlusterClusterStatus{AppliedOptions: map[string]v1alpha1.OptionValue{"a.b": "c"}, ReconcileVersion: new(int32(1))}
	s := (&cycle{cluster: clusterObject()}).clusterStatus(cl, metav1.Now())
	same(t, "global options we set stay known", "options", s.AppliedOptions, cl.AppliedOptions)
	same(t, "the version stays", "version", s.ReconcileVersion, cl.ReconcileVersion)
}

func TestStatusFitsTheSchema(t *testing.T) {
	seen := planner.VolumeStatus{Total: 3000}
	for i := range 3000 {
		seen.Bricks = append(seen.Bricks, planner.BrickStatus{Host: "h", Path: "/" + strings.Repeat("x", i%300) + string(rune('a'+i%7)), Known: true})
	}
	names := map[string]bool{}
	got := bricks(seen)
	if len(got) > bricksMax || len(got) == 0 {
		t.Fatalf("%d bricks, want 1 to %d", len(got), bricksMax)
	}
	for _, b := range got {
		if names[b.Name] || len(b.Name) > brickNameMax {
			t.Fatalf("brick %q does not fit", b.Name)
		}
		names[b.Name] = true
		if b.State != v1alpha1.BrickOffline {
			t.Fatalf("a brick its server says is down is %s", b.State)
		}
	}
	var results []planner.Result
	for i := range 100 {
		results = append(results, planner.Result{Name: strings.Repeat("n", 1+i%70), Status: "Unknown", Message: strings.Repeat("m", 5000)})
	}
	acts := actions(results)
	if len(acts) > actionsMax || len([]rune(acts[0].Message)) > v1alpha1.MessageRunesMax {
		t.Errorf("%d actions, message of %d", len(acts), len(acts[0].Message))
	}
}
