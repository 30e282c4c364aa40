package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Landscape tells what pods can be placed on: hosts and storage classes, which
// are of the whole Kubernetes and the same for all pools. It asks at most now
// and then, and for names and labels only. Where that is not permitted nothing
// is known. Safe for concurrent use.
type Landscape struct {
	Live client.Reader
	Now  func() time.Time // default time.Now

	mu      sync.Mutex
	classes list
	hosts   list
}

// landscapeMax is the age up to which what was read counts.
const landscapeMax = 30 * time.Second

type list struct {
	read  time.Time
	items []metav1.PartialObjectMetadata
	known bool
}

// Classes are the names of the StorageClasses, sorted; nil: not known.
func (l *Landscape) Classes(ctx context.Context) []string {
	items, known := l.of(ctx, &l.classes, schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClassList"})
	if !known {
		return nil
	}
	names := make([]string, 0, len(items))
	for i := range items {
		names = append(names, items[i].Name)
	}
	slices.Sort(names)
	return names
}

// Hosts counts the Kubernetes nodes that an affinity requires.
func (l *Landscape) Hosts(ctx context.Context, a *corev1.NodeAffinity) (n int, known bool) {
	items, known := l.of(ctx, &l.hosts, schema.GroupVersionKind{Version: "v1", Kind: "NodeList"})
	for i := range items {
		if selects(a, items[i].Name, items[i].Labels) {
			n++
		}
	}
	return n, known
}

func (l *Landscape) of(ctx context.Context, at *list, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, bool) {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.known && now().Sub(at.read) < landscapeMax {
		return at.items, true
	}
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var got metav1.PartialObjectMetadataList
	got.SetGroupVersionKind(kind)
	// "0": the API server may answer from its own cache.
	err := l.Live.List(ctx, &got, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
	if err != nil {
		return nil, false
	}
	*at = list{read: now(), items: got.Items, known: true}
	return at.items, true
}
