package steps

import (
	"context"
	"slices"
	"strings"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// podReady waits until the node's pod is the one declared and serves. It tells
// what it waits for, in Kubernetes' words.
type podReady struct{ base }

// Probe looks at the pod, and at its claims while it does not run.
func (b podReady) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, err := podParams(t)
	if err != nil {
		return executor.Observation{}, err
	}
	v, err := b.pod(ctx, t, p)
	if err != nil {
		return executor.Observation{}, err
	}
	switch {
	case v.Foreign:
		return seenAs(executor.Conflict, "%s: %s", reasonNameTaken, v.Message), nil
	case v.Exists && !v.Stopping && v.Runs != p.Digest:
		return seenAs(executor.InProgress, "the pod of %s still is as it was declared before", p.Node), nil
	case !v.Ready:
		return seenAs(executor.InProgress, "%s", waitsFor(v)), nil
	}
	if t.Started != nil {
		b.w.Changed(t.Scope()) // what was observed before it served does not count
	}
	return seenAs(executor.Done, "the pod of %s serves on %s", p.Node, v.Host), nil
}

// pod looks at a pod and the claims it was described with.
func (b base) pod(ctx context.Context, t *executor.Turn, p planner.PodParams) (kube.PodView, error) {
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return kube.PodView{}, err
	}
	var claims []string
	if p.State.Claim != "" {
		claims = append(claims, p.State.Claim)
	}
	for _, s := range p.Storage {
		if s.Claim != "" {
			claims = append(claims, s.Claim)
		}
	}
	v, err := b.w.Pods().Pod(ctx, k, claims)
	if err != nil {
		return v, apiError(err)
	}
	for _, c := range claims {
		if _, ok := v.Claims[c]; !ok && v.Claims != nil {
			v.Claims[c] = planner.ClaimView{Lost: true, Message: "it is not there"}
		}
	}
	return v, nil
}

// waitsFor is why a pod does not serve, with the claims that are missing or not
// bound while that may be the reason.
func waitsFor(v kube.PodView) string {
	parts := []string{v.Message}
	if !v.Running {
		for _, name := range sortedKeys(v.Claims) {
			if c := v.Claims[name]; !c.Bound {
				parts = append(parts, "claim "+name+": "+c.Message)
			}
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
