package pods

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
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
