package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/journal"
)

// AnchorStore keeps the anchor of each pool in its cluster's status. Reads are
// live, writes carry the resource version of the anchor they replace: of two
// writers one loses, and knows.
type AnchorStore struct {
	Roster *Roster
	Client client.Client // Get must not be served from a cache
}

var _ executor.Anchors = (*AnchorStore)(nil)

func (s *AnchorStore) get(ctx context.Context, pool string) (*v1alpha1.GlusterCluster, error) {
	cached, err := s.Roster.Cluster(ctx, pool)
	if err != nil {
		return nil, err
	}
	var c v1alpha1.GlusterCluster
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(cached), &c); err != nil {
		return nil, fmt.Errorf("reading cluster %s/%s: %w", cached.Namespace, cached.Name, err)
	}
	if c.Status.PoolID != pool {
		return nil, fmt.Errorf("pool %s: %w", pool, ErrNoPool)
	}
	return &c, nil
}

// Load reads the anchor.
func (s *AnchorStore) Load(ctx context.Context, pool string) (executor.Anchor, error) {
	c, err := s.get(ctx, pool)
	if err != nil {
		return executor.Anchor{}, err
	}
	a := executor.Anchor{TakeOver: c.Annotations[v1alpha1.AnnotationTakeOver]}
	if was := c.Status.Anchor; was != nil {
		a.Instance, a.JournalID, a.Hash = was.Instance, was.JournalID, was.Hash
		a.Fence, a.Seq = uint64(max(0, was.Fence)), journal.Seq(max(0, was.Seq))
		a.Read = a.Fence
	}
	return a, nil
}

// storeTries is how often Store tries to get in between other writers of the
// same status, who are about other things than the anchor.
const storeTries = 10

// Store writes the anchor if the cluster is still as Load saw it, or if nothing
// but other things than the anchor changed since.
func (s *AnchorStore) Store(ctx context.Context, pool string, a executor.Anchor) error {
	for range storeTries {
		c, err := s.get(ctx, pool)
		if err != nil {
			return err
		}
		if fenceIn(c) != a.Read {
			break
		}
		before := c.DeepCopy()
		c.Status.Anchor = &v1alpha1.Anchor{Instance: a.Instance, JournalID: a.JournalID, Fence: int64(a.Fence), Seq: int64(a.Seq), Hash: a.Hash}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err = s.Client.Status().Patch(ctx, c, patch, client.FieldOwner(v1alpha1.FieldOwner+"-anchor"))
		switch {
		case err == nil:
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("writing the anchor of %s/%s: %w", c.Namespace, c.Name, err)
		}
	}
	return fmt.Errorf("pool %s: %w", pool, executor.ErrAnchorMoved)
}

func fenceIn(c *v1alpha1.GlusterCluster) uint64 {
	if c.Status.Anchor == nil {
		return 0
	}
	return uint64(max(0, c.Status.Anchor.Fence))
}
