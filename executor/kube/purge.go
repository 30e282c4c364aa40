package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// A Remnant is how an object stands that is to be removed for good.
type Remnant struct {
	Gone    bool   // the one with this UID is not there any more
	Foreign string // it is not ours to remove, for this reason; it stays
	Going   string // it is being deleted, and what holds it
}

// Made is what Anthill made for the cluster of a pod, of this moment.
func (p *Pods) Made(ctx context.Context, k PodKey) (*planner.Made, error) {
	return (&Ties{Live: p.Client}).Made(ctx, k.Namespace, k.Cluster)
}

// Kept says why the data of a pool's cluster is to be kept, as its object says at
// this moment; empty if a person wants it to be removed, and has confirmed that.
func (p *Pods) Kept(ctx context.Context, k PodKey) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var c v1alpha1.GlusterCluster
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Cluster}, &c); err != nil {
		return "", fmt.Errorf("reading GlusterCluster %s: %w", k.Cluster, err)
	}
	confirmed, _ := c.DeleteConfirmed()
	switch {
	case c.DeletionTimestamp == nil:
		return "the GlusterCluster is not being deleted", nil
	case !c.Purges():
		return fmt.Sprintf("spec.deletionPolicy is not %s", v1alpha1.DeletionPurge), nil
	case !confirmed:
		return fmt.Sprintf("annotation %s is not the name of the cluster", v1alpha1.AnnotationConfirmDelete), nil
	}
	return "", nil
}

// Claim looks at one claim of a node.
func (p *Pods) Claim(ctx context.Context, k PodKey, ref planner.ObjectRef) (Remnant, error) {
	o, r, err := p.remnant(ctx, &corev1.PersistentVolumeClaim{}, k, ref)
	if err != nil || o == nil {
		return r, err
	}
	r.Foreign = object.NotMadeClaim(o, k.Cluster)
	if r.Foreign == "" && o.GetLabels()[v1alpha1.LabelNode] != k.Node {
		r.Foreign = "it carries the label of another node"
	}
	return r, nil
}

// RemoveClaim removes one claim of a node, if it still is as it was looked at.
// What is on it is lost, as far as the reclaim policy of its volume says so.
func (p *Pods) RemoveClaim(ctx context.Context, k PodKey, ref planner.ObjectRef) error {
	return p.remove(ctx, &corev1.PersistentVolumeClaim{}, k, ref, func(o client.Object) string {
		if why := object.NotMadeClaim(o, k.Cluster); why != "" {
			return why
		}
		if o.GetLabels()[v1alpha1.LabelNode] != k.Node {
			return "it carries the label of another node"
		}
		return ""
	})
}

// Service looks at the Service of a cluster.
func (p *Pods) Service(ctx context.Context, k PodKey, ref planner.ObjectRef) (Remnant, error) {
	o, r, err := p.remnant(ctx, &corev1.Service{}, k, ref)
	if err == nil && o != nil {
		r.Foreign = object.NotMade(o, k.Cluster)
	}
	return r, err
}

// RemoveService removes it.
func (p *Pods) RemoveService(ctx context.Context, k PodKey, ref planner.ObjectRef) error {
	return p.remove(ctx, &corev1.Service{}, k, ref, func(o client.Object) string { return object.NotMade(o, k.Cluster) })
}

// remnant reads an object; it is nil if the one that is meant is gone.
func (p *Pods) remnant(ctx context.Context, o client.Object, k PodKey, ref planner.ObjectRef) (client.Object, Remnant, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: ref.Name}, o)
	switch {
	case apierrors.IsNotFound(err), err == nil && string(o.GetUID()) != ref.UID:
		return nil, Remnant{Gone: true}, nil
	case err != nil:
		return nil, Remnant{}, fmt.Errorf("reading %s: %w", ref.Name, err)
	}
	return o, Remnant{Going: goingText(o)}, nil
}

// remove deletes an object with the UID and resource version it was read with.
func (p *Pods) remove(ctx context.Context, o client.Object, k PodKey, ref planner.ObjectRef, foreign func(client.Object) string) error {
	have, r, err := p.remnant(ctx, o, k, ref)
	if err != nil || r.Gone || r.Going != "" {
		return err
	}
	if why := foreign(have); why != "" {
		return fmt.Errorf("%s: %s: %w", ref.Name, why, ErrTaken)
	}
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	uid, version := types.UID(ref.UID), have.GetResourceVersion()
	err = p.Client.Delete(ctx, have, client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s: %w", ref.Name, err)
	}
	return nil
}
