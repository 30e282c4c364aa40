package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/loop"
)

// downMax bounds cleaning up after a failed Up, whose context may have ended.
const downMax = 2 * time.Minute

// Up makes the cluster of cfg run and returns it. What runs already is kept,
// what is killed, stopped or cut off is brought back, nodes are added when there
// are too few, and images are made and loaded anew as far as they changed. What a
// killed Up or Down left half done is taken down first. Unless cfg.KeepFailed, a
// failed Up leaves nothing behind.
//
// With KUBECONFIG set nothing is started, and it returns that cluster.
func Up(ctx context.Context, cfg Config) (*Env, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if file := foreign(); file != "" {
		cfg.logf("using the cluster of %s: nothing is started", file)
		return attach(cfg, file)
	}
	under := cfg.local()
	if err := Preflight(ctx, cfg); err != nil {
		return nil, err
	}
	if cfg.Checkout, err = under.Root(); err != nil {
		return nil, err
	}
	// Before the environment's lock is taken: it takes long the first time.
	if err := buildPrograms(ctx, cfg.Checkout, cfg.logf); err != nil {
		return nil, err
	}
	e := &Env{cfg: cfg}
	under.Then = func(ctx context.Context, env *local.Env) error {
		e.local = env
		return e.up(ctx)
	}
	if _, err := local.Up(ctx, under); err != nil {
		if !cfg.KeepFailed {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downMax)
			defer cancel()
			err = errors.Join(err, removeCgroups(ctx, under))
		}
		return nil, err
	}
	return e, nil
}

// Build builds every program that a cluster of cfg runs and that is not built
// yet.
func Build(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	checkout, err := cfg.local().Root()
	if err != nil {
		return err
	}
	return buildPrograms(ctx, checkout, cfg.logf)
}

// up does what Up does, under the environment's lock and on a running API server.
func (e *Env) up(ctx context.Context) error {
	begun := time.Now()
	if err := loop.MakeXFS(ctx, e.movableImage(), movableImageMiB); err != nil {
		return err
	}
	if err := e.settle(); err != nil {
		return err
	}
	if err := e.adopt(); err != nil {
		return err
	}
	if err := e.buildImages(ctx); err != nil {
		return err
	}
	e.cfg.logf("images are made after %.1f s", time.Since(begun).Seconds())
	if err := e.applyObjects(ctx); err != nil {
		return err
	}
	if err := e.route(ctx); err != nil {
		return err
	}
	if err := e.startControl(ctx); err != nil {
		return err
	}
	e.cfg.logf("the control plane serves after %.1f s", time.Since(begun).Seconds())
	if err := e.each(ctx, func(ctx context.Context, n *Node) error { return n.Restore(ctx) }); err != nil {
		return err
	}
	e.cfg.logf("%d nodes are ready after %.1f s", e.cfg.Nodes, time.Since(begun).Seconds())
	return nil
}

// route lets the host reach pods, as the control plane and the tests do.
func (e *Env) route(ctx context.Context) error {
	var routes []string
	for n := 1; n <= NodesMax; n++ {
		routes = append(routes, fmt.Sprintf("route replace %s via %s", podsOf(e.pods, n), e.nodeIP(n)))
	}
	return e.local.Route(ctx, routes...)
}

// httpClient trusts the cluster's authority. Its connections are the caller's
// to close.
func (e *Env) httpClient() (*http.Client, error) {
	config, err := rest.TLSConfigFor(e.config)
	if err != nil {
		return nil, fmt.Errorf("trusting the cluster: %w", err)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}, nil
}
