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
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// An Orphanage looks after GlusterNodes, or GlusterVolumes, whose cluster does
// not exist: it says so in their conditions, and lets them go when they are
// deleted. As soon as the cluster is there, its Reconciler takes over. Safe for
// concurrent use for different objects.
type Orphanage struct {
	client   client.Client
	kind     string // v1alpha1.KindNode or KindVolume
	plan     func(planner.Snapshot) planner.Decision
	opts     Options
	statuses *statuses
}

// NewOrphanage makes an Orphanage for a kind, v1alpha1.KindNode or KindVolume.
// plan decides, from a snapshot without a cluster.
func NewOrphanage(c client.Client, kind string, plan func(planner.Snapshot) planner.Decision, opts Options) *Orphanage {
	opts.defaults()
	return &Orphanage{client: c, kind: kind, plan: plan, opts: opts, statuses: newStatuses()}
}

// orphanDeadline bounds one call: two reads from the cache and one write.
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
	err = r.look(ctx, req.NamespacedName, o)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	return ctrl.Result{RequeueAfter: r.opts.Resync}, err
}

func (r *Orphanage) look(ctx context.Context, key types.NamespacedName, o client.Object) error {
	c := &cycle{key: key}
	now := metav1.NewTime(r.opts.Clock()).Rfc3339Copy()
	w := statusWriter{client: r.client, statuses: r.statuses, key: key}
	switch o := o.(type) {
	case *v1alpha1.GlusterNode:
		c.nodes = []v1alpha1.GlusterNode{*o}
	case *v1alpha1.GlusterVolume:
		c.volumes = []v1alpha1.GlusterVolume{*o}
	}
	c.decision = r.plan(planner.Snapshot{Nodes: c.nodes, Volumes: c.volumes})
	if c.released(o) {
		return r.release(ctx, c, o)
	}
	switch o := o.(type) {
	case *v1alpha1.GlusterNode:
		return write(ctx, w, o, o.Status, nodeConfig, func(have v1alpha1.GlusterNodeStatus) v1alpha1.GlusterNodeStatus {
			have.Conditions, have.ObservedGeneration, have.CurrentOperation = c.conditions(o, nil, have.Conditions, now), o.Generation, nil
			return have
		})
	case *v1alpha1.GlusterVolume:
		return write(ctx, w, o, o.Status, volumeConfig, func(have v1alpha1.GlusterVolumeStatus) v1alpha1.GlusterVolumeStatus {
			have.Conditions, have.ObservedGeneration, have.CurrentOperation = c.conditions(o, nil, have.Conditions, now), o.Generation, nil
			return have
		})
	}
	return nil
}

func (r *Orphanage) release(ctx context.Context, c *cycle, o client.Object) error {
	changed, err := setFinalizer(ctx, r.client, o, false)
	if err != nil || !changed {
		return err
	}
	log.FromContext(ctx).Info("object released", "object", short(o), "reason", "its cluster does not exist")
	for _, e := range c.decision.Events {
		if e.Object == short(o) {
			tell(r.opts.Recorder, o, severity(e), e.Reason, e.Reason, e.Message)
		}
	}
	return nil
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
