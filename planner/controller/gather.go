package controller

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// endedMax bounds what a snapshot tells of operations that have ended.
const endedMax = 100

// children reads the nodes and volumes that name the cluster.
func (r *Reconciler) children(ctx context.Context, c *cycle) error {
	of := []client.ListOption{client.InNamespace(c.key.Namespace), client.MatchingFields{IndexCluster: c.key.Name}}
	var nodes v1alpha1.GlusterNodeList
	if err := r.client.List(ctx, &nodes, of...); err != nil {
		return fmt.Errorf("listing nodes of cluster %q: %w", c.key, err)
	}
	var volumes v1alpha1.GlusterVolumeList
	if err := r.client.List(ctx, &volumes, of...); err != nil {
		return fmt.Errorf("listing volumes of cluster %q: %w", c.key, err)
	}
	c.nodes, c.volumes = nodes.Items, volumes.Items
	return nil
}

// gather completes the snapshot. The journal is read before the servers are
// looked at: an operation that ends in between counts as open, with its
// declared end state. The other way round its effect would be missing from
// both, and be planned a second time.
func (r *Reconciler) gather(ctx context.Context, c *cycle) error {
	claims, since, err := r.claims(ctx, c)
	if err != nil {
		return err
	}
	picture, err := r.view.Snapshot()
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	s := planner.Snapshot{
		Cluster: c.cluster, Nodes: c.nodes, Volumes: c.volumes, Claims: claims, ClaimedAt: since,
		Epoch: picture.Epoch, Instance: r.opts.Instance, NodeImage: r.opts.NodeImage, Tombstones: picture.Tombstones,
	}
	if scope := c.cluster.Status.PoolID; scope != "" {
		r.scopes.set(scope, c.key)
		s.Open = values(ofScope(picture.Open, scope))
		s.Ended = newest(ofScope(picture.Recent, scope), endedMax)
	}
	s.Observed = r.observer.Pool(ctx, c.cluster, c.nodes)
	if c.deleting() {
		s.Observed.Leaving = r.observer.Leaving(ctx, c.cluster)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("observing cluster %q: %w", c.key, err)
	}
	if scope := c.cluster.Status.PoolID; scope != "" {
		_, s.Fence = r.opts.Executor.FenceProblem(scope)
	}
	if s.NewPoolID, s.NewVolumeIDs, err = r.fresh(c); err != nil {
		return err
	}
	c.snapshot = s
	return nil
}

// deleting reports whether the cluster, or a volume of it, is being deleted.
func (c *cycle) deleting() bool {
	return c.cluster.DeletionTimestamp != nil ||
		slices.ContainsFunc(c.volumes, func(v v1alpha1.GlusterVolume) bool { return v.DeletionTimestamp != nil })
}

// fresh makes the identities that are missing.
func (r *Reconciler) fresh(c *cycle) (pool string, volumes map[string]string, err error) {
	if c.cluster.Status.PoolID == "" {
		if pool, err = r.opts.IDs.Pool(); err != nil {
			return "", nil, fmt.Errorf("making a pool id: %w", err)
		}
	}
	volumes = map[string]string{}
	for i := range c.volumes {
		if c.volumes[i].Status.VolumeID != "" {
			continue
		}
		if volumes[c.volumes[i].Name], err = r.opts.IDs.Volume(); err != nil {
			return "", nil, fmt.Errorf("making a volume id: %w", err)
		}
	}
	return pool, volumes, nil
}

// refresh reads what is open once more, so that status shows what was planned
// in this cycle.
func (r *Reconciler) refresh(c *cycle) error {
	c.notes = r.opts.Executor.Notes()
	if c.cluster.Status.PoolID == "" {
		return nil
	}
	picture, err := r.view.Snapshot()
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	c.open = ofScope(picture.Open, c.cluster.Status.PoolID)
	return nil
}

func ofScope(ops []*view.Op, scope string) []*view.Op {
	var out []*view.Op
	for _, op := range ops {
		if op.Plan.Scope == scope {
			out = append(out, op)
		}
	}
	return out
}

func values(ops []*view.Op) []view.Op {
	out := make([]view.Op, len(ops))
	for i, op := range ops {
		out[i] = *op
	}
	return out
}

// newest copies at most max of ops, last first.
func newest(ops []*view.Op, max int) []view.Op {
	out := make([]view.Op, 0, min(len(ops), max))
	for i := len(ops) - 1; i >= 0 && len(out) < max; i-- {
		out = append(out, *ops[i])
	}
	return out
}
