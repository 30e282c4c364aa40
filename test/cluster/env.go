package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local"
)

var (
	// ErrNotUp is returned by Open for a cluster that is not, or only half, there.
	ErrNotUp = local.ErrNotUp
	// ErrNotOurs is returned for what cannot be done to a cluster that KUBECONFIG
	// names: it has nodes, but they are not ours to kill.
	ErrNotOurs = errors.New("the cluster is one that " + kubeconfigVariable + " names")
)

// An Env is a cluster that is up. It stays up when the program ends. All
// methods are safe for concurrent use.
type Env struct {
	cfg    Config
	local  *local.Env // nil for a cluster that KUBECONFIG names
	config *rest.Config
	client kubernetes.Interface

	kubeconfig string
	pods       netip.Prefix // range of pods, of a cluster that is ours

	mu    sync.Mutex // guards nodes
	nodes []*Node
}

// Open returns the cluster that runs for cfg, of which only Checkout, Instance
// and Log matter, or the one that KUBECONFIG names.
func Open(cfg Config) (*Env, error) { return find(cfg, local.Open) }

// Inspect is Open for a cluster that may be half up or half down, to look at its
// status and logs, and for nothing else.
func Inspect(cfg Config) (*Env, error) {
	e, err := find(cfg, local.Inspect)
	if e != nil && errors.Is(err, ErrNotUp) {
		return e, nil
	}
	return e, err
}

func find(cfg Config, look func(local.Config) (*local.Env, error)) (*Env, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if file := foreign(); file != "" {
		return attach(cfg, file)
	}
	env, err := look(cfg.local())
	if err != nil {
		return nil, err
	}
	e := &Env{cfg: cfg, local: env}
	return e, e.adopt()
}

// attach returns the cluster of a kubeconfig.
func attach(cfg Config, file string) (*Env, error) {
	e := &Env{cfg: cfg, kubeconfig: file}
	return e, e.connect()
}

// adopt takes over what the environment underneath says. One that was killed
// early has no API server yet, or nobody who may come to it.
func (e *Env) adopt() error {
	e.cfg.Checkout = e.local.Checkout()
	if e.local.APIServer == nil {
		return fmt.Errorf("environment %s has no API server: %w", e.local.ID(), ErrNotUp)
	}
	if _, err := os.Stat(e.local.APIServer.Kubeconfig()); err != nil {
		return fmt.Errorf("environment %s has no kubeconfig: %w", e.local.ID(), ErrNotUp)
	}
	e.kubeconfig = e.local.APIServer.Kubeconfig()
	if err := e.connect(); err != nil {
		return err
	}
	s, err := readSettings(e.local)
	if err != nil || s.Nodes == 0 {
		return err
	}
	e.cfg.Nodes, e.cfg.MemoryMiB, e.cfg.Suites, e.pods = s.Nodes, s.MemoryMiB, s.Suites, s.Pods
	e.grow()
	return nil
}

// connect makes the client.
func (e *Env) connect() error {
	rules := clientcmd.ClientConfigLoadingRules{ExplicitPath: e.kubeconfig}
	var err error
	if e.config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&rules, nil).ClientConfig(); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	e.config.QPS = -1
	if e.client, err = kubernetes.NewForConfig(e.config); err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	return nil
}

// grow makes the handles of nodes.
func (e *Env) grow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := len(e.nodes) + 1; n <= e.cfg.Nodes; n++ {
		e.nodes = append(e.nodes, e.node(n))
	}
}

// Ours tells whether the cluster was brought up by this package, so that its
// nodes may be killed and given devices and images.
func (e *Env) Ours() bool { return e.local != nil }

// Local is the environment underneath, with its API server and, where there
// are some, GlusterFS servers; nil for a cluster that is not ours.
func (e *Env) Local() *local.Env { return e.local }

// Kubeconfig is the file with the administrator's access.
func (e *Env) Kubeconfig() string { return e.kubeconfig }

// RESTConfig is the administrator's access, without client-side rate limit.
func (e *Env) RESTConfig() *rest.Config { return rest.CopyConfig(e.config) }

// Client is a client with the administrator's access.
func (e *Env) Client() kubernetes.Interface { return e.client }

// Nodes lists the nodes in order; none of a cluster that is not ours.
func (e *Env) Nodes() []*Node {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*Node(nil), e.nodes...)
}

// Node returns node n, counted from 1. It panics when there is no such node.
func (e *Env) Node(n int) *Node {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.nodes[n-1]
}

// NodeNamed finds a node by its name; nil when there is none.
func (e *Env) NodeNamed(name string) *Node {
	for _, n := range e.Nodes() {
		if n.Name() == name || n.guest.Key() == name {
			return n
		}
	}
	return nil
}

// each does something to all nodes at the same time.
func (e *Env) each(ctx context.Context, do func(context.Context, *Node) error) error {
	var jobs []func(context.Context) error
	for _, n := range e.Nodes() {
		jobs = append(jobs, func(ctx context.Context) error { return do(ctx, n) })
	}
	return await.All(ctx, jobs)
}
