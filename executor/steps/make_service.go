package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// makeService makes the headless Service by which the pods of a cluster have
// names. It stays when they go, unless the cluster goes with its data: it is
// nobody's in particular.
type makeService struct{ base }

// Probe compares the Service.
func (b makeService) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.ServiceParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	k, err := b.podKey(ctx, t, "")
	if err != nil {
		return executor.Observation{}, err
	}
	obs, err := b.stands(ctx, object.Service(k.Namespace, p))
	if obs.Verdict == executor.Done {
		obs.Message = "Service " + p.Cluster + " is there"
	}
	return obs, err
}

// Prepare has no guard: Probe has just looked.
func (b makeService) Prepare(context.Context, *executor.Turn) (executor.Intent, error) {
	return executor.Intent{}, nil
}

// Act creates it, or brings ours in line.
func (b makeService) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.ServiceParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	k, err := b.podKey(ctx, t, "")
	if err != nil {
		return nil, err
	}
	if err := b.w.Pods().Make(ctx, object.Service(k.Namespace, p)); err != nil {
		return nil, apiError(err)
	}
	crash.Here("steps.service-made", t.Op.Plan.Kind)
	return nil, nil
}
