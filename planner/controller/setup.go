package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// IndexCluster is the cache's index of nodes and volumes by their cluster.
const IndexCluster = "spec.cluster"

// clustersMax is how many clusters are looked at at a time: enough that a few
// that are slow to answer do not keep the others waiting.
const clustersMax = 8

// Back-off of a cycle that failed. The longest wait is short enough that a
// person who repaired something sees the effect soon.
const (
	retryMin = 200 * time.Millisecond
	retryMax = time.Minute
)

func limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryMin, retryMax)
}

// Index adds the indexes that a Reconciler needs to a cache. It must come before
// the cache starts.
func Index(ctx context.Context, f client.FieldIndexer) error {
	for _, o := range []client.Object{&v1alpha1.GlusterNode{}, &v1alpha1.GlusterVolume{}} {
		if err := f.IndexField(ctx, o, IndexCluster, IndexByCluster); err != nil {
			return fmt.Errorf("indexing %s by cluster: %w", kindOf(o), err)
		}
	}
	return nil
}

// IndexByCluster gives the value of IndexCluster.
func IndexByCluster(o client.Object) []string { return []string{clusterOf(o)} }

// SetupWithManager starts the controllers of clusters and of objects whose
// cluster is missing with mgr, which may be running already. Index must have
// been called for its cache.
func SetupWithManager(mgr ctrl.Manager, r *Reconciler) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("cluster").
		For(&v1alpha1.GlusterCluster{}, builder.WithPredicates(changed())).
		Watches(&v1alpha1.GlusterNode{}, handler.EnqueueRequestsFromMapFunc(toCluster), builder.WithPredicates(changed())).
		Watches(&v1alpha1.GlusterVolume{}, handler.EnqueueRequestsFromMapFunc(toCluster), builder.WithPredicates(changed())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(toClusterOfPod), builder.WithPredicates(served())).
		WatchesRawSource(NewFollower(r)).
		WithOptions(controller.Options{MaxConcurrentReconciles: clustersMax, RateLimiter: limiter(), LogConstructor: r.logger(v1alpha1.KindCluster)}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of clusters: %w", err)
	}
	for _, kind := range []string{v1alpha1.KindNode, v1alpha1.KindVolume} {
		err := ctrl.NewControllerManagedBy(mgr).Named("orphan-"+kind).
			For(newObject(kind), builder.WithPredicates(changed())).
			Watches(&v1alpha1.GlusterCluster{}, handler.EnqueueRequestsFromMapFunc(toChildren(mgr.GetClient(), kind)), builder.WithPredicates(cameOrWent())).
			WithOptions(controller.Options{RateLimiter: limiter(), LogConstructor: r.logger(kind)}).
			Complete(NewOrphanage(mgr.GetClient(), kind, r.plan, r.opts))
		if err != nil {
			return fmt.Errorf("setting up the controller of %s without cluster: %w", kind, err)
		}
	}
	return nil
}

// logger makes the log of one call: the object is named once, by its kind.
func (r *Reconciler) logger(kind string) func(*reconcile.Request) logr.Logger {
	if r.opts.Log.GetSink() == nil {
		return nil // the library's own
	}
	return func(req *reconcile.Request) logr.Logger {
		if req == nil {
			return r.opts.Log.V(1) // of the controller itself
		}
		return r.opts.Log.WithValues(kind, req.String())
	}
}

// changed lets pass what a person changes: spec, annotations, deletion. Status
// is written by us.
func changed() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletionBegan())
}

// deletionBegan lets an update pass that starts a deletion. That raises the
// generation too; it is spelled out because everything that waits for a
// finalizer depends on it.
func deletionBegan() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
		},
	}
}

// cameOrWent lets creations and deletions pass.
func cameOrWent() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

func toCluster(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: clusterOf(o)}}}
}

func toChildren(c client.Reader, kind string) handler.MapFunc {
	return func(ctx context.Context, cluster client.Object) []reconcile.Request {
		of := []client.ListOption{client.InNamespace(cluster.GetNamespace()), client.MatchingFields{IndexCluster: cluster.GetName()}}
		var out []reconcile.Request
		switch kind {
		case v1alpha1.KindNode:
			var l v1alpha1.GlusterNodeList
			if c.List(ctx, &l, of...) != nil {
				return nil // the cache is not there; the object's own events come later
			}
			for i := range l.Items {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		case v1alpha1.KindVolume:
			var l v1alpha1.GlusterVolumeList
			if c.List(ctx, &l, of...) != nil {
				return nil
			}
			for i := range l.Items {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return out
	}
}
