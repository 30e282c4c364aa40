package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
)

// A Dialer makes the way to one server outside Kubernetes, or to any server if
// there is no PodDialer. It contacts nobody. login is nil for a transport that
// needs none.
type Dialer interface {
	Server(node *v1alpha1.GlusterNode, login *Login) (gate.Server, error)
	// NeedsLogin reports whether Secrets are to be read at all.
	NeedsLogin() bool
}

// A PodDialer makes the way to a node that is a pod. It contacts no server; the
// error is a Problem.
type PodDialer interface {
	Pod(ctx context.Context, node *v1alpha1.GlusterNode) (gate.Server, error)
}

// A Login is what a Secret holds. It is never logged.
type Login struct {
	PrivateKey []byte
	KnownHosts []byte
}

// Format prints nothing of it, whatever the verb.
func (l *Login) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("(login)")) }

// A Roster reads the servers of a pool from the custom resources. Safe for
// concurrent use.
type Roster struct {
	// Cache holds clusters and nodes. Live reads Secrets.
	Cache, Live client.Reader
	Dialer      Dialer
	// Pods reaches nodes that are pods; nil: Dialer does.
	Pods PodDialer
	Now  func() time.Time // default time.Now

	mu     sync.Mutex
	logins map[client.ObjectKey]*secret
}

// loginMax is how long a login that was read is good without being read again.
// Every look and every command needs it, several of them a second; one that is
// missing or makes no sense is read anew each time.
const loginMax = 5 * time.Second

var _ Servers = (*Roster)(nil)

// ErrNoPool says that no cluster in the cache has this pool.
var ErrNoPool = errors.New("no GlusterCluster has this pool")

// Of lists the servers of a pool's nodes.
func (r *Roster) Of(ctx context.Context, pool string) ([]Server, error) {
	nodes, err := r.Nodes(ctx, pool)
	if err != nil {
		return nil, err
	}
	return r.Reach(ctx, nodes), nil
}

// Nodes finds the cluster by the pool id in its status and lists its nodes. A
// node that is being deleted is still a server.
func (r *Roster) Nodes(ctx context.Context, pool string) ([]v1alpha1.GlusterNode, error) {
	cluster, err := r.Cluster(ctx, pool)
	if err != nil {
		return nil, err
	}
	var nodes v1alpha1.GlusterNodeList
	if err := r.Cache.List(ctx, &nodes, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return slices.DeleteFunc(nodes.Items, func(n v1alpha1.GlusterNode) bool { return n.Spec.Cluster != cluster.Name }), nil
}

// Cluster finds a cluster by its pool id.
func (r *Roster) Cluster(ctx context.Context, pool string) (*v1alpha1.GlusterCluster, error) {
	var clusters v1alpha1.GlusterClusterList
	if err := r.Cache.List(ctx, &clusters); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	for i := range clusters.Items {
		if pool != "" && clusters.Items[i].Status.PoolID == pool {
			return &clusters.Items[i], nil
		}
	}
	return nil, fmt.Errorf("pool %s: %w", pool, ErrNoPool)
}

// Reach says how the servers of these nodes are reached, sorted by name. It
// reads each Secret at most once and contacts no server.
func (r *Roster) Reach(ctx context.Context, nodes []v1alpha1.GlusterNode) []Server {
	out := make([]Server, 0, len(nodes))
	logins := map[client.ObjectKey]*secret{}
	for i := range nodes {
		n := &nodes[i]
		s := Server{Node: n.Name, Address: n.Address(), Pod: n.IsPod(), UUID: n.Status.UUID}
		for _, d := range n.BrickDirs() {
			s.Dirs = append(s.Dirs, string(d))
		}
		s.Gate, s.Problem = r.reach(ctx, n, logins)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Server) int { return strings.Compare(a.Node, b.Node) })
	return out
}

type secret struct {
	login   *Login
	problem *Problem
	read    time.Time
}

func (r *Roster) reach(ctx context.Context, n *v1alpha1.GlusterNode, logins map[client.ObjectKey]*secret) (gate.Server, *Problem) {
	var login *Login
	switch {
	case n.IsPod() && r.Pods != nil:
		server, err := r.Pods.Pod(ctx, n)
		return server, ProblemOf(err)
	case n.IsPod() && r.Dialer.NeedsLogin():
		return nil, &Problem{v1alpha1.ReasonPodNotReady, "this operator has no way into pods"}
	case r.Dialer.NeedsLogin():
		key := client.ObjectKey{Namespace: n.Namespace, Name: n.Spec.External.SSH.SecretRef.Name}
		if logins[key] == nil {
			logins[key] = r.secret(ctx, key)
		}
		if p := logins[key].problem; p != nil {
			return nil, p
		}
		login = logins[key].login
	}
	server, err := r.Dialer.Server(n, login)
	if err != nil {
		return nil, ProblemOf(err)
	}
	return server, nil
}

// secret is what a Secret holds, or held a moment ago.
func (r *Roster) secret(ctx context.Context, key client.ObjectKey) *secret {
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	r.mu.Lock()
	kept := r.logins[key]
	r.mu.Unlock()
	s := &secret{read: now()}
	if kept != nil && s.read.Sub(kept.read) < loginMax {
		return kept
	}
	s.login, s.problem = r.login(ctx, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.problem != nil {
		delete(r.logins, key)
		return s
	}
	for k, old := range r.logins { // of nodes that are gone
		if s.read.Sub(old.read) >= loginMax {
			delete(r.logins, k)
		}
	}
	if r.logins == nil {
		r.logins = map[client.ObjectKey]*secret{}
	}
	r.logins[key] = s
	return s
}

func (r *Roster) login(ctx context.Context, key client.ObjectKey) (*Login, *Problem) {
	var s corev1.Secret
	err := r.Live.Get(ctx, key, &s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &Problem{v1alpha1.ReasonSecretNotFound, fmt.Sprintf("Secret %q is not there", key.Name)}
	case err != nil:
		return nil, &Problem{v1alpha1.ReasonSecretNotFound, fmt.Sprintf("reading Secret %q: %v", key.Name, err)}
	case len(s.Data[v1alpha1.SecretKeyPrivateKey]) == 0:
		return nil, &Problem{v1alpha1.ReasonSecretInvalid, fmt.Sprintf("Secret %q has no key %s", key.Name, v1alpha1.SecretKeyPrivateKey)}
	}
	return &Login{PrivateKey: s.Data[v1alpha1.SecretKeyPrivateKey], KnownHosts: s.Data[v1alpha1.SecretKeyKnownHosts]}, nil
}
