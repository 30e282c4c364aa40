package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

// checkAnchor compares the journal with what the cluster's anchor says of it
// (I28). A lost, replaced or older journal is no reason to stop: what is true is
// observed, and nothing acts before a probe has looked. But people are told,
// once per process and anchor.
func (r *Reconciler) checkAnchor(ctx context.Context, c *cycle) {
	a := c.cluster.Status.Anchor
	if a == nil {
		return
	}
	if a.Instance != r.opts.Instance {
		r.said.first(c.key, foreign(a.Instance))
		if c.cluster.Status.PoolID != "" && takeOverAllowed(c.cluster) {
			r.opts.Executor.Forget(c.cluster.Status.PoolID)
		}
		return
	}
	for _, other := range r.said.with(c.key, foreignPrefix) {
		if r.said.first(c.key, "taken from "+other) {
			r.tell(c.cluster, warning, v1alpha1.EventTakenOver, "TakeOver",
				fmt.Sprintf("the pool was taken over from operator instance %q, as annotated", other))
		}
	}
	if why := r.rewound(a); why != "" {
		r.rebuilt(ctx, c.cluster, why)
	}
}

const foreignPrefix = "belongs to "

func foreign(instance string) string { return foreignPrefix + instance }

// takeOverAllowed reports whether a person annotated the cluster so that its
// pool may change hands.
func takeOverAllowed(c *v1alpha1.GlusterCluster) bool {
	return c.Annotations[v1alpha1.AnnotationTakeOver] == c.Status.Anchor.Instance
}

// rewound says why the journal is not the one the anchor was written from;
// empty if it is.
func (r *Reconciler) rewound(a *v1alpha1.Anchor) string {
	head := r.journal.Head().Seq
	switch {
	case a.JournalID != r.journal.ID():
		return fmt.Sprintf("the pool was last changed from journal %s, this is %s: it was lost or replaced", a.JournalID, r.journal.ID())
	case journal.Seq(a.Seq) > head: //nolint:gosec // not negative by the schema
		return fmt.Sprintf("the journal ends at event %d, but event %d had been written: it is an older copy", head, a.Seq)
	}
	return ""
}

// Rebuilt tells that the journal of a pool turned out to be lost, replaced or
// older than the pool, and that what is true is taken from the pool. For the
// executor, which compares more than this controller does.
func (r *Reconciler) Rebuilt(ctx context.Context, scope, why string) {
	key, ok := r.scopes.get(scope)
	if !ok {
		return // its cluster has not been looked at: it will say so itself
	}
	cluster := &v1alpha1.GlusterCluster{}
	if err := r.client.Get(ctx, key, cluster); err != nil {
		log.FromContext(ctx).Error(err, "telling of a rebuilt journal failed", "cluster", key.String(), "reason", why)
		return
	}
	r.rebuilt(ctx, cluster, why)
}

func (r *Reconciler) rebuilt(ctx context.Context, cluster *v1alpha1.GlusterCluster, why string) {
	key := client.ObjectKeyFromObject(cluster)
	mark := fmt.Sprintf("rebuilt at fence %d", fenceOf(cluster))
	if !r.said.first(key, mark) {
		return
	}
	log.FromContext(ctx).Info("journal rebuilt: the pool is adopted as it is", "cluster", key.String(), "reason", why)
	note := why + "; the pool is adopted as it is"
	if r.opts.Kept != "" {
		note += "; the damaged journal is kept as " + r.opts.Kept
	}
	r.tell(cluster, warning, v1alpha1.EventJournalRebuilt, "Adopt", note)
}

func fenceOf(c *v1alpha1.GlusterCluster) int64 {
	if c.Status.Anchor == nil {
		return 0
	}
	return c.Status.Anchor.Fence
}
