package controller

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	ac "github.com/gluster/anthill/apis/v1alpha1/applyconfiguration/apis/v1alpha1"
)

// report writes what is known into the status of every object, where its
// content changed, and tells what happened. A status that cannot be written
// does not keep others from being written. Nothing is written once the cluster
// has been let go of: its children are the Orphanage's from then on.
func (r *Reconciler) report(ctx context.Context, c *cycle) error {
	if c.released(c.cluster) {
		return nil
	}
	now := metav1.NewTime(r.opts.Clock()).Rfc3339Copy() // what the API server keeps of a time
	w := statusWriter{client: r.client, statuses: r.status, key: c.key}
	if a := c.cluster.Status.Anchor; a != nil && a.Instance != r.opts.Instance && !takeOverAllowed(c.cluster) {
		w.allowed = func(o client.Object) bool { return r.guests.may(o, a.Fence, r.opts.Clock()) }
	}
	var failed failures
	for _, o := range c.objects() {
		if c.released(o) {
			continue // it is gone, or about to be
		}
		r.happened(c, o)
		var err error
		switch o := o.(type) {
		case *v1alpha1.GlusterCluster:
			err = write(ctx, w, o, o.Status, clusterConfig, func(have v1alpha1.GlusterClusterStatus) v1alpha1.GlusterClusterStatus {
				return c.clusterStatus(have, now)
			})
		case *v1alpha1.GlusterNode:
			err = write(ctx, w, o, o.Status, nodeConfig, func(have v1alpha1.GlusterNodeStatus) v1alpha1.GlusterNodeStatus {
				return c.nodeStatus(o, have, now)
			})
		case *v1alpha1.GlusterVolume:
			err = write(ctx, w, o, o.Status, volumeConfig, func(have v1alpha1.GlusterVolumeStatus) v1alpha1.GlusterVolumeStatus {
				return c.volumeStatus(o, have, now)
			})
		}
		failed.add(err)
	}
	r.status.keep(c.key, c.objects())
	return failed.err()
}

// A statusWriter applies statuses for the cycle of one cluster.
type statusWriter struct {
	client   client.StatusClient
	statuses *statuses
	key      client.ObjectKey
	allowed  func(client.Object) bool // asked right before a write; nil: always
}

// write applies the status of o if it differs from the one o has. read is the
// status o was read with; want makes the new one from the newest known.
func write[S any](ctx context.Context, w statusWriter, o client.Object, read S,
	config func(client.Object, S) (runtime.ApplyConfiguration, error), want func(have S) S) error {
	have := read
	if newer, ok := w.statuses.after(w.key, o).(S); ok {
		have = newer
	}
	next := want(have)
	if equality.Semantic.DeepEqual(have, next) || w.allowed != nil && !w.allowed(o) {
		return nil
	}
	cfg, err := config(o, next)
	if err != nil {
		return fmt.Errorf("status of %s: %w", short(o), err)
	}
	err = w.client.Status().Apply(ctx, cfg, client.FieldOwner(ownerStatus), client.ForceOwnership)
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return fmt.Errorf("applying the status of %s: %w", short(o), err)
	}
	w.statuses.applied(w.key, o, next)
	return nil
}

// The configs hold what this controller owns of a status: not the identities,
// and not the anchor, which is the executor's.

func clusterConfig(o client.Object, s v1alpha1.GlusterClusterStatus) (runtime.ApplyConfiguration, error) {
	status := ac.GlusterClusterStatus()
	s.PoolID, s.Anchor = "", nil
	return ac.GlusterCluster(o.GetName(), o.GetNamespace()).WithUID(o.GetUID()).WithStatus(status), convert(s, status)
}

func nodeConfig(o client.Object, s v1alpha1.GlusterNodeStatus) (runtime.ApplyConfiguration, error) {
	status := ac.GlusterNodeStatus()
	return ac.GlusterNode(o.GetName(), o.GetNamespace()).WithUID(o.GetUID()).WithStatus(status), convert(s, status)
}

func volumeConfig(o client.Object, s v1alpha1.GlusterVolumeStatus) (runtime.ApplyConfiguration, error) {
	status := ac.GlusterVolumeStatus()
	s.VolumeID = ""
	return ac.GlusterVolume(o.GetName(), o.GetNamespace()).WithUID(o.GetUID()).WithStatus(status), convert(s, status)
}

// convert goes by JSON: an apply configuration has the fields of its type.
func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
