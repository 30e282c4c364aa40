package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// toClusterOfPod is the cluster that a pod of ours was made for.
func toClusterOfPod(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// served lets pass what makes a difference for a pool: a pod that comes, goes,
// is moved, or begins or ceases to serve. What a kubelet writes besides does not.
func served() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, ok := e.ObjectOld.(*corev1.Pod)
		now, is := e.ObjectNew.(*corev1.Pod)
		if !ok || !is {
			return true
		}
		return ready(old) != ready(now) || old.Spec.NodeName != now.Spec.NodeName || old.UID != now.UID ||
			(old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil)
	}}
}

func ready(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodReady {
			return p.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}
