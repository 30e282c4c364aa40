package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// looksEvery is how often the API server is asked for what is waited for.
const looksEvery = 100 * time.Millisecond

func volumeName(n int) string { return fmt.Sprintf("volume-%d", n) }

// createVolume declares a volume of one replica set and waits for it.
func (p *pen) createVolume(ctx context.Context, name string) error {
	v := rig.Replicated(namespace, cluster, name, 1)
	if err := p.rig.Client.Create(ctx, v); err != nil {
		return fmt.Errorf("declaring volume %q: %w", name, err)
	}
	return p.rig.AwaitConverged(ctx, opMax, v)
}

// deleteVolume deletes a volume as a person has to, and waits until it is gone.
func (p *pen) deleteVolume(ctx context.Context, name string) error {
	v := rig.Replicated(namespace, cluster, name, 1)
	if err := p.rig.Client.Get(ctx, client.ObjectKeyFromObject(v), v); err != nil {
		return fmt.Errorf("deleting volume %q: %w", name, err)
	}
	before := v.DeepCopy()
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, v1alpha1.AnnotationConfirmDelete, name)
	if err := p.rig.Client.Patch(ctx, v, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("confirming that volume %q goes: %w", name, err)
	}
	if err := p.rig.Client.Delete(ctx, v); err != nil {
		return fmt.Errorf("deleting volume %q: %w", name, err)
	}
	return p.awaitGone(ctx, v)
}

// declareSets changes how many replica sets a volume has.
func (p *pen) declareSets(ctx context.Context, name string, sets int32) error {
	v := rig.Replicated(namespace, cluster, name, 1)
	if err := p.rig.Client.Get(ctx, client.ObjectKeyFromObject(v), v); err != nil {
		return fmt.Errorf("growing volume %q: %w", name, err)
	}
	before := v.DeepCopy()
	v.Spec.Layout.Replicate.Sets = sets
	if err := p.rig.Client.Patch(ctx, v, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("growing volume %q: %w", name, err)
	}
	return nil
}

// awaitSets waits until a volume has so many replica sets and nothing is under
// way.
func (p *pen) awaitSets(ctx context.Context, name string, sets int32) error {
	v := rig.Replicated(namespace, cluster, name, 1)
	return p.rig.Await(ctx, opMax, v, func() string {
		if v.Status.BricksTotal == nil || *v.Status.BricksTotal != 3*sets {
			return fmt.Sprintf("not all %d bricks are there", 3*sets)
		}
		if s := rig.Is(v, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); s != "" {
			return s
		}
		return rig.Is(v, v1alpha1.ConditionProgressing, metav1.ConditionFalse, "")
	})
}

func (p *pen) awaitGone(ctx context.Context, v *v1alpha1.GlusterVolume) error {
	ctx, cancel := context.WithTimeout(ctx, opMax)
	defer cancel()
	for {
		err := p.rig.Client.Get(ctx, client.ObjectKeyFromObject(v), v)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if !pause(ctx, looksEvery) {
			return fmt.Errorf("waiting %v for volume %q to go: %s", opMax, v.Name, rig.Is(v, v1alpha1.ConditionProgressing, metav1.ConditionFalse, ""))
		}
	}
}
