package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// An Orphanage looks after GlusterNodes, or GlusterVolumes, whose cluster does
// not exist: it says so in their conditions, and lets them go when they are
// deleted. As soon as the cluster is there, its Reconciler takes over. Safe for
// concurrent use for different objects.
type Orphanage struct {
	client   client.Client
	kind     string // v1alpha1.KindNode or KindVolume
	recorder Recorder
	clock    Clock
	statuses *statuses
}

// NewOrphanage makes an Orphanage for a kind, v1alpha1.KindNode or KindVolume.
func NewOrphanage(c client.Client, kind string, opts Options) *Orphanage {
	opts.defaults()
	return &Orphanage{client: c, kind: kind, recorder: opts.Recorder, clock: opts.Clock, statuses: newStatuses()}
}

// orphanDeadline bounds one call: two reads from the cache and two writes.
const orphanDeadline = 30 * time.Second

// Reconcile looks at one object.
func (r *Orphanage) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, orphanDeadline)
	defer cancel()
	o := newObject(r.kind)
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
		if apierrors.IsNotFound(err) {
			r.statuses.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading %s %q: %w", r.kind, req.NamespacedName, err)
	}
	name := clusterOf(o)
	err := r.client.Get(ctx, types.NamespacedName{Namespace: req.Namespace, Name: name}, &v1alpha1.GlusterCluster{})
	if err == nil {
		r.statuses.forget(req.NamespacedName)
		return ctrl.Result{}, nil // not ours
	}
	if !apierrors.IsNotFound(err) {
		return ctrl.Result{}, fmt.Errorf("reading cluster %q of %s: %w", name, short(o), err)
	}
	if o.GetDeletionTimestamp() != nil {
		err = r.release(ctx, o, name)
	} else {
		err = r.say(ctx, req.NamespacedName, o, name)
	}
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	return ctrl.Result{}, err
}

func (r *Orphanage) release(ctx context.Context, o client.Object, cluster string) error {
	if !controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	if err := setFinalizer(ctx, r.client, o, false); err != nil {
		return err
	}
	log.FromContext(ctx).Info("object released", "object", short(o), "reason", "its cluster does not exist")
	tell(r.recorder, o, normal, v1alpha1.EventRetained, v1alpha1.EventRetained,
		fmt.Sprintf("deleted while its cluster %q does not exist: whatever it stood for stays as it is", cluster))
	return nil
}

func (r *Orphanage) say(ctx context.Context, key types.NamespacedName, o client.Object, cluster string) error {
	now := metav1.NewTime(r.clock()).Rfc3339Copy()
	conditions := func(have []metav1.Condition) []metav1.Condition {
		return v1alpha1.MergeConditions(have, orphaned(cluster), o.GetGeneration(), now)
	}
	w := statusWriter{client: r.client, statuses: r.statuses, key: key}
	switch o := o.(type) {
	case *v1alpha1.GlusterNode:
		return write(ctx, w, o, o.Status, nodeConfig, func(have v1alpha1.GlusterNodeStatus) v1alpha1.GlusterNodeStatus {
			have.Conditions, have.ObservedGeneration, have.CurrentOperation = conditions(have.Conditions), o.Generation, nil
			return have
		})
	case *v1alpha1.GlusterVolume:
		return write(ctx, w, o, o.Status, volumeConfig, func(have v1alpha1.GlusterVolumeStatus) v1alpha1.GlusterVolumeStatus {
			have.Conditions, have.ObservedGeneration, have.CurrentOperation = conditions(have.Conditions), o.Generation, nil
			return have
		})
	}
	return nil
}

func orphaned(cluster string) []metav1.Condition {
	text := fmt.Sprintf("there is no GlusterCluster %q in this namespace: create it, or delete this object and create one that names an existing cluster", cluster)
	return []metav1.Condition{
		v1alpha1.AvailabilityUnknown(v1alpha1.ReasonClusterNotFound, text),
		v1alpha1.Blocked(v1alpha1.ReasonClusterNotFound, text),
		v1alpha1.DegradationUnknown(v1alpha1.ReasonClusterNotFound, text),
		v1alpha1.NotProgressing(v1alpha1.ReasonBlocked, ""),
		v1alpha1.SpecAccepted(),
	}
}

func clusterOf(o client.Object) string {
	switch o := o.(type) {
	case *v1alpha1.GlusterNode:
		return o.Spec.Cluster
	case *v1alpha1.GlusterVolume:
		return o.Spec.Cluster
	}
	return ""
}
