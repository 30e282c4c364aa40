package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// claims lists the addresses that nodes of other clusters name, in all
// namespaces this operator looks after: by whom, "<name>" for a cluster of the
// same namespace and "<namespace>/<name>" for another, and since when. Of
// several clusters that name one address the first counts, so that the answer
// does not depend on the cache's order.
func (r *Reconciler) claims(ctx context.Context, c *cycle) (by map[string]string, since map[string]time.Time, err error) {
	var all v1alpha1.GlusterNodeList
	if err := r.client.List(ctx, &all); err != nil {
		return nil, nil, fmt.Errorf("listing the nodes of all clusters: %w", err)
	}
	by, since = map[string]string{}, map[string]time.Time{}
	for i := range all.Items {
		n := &all.Items[i]
		if n.Namespace == c.key.Namespace && n.Spec.Cluster == c.key.Name {
			continue
		}
		name := n.Spec.Cluster
		if n.Namespace != c.key.Namespace {
			name = n.Namespace + "/" + name
		}
		address, at := n.Address(), n.CreationTimestamp.Time
		if old, ok := since[address]; ok && (old.Before(at) || old.Equal(at) && by[address] <= name) {
			continue
		}
		by[address], since[address] = name, at
	}
	return by, since, nil
}
