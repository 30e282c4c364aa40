package cluster

import (
	"context"
	"time"
)

// keepEvery is how often Keep looks.
const keepEvery = 2 * time.Second

// Keep starts components of the control plane that have ended once more, until
// ctx ends, as kubelets do where they are pods. They do end by themselves:
// kube-scheduler once the API server died between a binding and its news. Keep
// returns at once for a cluster that is not ours.
func (e *Env) Keep(ctx context.Context) {
	if !e.Ours() {
		return
	}
	all := e.components()
	for ctx.Err() == nil {
		for _, c := range all {
			if e.local.Component(c.name).Running() {
				continue
			}
			e.cfg.logf("%s has ended and is started again", c.name)
			if err := e.startComponent(ctx, c); err != nil && ctx.Err() == nil {
				e.cfg.logf("starting %s again: %v", c.name, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(keepEvery):
		}
	}
}
