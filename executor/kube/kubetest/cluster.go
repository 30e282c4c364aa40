package kubetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A Cluster is a Kubernetes. Safe for concurrent use.
type Cluster struct {
	// Place says on which host a pod goes, or why on none. Default: "host-1".
	Place func(pod *corev1.Pod) (host, why string)
	// Start is called when a pod's container starts; why keeps it from running.
	// Ready says whether what runs in it serves. Stop is called when it ends.
	Start func(pod *corev1.Pod) (why string)
	Ready func(pod *corev1.Pod) bool
	Stop  func(pod *corev1.Pod)

	plain client.WithWatch // without faults
	api   client.Client

	mu      sync.Mutex
	faults  []*Fault
	effects []string
	blind   bool
}

// New returns a Cluster with these objects.
func New(objects ...client.Object) (*Cluster, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("making a scheme: %w", err)
		}
	}
	c := &Cluster{
		Place: func(*corev1.Pod) (string, string) { return "host-1", "" },
		Start: func(*corev1.Pod) string { return "" },
		Ready: func(*corev1.Pod) bool { return true },
		Stop:  func(*corev1.Pod) {},
	}
	field := func(get func(*corev1.Event) string) client.IndexerFunc {
		return func(o client.Object) []string { return []string{get(o.(*corev1.Event))} }
	}
	c.plain = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &v1alpha1.GlusterCluster{}).
		WithIndex(&corev1.Event{}, "involvedObject.uid", field(func(e *corev1.Event) string { return string(e.InvolvedObject.UID) })).
		WithIndex(&corev1.Event{}, "type", field(func(e *corev1.Event) string { return e.Type })).
		Build()
	c.api = interceptor.NewClient(c.plain, interceptor.Funcs{Create: c.create, Update: c.update, Delete: c.delete, Get: c.get})
	return c, nil
}

// Client is the API server, with its faults.
func (c *Cluster) Client() client.Client { return c.api }

// Plain is the API server without faults, for the test itself.
func (c *Cluster) Plain() client.Client { return c.plain }

// Overlook says whether the StatefulSet controller does not see yet how sets have
// been changed.
func (c *Cluster) Overlook(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blind = yes
}

func (c *Cluster) overlooks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blind
}

// Effects are the changes that were made through Client, in order: "create
// Service c1".
func (c *Cluster) Effects() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.effects...)
}

func (c *Cluster) create(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	return c.call("create", o, func() error {
		if o.GetUID() == "" {
			o.SetUID(types.UID(uuid.NewString()))
		}
		if set, ok := o.(*appsv1.StatefulSet); ok {
			set.Generation = 1
		}
		return c.plain.Create(ctx, o, opts...)
	})
}

func (c *Cluster) update(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
	return c.call("update", o, func() error {
		if err := c.sameUID(ctx, o, o.GetUID()); err != nil {
			return err
		}
		if set, ok := o.(*appsv1.StatefulSet); ok {
			set.Generation++ // the fake does not count
		}
		return c.plain.Update(ctx, o, opts...)
	})
}

func (c *Cluster) delete(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	var d client.DeleteOptions
	d.ApplyOptions(opts)
	return c.call("delete", o, func() error {
		if p := d.Preconditions; p != nil && p.UID != nil {
			if err := c.sameUID(ctx, o, *p.UID); err != nil {
				return err
			}
		}
		return c.plain.Delete(ctx, o, opts...)
	})
}

func (c *Cluster) get(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if f := c.fault("get", o); f != nil {
		return f.Err
	}
	return c.plain.Get(ctx, key, o, opts...)
}

// sameUID is the precondition that the fake does not know.
func (c *Cluster) sameUID(ctx context.Context, o client.Object, uid types.UID) error {
	now := o.DeepCopyObject().(client.Object)
	if err := c.plain.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	if now.GetUID() != uid {
		gr := schema.GroupResource{Resource: c.kind(o)}
		return apierrors.NewConflict(gr, o.GetName(), fmt.Errorf("the UID in the precondition is %s, the object's is %s", uid, now.GetUID()))
	}
	return nil
}

func (c *Cluster) kind(o client.Object) string {
	gvk, err := c.plain.GroupVersionKindFor(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}
	return gvk.Kind
}

// ownedBy is how pods refer to their StatefulSet.
func ownedBy(set *appsv1.StatefulSet) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set.Name, UID: set.UID, Controller: &yes}}
}
