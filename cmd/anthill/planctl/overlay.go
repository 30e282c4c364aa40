package planctl

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner/controller"
)

// An overlay reads from the API server, with some objects as they would be.
type overlay struct {
	live     client.Reader
	clusters map[types.NamespacedName]*v1alpha1.GlusterCluster
	nodes    map[types.NamespacedName]*v1alpha1.GlusterNode
	volumes  map[types.NamespacedName]*v1alpha1.GlusterVolume
}

var _ client.Reader = (*overlay)(nil)

func newOverlay(live client.Reader, objects []client.Object) *overlay {
	o := &overlay{live: live, clusters: map[types.NamespacedName]*v1alpha1.GlusterCluster{},
		nodes: map[types.NamespacedName]*v1alpha1.GlusterNode{}, volumes: map[types.NamespacedName]*v1alpha1.GlusterVolume{}}
	for _, x := range objects {
		switch x := x.(type) {
		case *v1alpha1.GlusterCluster:
			o.clusters[client.ObjectKeyFromObject(x)] = x
		case *v1alpha1.GlusterNode:
			o.nodes[client.ObjectKeyFromObject(x)] = x
		case *v1alpha1.GlusterVolume:
			o.volumes[client.ObjectKeyFromObject(x)] = x
		}
	}
	return o
}

// Get reads one object.
func (o *overlay) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	switch into := into.(type) {
	case *v1alpha1.GlusterCluster:
		if x, ok := o.clusters[key]; ok {
			x.DeepCopyInto(into)
			return nil
		}
	case *v1alpha1.GlusterNode:
		if x, ok := o.nodes[key]; ok {
			x.DeepCopyInto(into)
			return nil
		}
	case *v1alpha1.GlusterVolume:
		if x, ok := o.volumes[key]; ok {
			x.DeepCopyInto(into)
			return nil
		}
	}
	return o.live.Get(ctx, key, into, opts...)
}

// List reads objects of a namespace, or of all. Of selectors only that by
// cluster is known; it is applied here, over what is there and what would be.
func (o *overlay) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var lo client.ListOptions
	lo.ApplyOptions(opts)
	if err := o.live.List(ctx, list, client.InNamespace(lo.Namespace)); err != nil {
		return err
	}
	keep := func(ns, cluster string) bool {
		if lo.Namespace != "" && ns != lo.Namespace {
			return false
		}
		if lo.FieldSelector == nil {
			return true
		}
		want, ok := lo.FieldSelector.RequiresExactMatch(controller.IndexCluster)
		return !ok || want == cluster
	}
	switch l := list.(type) {
	case *v1alpha1.GlusterClusterList:
		l.Items = laid(l.Items, o.clusters, func(x *v1alpha1.GlusterCluster) bool { return keep(x.Namespace, x.Name) })
	case *v1alpha1.GlusterNodeList:
		l.Items = laid(l.Items, o.nodes, func(x *v1alpha1.GlusterNode) bool { return keep(x.Namespace, x.Spec.Cluster) })
	case *v1alpha1.GlusterVolumeList:
		l.Items = laid(l.Items, o.volumes, func(x *v1alpha1.GlusterVolume) bool { return keep(x.Namespace, x.Spec.Cluster) })
	}
	return nil
}

// laid puts over over items and keeps what keep says. What is new comes in the
// order of the map; planning does not depend on it.
func laid[T any, P interface {
	*T
	client.Object
}](items []T, over map[types.NamespacedName]*T, keep func(*T) bool) []T {
	out := make([]T, 0, len(items)+len(over))
	for i := range items {
		if _, ok := over[client.ObjectKeyFromObject(P(&items[i]))]; !ok && keep(&items[i]) {
			out = append(out, items[i])
		}
	}
	for _, x := range over {
		if keep(x) {
			out = append(out, *P(x).DeepCopyObject().(P))
		}
	}
	return out
}
