package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// protect puts the finalizer on every object that is not being deleted, before
// anything is done for it.
func (r *Reconciler) protect(ctx context.Context, c *cycle) error {
	var failed failures
	for _, o := range c.objects() {
		if o.GetDeletionTimestamp() != nil {
			continue
		}
		_, err := setFinalizer(ctx, r.client, o, true)
		failed.add(err)
	}
	return failed.err()
}

// release takes the finalizer off the objects that planning has let go of, the
// cluster last: as long as it is there its children are looked after, and as
// soon as it is gone they are others'.
func (r *Reconciler) release(ctx context.Context, c *cycle) error {
	var failed failures
	objects := c.objects()
	slices.Reverse(objects)
	for _, o := range objects {
		if !c.released(o) || !controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) {
			continue
		}
		changed, err := setFinalizer(ctx, r.client, o, false)
		failed.add(err)
		if !changed {
			continue
		}
		log.FromContext(ctx).Info("object released", "object", short(o))
		r.happened(c, o)
	}
	return failed.err()
}

// released reports whether planning has let go of an object that waits for it.
func (c *cycle) released(o client.Object) bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(c.decision.Release, short(o))
}

// setFinalizer adds or removes the finalizer of o, if that is needed, and reports
// whether it was. The patch holds only for the version that o was read in; o
// becomes the new one.
func setFinalizer(ctx context.Context, w client.Writer, o client.Object, want bool) (changed bool, err error) {
	if controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) == want {
		return false, nil
	}
	verb, change := "adding", controllerutil.AddFinalizer
	if !want {
		verb, change = "removing", controllerutil.RemoveFinalizer
	}
	was := o.DeepCopyObject().(client.Object)
	change(o, v1alpha1.Finalizer)
	err = w.Patch(ctx, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), client.FieldOwner(v1alpha1.FieldOwner))
	if apierrors.IsNotFound(err) && !want {
		return false, nil // the cache is old: it went in an earlier cycle
	}
	if err != nil {
		return false, fmt.Errorf("%s the finalizer of %s: %w", verb, short(o), err)
	}
	return true, nil
}
