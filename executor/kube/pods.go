package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor/kube/object"
)

// Pods makes, changes and removes what nodes that are pods consist of. Reads are
// live. Every change carries the resource version and UID of what was read, and
// none is made to an object without our labels. Claims are made, never changed,
// and removed only of a cluster that goes with its data. Safe for concurrent use.
type Pods struct {
	Roster *Roster
	Client client.Client // not served from a cache
}

// owner is the field owner of all that Pods writes.
const owner = client.FieldOwner(object.MadeBy)

// callMax is how long one request may take.
const callMax = 30 * time.Second

// ErrTaken says that an object of the wanted name is somebody else's.
var ErrTaken = errors.New("an object of this name is somebody else's")

// Key names a node of a pool.
func (p *Pods) Key(ctx context.Context, pool, node string) (PodKey, error) {
	c, err := p.Roster.Cluster(ctx, pool)
	if err != nil {
		return PodKey{}, err
	}
	return PodKey{Namespace: c.Namespace, Cluster: c.Name, Node: node}, nil
}

// Pod tells of a node's pod and of these claims.
func (p *Pods) Pod(ctx context.Context, k PodKey, claims []string) (PodView, error) {
	return (&PodReader{Live: p.Client}).Look(ctx, k, claims)
}

// Look compares what is there with want, a Service, claim or StatefulSet made by
// package object.
func (p *Pods) Look(ctx context.Context, want client.Object) (Standing, error) {
	s, _, err := p.look(ctx, want)
	return s, err
}

func (p *Pods) look(ctx context.Context, want client.Object) (Standing, client.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	have := want.DeepCopyObject().(client.Object)
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		return Standing{State: Absent}, nil, nil
	}
	if err != nil {
		return Standing{}, nil, fmt.Errorf("reading %s %s: %w", want.GetObjectKind().GroupVersionKind().Kind, want.GetName(), err)
	}
	return stand(have, want), have, nil
}

// Make creates want, or brings what is there in line with it. It does nothing if
// it is as wanted. The error is ErrTaken for what is somebody else's, and that
// of the API server otherwise.
func (p *Pods) Make(ctx context.Context, want client.Object) error {
	s, have, err := p.look(ctx, want)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	kind := want.GetObjectKind().GroupVersionKind().Kind
	switch s.State {
	case Absent:
		// Create, and not apply: an object that somebody else makes at this moment
		// must not become ours.
		if err := p.Client.Create(ctx, want.DeepCopyObject().(client.Object), owner); err != nil {
			return fmt.Errorf("creating %s %s: %w", kind, want.GetName(), err)
		}
	case Differs:
		// have carries the resource version and UID that were read.
		if err := p.Client.Update(ctx, have, owner); err != nil {
			return fmt.Errorf("changing %s %s: %w", kind, want.GetName(), err)
		}
	case Taken:
		return fmt.Errorf("%s: %w", s.Text, ErrTaken)
	case Unfit, Going:
		return errors.New(s.Text)
	case Fits:
	}
	return nil
}

// DeletePod lets one pod go, if it still is the one with this UID. Kubernetes
// makes another one of its StatefulSet.
func (p *Pods) DeletePod(ctx context.Context, k PodKey, uid string) error {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.pod().Name}}
	if err := p.Client.Get(ctx, k.pod(), pod); err != nil {
		return fmt.Errorf("reading pod %s: %w", pod.Name, err)
	}
	if !object.IsOurs(pod, k.made()) {
		return fmt.Errorf("pod %s: %w", pod.Name, ErrTaken)
	}
	id := types.UID(uid)
	if err := p.Client.Delete(ctx, pod, client.Preconditions{UID: &id}); err != nil {
		return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
	}
	return nil
}

// RemoveSet removes a node's StatefulSet; its pod goes with it, its claims stay.
// What is not there, or not ours, is left as it is.
func (p *Pods) RemoveSet(ctx context.Context, k PodKey) error {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var set appsv1.StatefulSet
	err := p.Client.Get(ctx, k.set(), &set)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading StatefulSet %s: %w", k.Node, err)
	case !object.IsOurs(&set, k.made()) || set.DeletionTimestamp != nil:
		return nil
	}
	uid, version := set.UID, set.ResourceVersion
	err = p.Client.Delete(ctx, &set, client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting StatefulSet %s: %w", k.Node, err)
	}
	return nil
}
