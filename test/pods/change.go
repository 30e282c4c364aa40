package pods

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// Change changes what is declared in an object, as it is now.
func (s *Site) Change(ctx context.Context, o client.Object, change func()) error {
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	before, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", o)
	}
	change()
	return s.Client.Patch(ctx, o, client.MergeFrom(before))
}

// AwaitGone waits until an object is gone.
func (s *Site) AwaitGone(ctx context.Context, max time.Duration, o client.Object) error {
	deadline := time.NewTimer(max)
	defer deadline.Stop()
	for {
		err := s.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			if err != nil {
				return fmt.Errorf("waiting %v until %T %s is gone: %w", max, o, o.GetName(), err)
			}
			return fmt.Errorf("waiting %v until %T %s is gone: blocked: %s", max, o, o.GetName(), rig.Message(o, v1alpha1.ConditionBlocked))
		case <-time.After(followEvery):
		}
	}
}
