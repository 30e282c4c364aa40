package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// Ties tells what in Kubernetes is tied to a cluster or to volumes that are being
// deleted: who uses them, and what Anthill made for them. It is asked only then,
// and what it says is of this moment. Safe for concurrent use.
type Ties struct {
	Live client.Reader
	Now  func() time.Time // default time.Now

	mu     sync.Mutex
	denied time.Time // when PersistentVolumes could not be looked at for lack of rights
}

// deniedMax is how long a lack of rights is believed in: it shows in the audit log
// of the API server each time it is met.
const deniedMax = 10 * time.Minute

// Leaving is what matters for what is being deleted of a cluster, or is the
// cluster.
func (t *Ties) Leaving(ctx context.Context, c *v1alpha1.GlusterCluster) *planner.Leaving {
	out := &planner.Leaving{}
	var err error
	if out.Users, err = t.users(ctx, c.Namespace); err != nil {
		out.Unknown = sentence(err.Error())
		return out
	}
	if c.DeletionTimestamp != nil && c.Purges() {
		if out.Made, err = t.Made(ctx, c.Namespace, c.Name); err != nil {
			out.Made, out.Unknown = nil, sentence(err.Error())
		}
	}
	return out
}

// users are the PersistentVolumes of each GlusterVolume of a namespace, sorted;
// none where the operator may not look.
func (t *Ties) users(ctx context.Context, namespace string) (map[string][]string, error) {
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	t.mu.Lock()
	denied := t.denied
	t.mu.Unlock()
	if !denied.IsZero() && now().Sub(denied) < deniedMax {
		return nil, nil
	}
	items, err := t.list(ctx, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeList"},
		client.MatchingLabels{v1alpha1.LabelVolumeNamespace: namespace}, client.HasLabels{v1alpha1.LabelVolume})
	switch {
	case apierrors.IsForbidden(err):
		t.mu.Lock()
		defer t.mu.Unlock()
		t.denied = now()
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	out := map[string][]string{}
	for i := range items {
		volume := items[i].Labels[v1alpha1.LabelVolume]
		out[volume] = append(out[volume], items[i].Name)
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out, nil
}

// Made is what Anthill made for a cluster, and what only carries its labels.
func (t *Ties) Made(ctx context.Context, namespace, cluster string) (*planner.Made, error) {
	out := &planner.Made{}
	of := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelCluster: cluster}}
	service := &metav1.PartialObjectMetadata{}
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, service)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("reading Service %s: %w", cluster, err)
	case object.NotMade(service, cluster) == "":
		out.Service, out.ServiceGoing = string(service.UID), goingText(service)
	}
	if out.Pods, err = t.pods(ctx, cluster, of); err != nil {
		return nil, err
	}
	claims, err := t.list(ctx, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaimList"}, of...)
	if err != nil {
		return nil, fmt.Errorf("listing claims: %w", err)
	}
	if len(claims) == 0 {
		return out, nil
	}
	users, err := t.mounts(ctx, namespace)
	if err != nil {
		return nil, err
	}
	named, err := t.named(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for i := range claims {
		c := &claims[i]
		claim := planner.MadeClaim{Name: c.Name, Node: c.Labels[v1alpha1.LabelNode], UID: string(c.UID),
			Foreign: object.NotMadeClaim(c, cluster), Users: users[c.Name], Going: goingText(c)}
		if by := named[c.Name]; by != "" && claim.Foreign == "" {
			claim.Foreign = fmt.Sprintf("GlusterNode %s names it", by)
		}
		out.Claims = append(out.Claims, claim)
	}
	slices.SortFunc(out.Claims, func(a, b planner.MadeClaim) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// pods names the nodes of a cluster that have a StatefulSet or a pod, sorted.
func (t *Ties) pods(ctx context.Context, cluster string, of []client.ListOption) ([]string, error) {
	sets, err := t.list(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSetList"}, of...)
	if err != nil {
		return nil, fmt.Errorf("listing StatefulSets: %w", err)
	}
	pods, err := t.list(ctx, schema.GroupVersionKind{Version: "v1", Kind: "PodList"}, of...)
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	var nodes []string
	for i := range sets {
		if node := sets[i].Labels[v1alpha1.LabelNode]; node == sets[i].Name && object.NotMade(&sets[i], cluster) == "" {
			nodes = append(nodes, node)
		}
	}
	for i := range pods { // they are made by the StatefulSet's controller, in its name
		if node := pods[i].Labels[v1alpha1.LabelNode]; node != "" && node+"-0" == pods[i].Name {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}

// mounts are the pods of a namespace that have not ended, by claims they mount,
// whosever they are.
func (t *Ties) mounts(ctx context.Context, namespace string) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var pods corev1.PodList
	if err := t.Live.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	out := map[string][]string{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				out[v.PersistentVolumeClaim.ClaimName] = append(out[v.PersistentVolumeClaim.ClaimName], p.Name)
			}
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out, nil
}

// named are the claims that GlusterNodes name which a person made, of whatever
// cluster, with one of these nodes.
func (t *Ties) named(ctx context.Context, namespace string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var nodes v1alpha1.GlusterNodeList
	if err := t.Live.List(ctx, &nodes, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing GlusterNodes: %w", err)
	}
	out := map[string]string{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		made := n.Annotations[v1alpha1.AnnotationTemplate] != ""
		for _, claim := range n.Claims() {
			// A node of a template may have storage that a person added.
			if !made || !planner.IsTemplateClaim(n.Name, claim) {
				out[claim] = n.Name
			}
		}
	}
	return out, nil
}

// list lists names and labels.
func (t *Ties) list(ctx context.Context, kind schema.GroupVersionKind, of ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	var got metav1.PartialObjectMetadataList
	got.SetGroupVersionKind(kind)
	if err := t.Live.List(ctx, &got, of...); err != nil {
		return nil, err
	}
	return got.Items, nil
}

// goingText says what holds an object that is being deleted; empty for one that
// is not.
func goingText(o metav1.Object) string {
	if o.GetDeletionTimestamp() == nil {
		return ""
	}
	text := "is being deleted"
	if f := o.GetFinalizers(); len(f) > 0 {
		text += ", held by finalizers " + strings.Join(f, ", ")
	}
	return text
}
