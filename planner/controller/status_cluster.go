package controller

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// clusterStatus is the cluster's status as this cycle found it. Its identity and
// its anchor are not written here.
func (c *cycle) clusterStatus(have v1alpha1.GlusterClusterStatus, now metav1.Time) v1alpha1.GlusterClusterStatus {
	s := *have.DeepCopy()
	seen := c.decision.Cluster
	op := c.operationOf(c.cluster, true)
	own := c.operationOf(c.cluster, false)
	if own == nil && op != nil && op.State != view.Suspended {
		own = op // work on a node or volume is work on the pool; its being stuck is not
	}
	s.Conditions = c.conditions(c.cluster, own, have.Conditions, now)
	s.ObservedGeneration = c.cluster.Generation
	if v := c.decision.ReconcileVersion; v != nil {
		s.ReconcileVersion = new(int32(*v)) //nolint:gosec // a procedure's version is a small number
	}
	s.ReconcileActions = actions(c.decision.Results)
	s.Nodes = &v1alpha1.NodeCounts{Total: count(seen.Nodes), Joined: count(seen.Joined), Healthy: count(seen.Healthy)}
	s.Volumes = &v1alpha1.VolumeCounts{Total: count(seen.Volumes), Available: count(seen.VolumesAvailable)}
	s.PendingHeals = seen.PendingHeals
	s.CurrentOperation = current(op)
	if seen.Joined > 0 || len(seen.Options) > 0 {
		s.AppliedOptions = optionValues(seen.Options) // what nobody could look at stays as it was
	}
	return s
}

// actionsMax is the limit of the schema.
const actionsMax = 64

// actions are results as status shows them, sorted by name.
func actions(results []planner.Result) []v1alpha1.ReconcileAction {
	if len(results) == 0 {
		return nil
	}
	out := make([]v1alpha1.ReconcileAction, 0, len(results))
	for _, r := range results {
		out = append(out, v1alpha1.ReconcileAction{Name: r.Name, Status: metav1.ConditionStatus(r.Status), Message: v1alpha1.Bounded(r.Message)})
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.ReconcileAction) int { return cmp.Compare(a.Name, b.Name) })
	out = slices.CompactFunc(out, func(a, b v1alpha1.ReconcileAction) bool { return a.Name == b.Name })
	return out[:min(len(out), actionsMax)]
}

// optionValues converts what planning saw applied.
func optionValues(m map[string]string) map[string]v1alpha1.OptionValue {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]v1alpha1.OptionValue, len(m))
	for k, v := range m {
		out[k] = v1alpha1.OptionValue(v)
	}
	return out
}

// count converts a number of things that etcd could hold.
func count(n int) int32 {
	return int32(n) //nolint:gosec // see above
}
