package kube

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// selects reports whether the scheduler may place a pod with this affinity on a
// host: one of the required terms holds. What is preferred requires nothing.
func selects(a *corev1.NodeAffinity, host string, have map[string]string) bool {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	for _, t := range a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			continue // an empty term selects nothing
		}
		// The only field there is.
		if holds(t.MatchExpressions, have) && holds(t.MatchFields, map[string]string{"metadata.name": host}) {
			return true
		}
	}
	return false
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn:           selection.In,
	corev1.NodeSelectorOpNotIn:        selection.NotIn,
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

// holds: a requirement that makes no sense selects nothing.
func holds(rs []corev1.NodeSelectorRequirement, have map[string]string) bool {
	for _, r := range rs {
		op, ok := operators[r.Operator]
		if !ok {
			return false
		}
		req, err := labels.NewRequirement(r.Key, op, r.Values)
		if err != nil || !req.Matches(labels.Set(have)) {
			return false
		}
	}
	return true
}
