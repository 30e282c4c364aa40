package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	ac "github.com/gluster/anthill/apis/v1alpha1/applyconfiguration/apis/v1alpha1"
)

// Field owners. Identities have one of their own, so that no apply of a status
// can ever take one away.
const (
	ownerStatus   = v1alpha1.FieldOwner
	ownerIdentity = v1alpha1.FieldOwner + "-identity"
)

// identify makes the identities that planning chose durable in status. It comes
// before the append: an operation never uses an identity that could be lost
// with the journal. The write holds only for the version of the object that was
// planned from; when that is old the identity may have been given already, and
// the cycle starts anew.
func (r *Reconciler) identify(ctx context.Context, c *cycle) error {
	if id := c.decision.PoolID; id != "" && id != c.cluster.Status.PoolID {
		if err := r.identifyPool(ctx, c, id); err != nil {
			return err
		}
	}
	for i := range c.volumes {
		v := &c.volumes[i]
		id := c.decision.VolumeIDs[v.Name]
		if id == "" || id == v.Status.VolumeID {
			continue
		}
		if v.Status.VolumeID != "" {
			return fmt.Errorf("volume %q has the id %s and was planned with %s", v.Name, v.Status.VolumeID, id)
		}
		apply := ac.GlusterVolume(v.Name, v.Namespace).WithUID(v.UID).WithResourceVersion(v.ResourceVersion).
			WithStatus(ac.GlusterVolumeStatus().WithVolumeID(id))
		if err := r.applyIdentity(ctx, v, apply); err != nil {
			return err
		}
		v.Status.VolumeID, v.ResourceVersion = id, versionOf(apply.ResourceVersion)
		log.FromContext(ctx).Info("volume identified", "volume", v.Name, "volumeID", id)
	}
	return nil
}

func (r *Reconciler) identifyPool(ctx context.Context, c *cycle, id string) error {
	if was := c.cluster.Status.PoolID; was != "" && (was != c.decision.PoolWas || !c.unused()) {
		return fmt.Errorf("cluster %q has the pool id %s and was planned with %s", c.key, was, id)
	}
	apply := ac.GlusterCluster(c.cluster.Name, c.cluster.Namespace).WithUID(c.cluster.UID).
		WithResourceVersion(c.cluster.ResourceVersion).WithStatus(ac.GlusterClusterStatus().WithPoolID(id))
	if err := r.applyIdentity(ctx, c.cluster, apply); err != nil {
		return err
	}
	c.cluster.Status.PoolID, c.cluster.ResourceVersion = id, versionOf(apply.ResourceVersion)
	r.scopes.set(id, c.key)
	adopted := id != c.snapshot.NewPoolID
	log.FromContext(ctx).Info("pool identified", "poolID", id, "adopted", adopted)
	if adopted {
		r.tell(c.cluster, normal, v1alpha1.EventPoolAdopted, "Adopt", fmt.Sprintf(
			"the servers belong to pool %s of this operator, which the status of the cluster did not know: it goes on with that pool", id))
	}
	return nil
}

// unused reports whether nothing follows from the pool id in status yet: no
// operation is open and no node is known to be in that pool.
func (c *cycle) unused() bool {
	return len(c.snapshot.Open) == 0 && !slices.ContainsFunc(c.nodes, func(n v1alpha1.GlusterNode) bool { return n.Status.UUID != "" })
}

func (r *Reconciler) applyIdentity(ctx context.Context, o client.Object, apply runtime.ApplyConfiguration) error {
	err := r.client.Status().Apply(ctx, apply, client.FieldOwner(ownerIdentity))
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return fmt.Errorf("identifying %s: %w", short(o), errors.Join(errAgain, err))
	}
	return fmt.Errorf("identifying %s: %w", short(o), err)
}

func versionOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// identified drops the plans that use an identity which is not in status: there
// is none unless planning has a fault, and then nothing may follow from it.
func (c *cycle) identified(scope string) bool {
	return scope != "" && scope == c.cluster.Status.PoolID && !slices.ContainsFunc(c.volumes, func(v v1alpha1.GlusterVolume) bool {
		id, ok := c.decision.VolumeIDs[v.Name]
		return ok && id != v.Status.VolumeID
	})
}
