package planctl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/executor/observe"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/planner/controller"
)

// A preview plans clusters as they are, or would be.
type preview struct {
	client    client.Client // of the API server
	declared  []client.Object
	past      *past
	namespace string
	all       bool
	cluster   string // empty: see keys
	notes     io.Writer
	digest    func(installed string) (string, error)
	nodeImage string
	observer  func(r client.Reader, digest string) *observe.Observer
}

// A planned is what was decided for one cluster.
type planned struct {
	key      types.NamespacedName
	snapshot planner.Snapshot
	decision planner.Decision
}

func (p *preview) plans(ctx context.Context) ([]planned, error) {
	var would []client.Object
	for _, o := range p.declared {
		w, err := dryRun(ctx, p.client, o)
		if err != nil {
			return nil, err
		}
		would = append(would, w)
	}
	reader := newOverlay(p.client, would)
	keys, err := p.keys(ctx, reader)
	if err != nil {
		return nil, err
	}
	out := make([]planned, 0, len(keys))
	for _, key := range keys {
		one, err := p.plan(ctx, reader, key)
		if err != nil {
			return nil, err
		}
		out = append(out, *one)
	}
	return out, nil
}

// keys says which clusters are meant, sorted.
func (p *preview) keys(ctx context.Context, r client.Reader) ([]types.NamespacedName, error) {
	if p.cluster != "" {
		key := types.NamespacedName{Namespace: p.namespace, Name: p.cluster}
		if ns, name, ok := strings.Cut(p.cluster, "/"); ok {
			key = types.NamespacedName{Namespace: ns, Name: name}
		}
		return []types.NamespacedName{key}, nil
	}
	var keys []types.NamespacedName
	for _, o := range p.declared {
		key := client.ObjectKeyFromObject(o)
		switch o := o.(type) {
		case *v1alpha1.GlusterNode:
			key.Name = o.Spec.Cluster
		case *v1alpha1.GlusterVolume:
			key.Name = o.Spec.Cluster
		}
		keys = append(keys, key)
	}
	if len(p.declared) == 0 {
		var l v1alpha1.GlusterClusterList
		ns := p.namespace
		if p.all {
			ns = ""
		}
		if err := r.List(ctx, &l, client.InNamespace(ns)); err != nil {
			return nil, fmt.Errorf("listing clusters: %w", err)
		}
		for i := range l.Items {
			keys = append(keys, client.ObjectKeyFromObject(&l.Items[i]))
		}
		if len(keys) == 0 {
			where := "namespace " + ns
			if p.all {
				where = "any namespace"
			}
			_, _ = fmt.Fprintf(p.notes, "# no GlusterCluster in %s\n", where)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(keys), nil
}

func (p *preview) plan(ctx context.Context, r client.Reader, key types.NamespacedName) (*planned, error) {
	var cluster v1alpha1.GlusterCluster
	err := r.Get(ctx, key, &cluster)
	if apierrors.IsNotFound(err) {
		return nil, cli.Errorf(cli.NotFound, "there is no GlusterCluster %q in namespace %q", key.Name, key.Namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("reading cluster %q: %w", key, err)
	}
	installed, err := installedDigest(ctx, r, key)
	if err != nil {
		return nil, err
	}
	digest, err := p.digest(installed)
	if err != nil {
		return nil, err
	}
	opts := controller.Options{}
	if a := cluster.Status.Anchor; a != nil {
		opts.Instance = a.Instance // what its owner would do
	}
	decide := func(s planner.Snapshot) planner.Decision {
		s.NodeImage = p.nodeImage
		return planner.Plan(s)
	}
	out := &planned{key: key}
	out.snapshot, out.decision, err = controller.Preview(ctx, r, p.observer(r, digest), decide, p.past, key, opts)
	return out, err
}

// installedDigest is the digest of the gate that most nodes of a cluster have.
func installedDigest(ctx context.Context, r client.Reader, key types.NamespacedName) (string, error) {
	var l v1alpha1.GlusterNodeList
	if err := r.List(ctx, &l, client.InNamespace(key.Namespace), client.MatchingFields{controller.IndexCluster: key.Name}); err != nil {
		return "", fmt.Errorf("listing nodes of cluster %q: %w", key, err)
	}
	counts, best := map[string]int{}, ""
	for i := range l.Items {
		if g := l.Items[i].Status.Gate; g != nil {
			counts[g.Digest]++
		}
	}
	for d, n := range counts {
		if n > counts[best] || n == counts[best] && d < best {
			best = d
		}
	}
	return best, nil
}
