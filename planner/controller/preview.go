package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// Preview is the first half of a cycle: it gathers what a Reconciler would
// gather for the cluster and decides, and writes nothing anywhere. reader must
// answer lists with the field selector of IndexCluster.
func Preview(ctx context.Context, reader client.Reader, o Observer, plan func(planner.Snapshot) planner.Decision, v View,
	key types.NamespacedName, opts Options) (planner.Snapshot, planner.Decision, error) {
	opts.defaults()
	r := &Reconciler{client: readOnly{Reader: reader}, observer: o, plan: plan, view: v, opts: opts, scopes: newScopes()}
	c := &cycle{key: key, cluster: &v1alpha1.GlusterCluster{}}
	if err := reader.Get(ctx, key, c.cluster); err != nil {
		return planner.Snapshot{}, planner.Decision{}, fmt.Errorf("reading cluster %q: %w", key, err)
	}
	if err := r.children(ctx, c); err != nil {
		return planner.Snapshot{}, planner.Decision{}, err
	}
	if err := r.gather(ctx, c); err != nil {
		return planner.Snapshot{}, planner.Decision{}, err
	}
	return c.snapshot, plan(c.snapshot), nil
}

// readOnly is a client that has nothing to write with.
type readOnly struct {
	client.Reader
	client.Client
}

// Get reads.
func (c readOnly) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.Reader.Get(ctx, key, o, opts...)
}

// List reads.
func (c readOnly) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.Reader.List(ctx, l, opts...)
}
