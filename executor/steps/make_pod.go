package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// makePod declares the pod of a node: its StatefulSet is as described. A pod
// that runs goes on as it is; restart-pod lets it go.
type makePod struct{ base }

// Probe compares the StatefulSet by the digest of what it was made from.
func (b makePod) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, err := podParams(t)
	if err != nil {
		return executor.Observation{}, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	obs, err := b.stands(ctx, object.Set(k.Namespace, p))
	if obs.Verdict == executor.Done {
		obs.Message = "the pod of " + p.Node + " is declared"
	}
	return obs, err
}

// podParams decodes, and refuses a digest that is not of what is described: the
// objects would never be found to be as declared.
func podParams(t *executor.Turn) (planner.PodParams, error) {
	var p planner.PodParams
	if err := t.Decode(&p); err != nil {
		return p, err
	}
	if p.Digest == "" || p.Image == "" {
		return p, executor.Errorf(executor.Permanent, "BadParameters", "the pod of %s has no image or no digest", p.Node)
	}
	return p, nil
}

// Prepare has no guard: Probe has just looked.
func (b makePod) Prepare(context.Context, *executor.Turn) (executor.Intent, error) {
	return executor.Intent{}, nil
}

// Act creates it, or brings ours in line.
func (b makePod) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	p, err := podParams(t)
	if err != nil {
		return nil, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return nil, err
	}
	defer b.w.Changed(t.Scope())
	if err := b.w.Pods().Make(ctx, object.Set(k.Namespace, p)); err != nil {
		return nil, apiError(err)
	}
	crash.Here("steps.pod-declared", t.Op.Plan.Kind)
	return nil, nil
}
