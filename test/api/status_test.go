package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	v1alpha1ac "github.com/gluster/anthill/apis/v1alpha1/applyconfiguration/apis/v1alpha1"
)

const (
	someUUID  = "7b0c5e60-8d6b-4c5e-9b59-2f6a1c1d2e3f"
	otherUUID = "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
)

var (
	someHash = strings.Repeat("0a", 32)
	someTime = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
)

func conditions() []*metav1ac.ConditionApplyConfiguration {
	var out []*metav1ac.ConditionApplyConfiguration
	for _, c := range v1alpha1.MergeConditions(nil, []metav1.Condition{
		v1alpha1.Available(),
		v1alpha1.NotProgressing(v1alpha1.ReasonConverged, ""),
		v1alpha1.NotDegraded(),
		v1alpha1.Blocked(v1alpha1.ReasonOperationSuspended, v1alpha1.Bounded(strings.Repeat("long ", 1000))),
		v1alpha1.SpecRefused(v1alpha1.ReasonOptionRefused, "features.shard: only on an empty volume"),
	}, 1, someTime) {
		out = append(out, metav1ac.Condition().WithType(c.Type).WithStatus(c.Status).WithReason(c.Reason).
			WithMessage(c.Message).WithObservedGeneration(c.ObservedGeneration).WithLastTransitionTime(c.LastTransitionTime))
	}
	return out
}

func operation() *v1alpha1ac.CurrentOperationApplyConfiguration {
	return v1alpha1ac.CurrentOperation().WithID(otherUUID).WithKind("add-brick").WithTarget("volume/data").
		WithState(v1alpha1.OperationSuspended).WithStep("rebalance").WithSince(someTime).WithMessage("anthill journal retry " + otherUUID)
}

func action() *v1alpha1ac.ReconcileActionApplyConfiguration {
	return v1alpha1ac.ReconcileAction().WithName("nodesJoined").WithStatus(metav1.ConditionUnknown).WithMessage("prerequisite poolExists is not met")
}

// TestStatus writes a full status of each kind with the generated apply
// configurations, reads it back unchanged, and applies it again: the second
// time nothing may be written (R28).
func TestStatus(t *testing.T) {
	volume := patched(t, volumeBase(), with(replica3))
	cases := map[string]struct {
		base   map[string]any
		status func(name string) any
	}{
		"GlusterCluster": {clusterBase(), func(name string) any {
			return v1alpha1ac.GlusterCluster(name, namespace).WithStatus(v1alpha1ac.GlusterClusterStatus().
				WithConditions(conditions()...).WithObservedGeneration(1).WithPoolID(someUUID).
				WithAnchor(v1alpha1ac.Anchor().WithInstance("anthill-system/anthill").WithJournalID(otherUUID).WithFence(0).WithSeq(0).WithHash(someHash)).
				WithReconcileVersion(0).WithReconcileActions(action()).
				WithNodes(v1alpha1ac.NodeCounts().WithTotal(3).WithJoined(0).WithHealthy(0)).
				WithVolumes(v1alpha1ac.VolumeCounts().WithTotal(0).WithAvailable(0)).
				WithPendingHeals(0).WithCurrentOperation(operation()).
				WithAppliedOptions(map[string]v1alpha1.OptionValue{"cluster.brick-multiplex": "on"}))
		}},
		"GlusterNode": {nodeBase(), func(name string) any {
			return v1alpha1ac.GlusterNode(name, namespace).WithStatus(v1alpha1ac.GlusterNodeStatus().
				WithConditions(conditions()...).WithObservedGeneration(1).WithUUID(someUUID).
				WithGate(v1alpha1ac.GateStatus().WithDigest(someHash).WithFence(7)).
				WithBrickDirs(v1alpha1ac.BrickDirStatus().WithPath("/bricks/b1").WithState(v1alpha1.BrickDirReady).
					WithFSUUID(someUUID).WithSizeBytes(400 << 20).WithCommittedBytes(0).WithBricks(1).WithMessage("x")).
				WithReconcileActions(action()).WithCurrentOperation(operation()))
		}},
		"GlusterVolume": {volume, func(name string) any {
			return v1alpha1ac.GlusterVolume(name, namespace).WithStatus(v1alpha1ac.GlusterVolumeStatus().
				WithConditions(conditions()...).WithObservedGeneration(1).WithVolumeID(otherUUID).WithGlusterID(someUUID).
				WithLayout("replicate 1 x 3").
				WithBricks(v1alpha1ac.BrickStatus().WithName("gluster-1:/bricks/b1/" + otherUUID + "/0-0-0/brick").WithNode("gluster-1").
					WithSet(0).WithPosition(0).WithState(v1alpha1.BrickOnline)).
				WithBricksUp(0).WithBricksTotal(3).WithPendingHeals(0).WithUsableBytes(1 << 40).
				WithAppliedOptions(map[string]v1alpha1.OptionValue{"performance.cache-size": "256MB"}).
				WithCurrentOperation(operation()).WithReconcileActions(action()))
		}},
	}
	for kind, tc := range cases {
		t.Run(kind, func(t *testing.T) {
			made := created(t, &unstructured.Unstructured{Object: patched(t, tc.base, "{metadata: {name: status}}")})
			want, err := toUnstructured(tc.status(made.GetName()))
			if err != nil {
				t.Fatal(err)
			}
			first, err := objects.applyStatus(t.Context(), want.DeepCopy())
			if err != nil {
				t.Fatalf("applying a full status: %v", err)
			}
			if diff := cmp.Diff(want.Object["status"], first.Object["status"]); diff != "" {
				t.Errorf("the server keeps another status (-applied +kept):\n%s", diff)
			}
			if diff := cmp.Diff(made.Object["spec"], first.Object["spec"]); diff != "" {
				t.Errorf("applying a status changed the spec:\n%s", diff)
			}
			second, err := objects.applyStatus(t.Context(), want.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			if first.GetResourceVersion() != second.GetResourceVersion() {
				t.Errorf("the same status was written again: resourceVersion %s, then %s", first.GetResourceVersion(), second.GetResourceVersion())
			}
			typed(t, kind, second)
		})
	}
}

// typed reads an object as its Go type and checks that no field is lost.
func typed(t *testing.T, kind string, o *unstructured.Unstructured) {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	into, err := s.New(v1alpha1.GroupVersion.WithKind(kind))
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
		t.Fatalf("reading it as its Go type: %v", err)
	}
	back, err := toUnstructured(into)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"spec", "status"} {
		if diff := cmp.Diff(o.Object[part], back.Object[part]); diff != "" {
			t.Errorf("the Go type keeps another %s (-server +type):\n%s", part, diff)
		}
	}
}

// toUnstructured goes through JSON, so that numbers are what a server returns.
func toUnstructured(v any) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	return o, o.UnmarshalJSON(raw)
}

// TestStatusBounds: a status that says nonsense is refused, not stored.
func TestStatusBounds(t *testing.T) {
	made := created(t, &unstructured.Unstructured{Object: patched(t, clusterBase(), "{metadata: {name: bounds}}")})
	for name, tc := range map[string]struct{ reason, status, refused string }{
		"PoolID":    {"an id is a UUID", `{poolID: pool-1}`, "status.poolID"},
		"Fence":     {"fences only grow from 0", `{anchor: {instance: i, journalID: ` + someUUID + `, fence: -1, seq: 1, hash: ` + someHash + `}}`, "status.anchor.fence"},
		"Hash":      {"a hash is whole", `{anchor: {instance: i, journalID: ` + someUUID + `, fence: 1, seq: 1, hash: abc}}`, "status.anchor.hash"},
		"Message":   {"messages are bounded", `{reconcileActions: [{name: a, status: "True", message: "` + strings.Repeat("m", v1alpha1.MessageRunesMax+1) + `"}]}`, "status.reconcileActions[0].message"},
		"Status":    {"an action is True, False or Unknown", `{reconcileActions: [{name: a, status: Maybe}]}`, "status.reconcileActions[0].status"},
		"Operation": {"an operation has a state of ours", `{currentOperation: {id: ` + someUUID + `, kind: k, target: t, state: Done, since: "2026-01-02T03:04:05Z"}}`, "status.currentOperation.state"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: patched(t, map[string]any{
				"apiVersion": groupVersion, "kind": "GlusterCluster", "metadata": map[string]any{"name": made.GetName()},
			}, "{status: "+tc.status+"}")}
			_, err := objects.applyStatus(t.Context(), o)
			said, err := refusal(err)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(said, tc.refused) {
				t.Errorf("%s: want a refusal of %s, got %q", tc.reason, tc.refused, said)
			}
		})
	}
}
