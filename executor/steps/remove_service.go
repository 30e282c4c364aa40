package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// removeService removes the Service of a cluster that goes with its data. One of
// its name that Anthill did not make stays.
type removeService struct{ base }

// Probe looks at the Service.
func (b removeService) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	k, ref, err := b.params(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	r, err := b.w.Pods().Service(ctx, k, ref)
	switch {
	case err != nil:
		return executor.Observation{}, apiError(err)
	case r.Gone:
		return seenAs(executor.Done, "Service %s is gone", ref.Name), nil
	case r.Foreign != "":
		return seenAs(executor.Done, "Service %s stays: %s", ref.Name, r.Foreign), nil
	case r.Going != "":
		return seenAs(executor.InProgress, "Service %s %s", ref.Name, r.Going), nil
	}
	return seenAs(executor.NotDone, "Service %s is there", ref.Name), nil
}

func (b removeService) params(ctx context.Context, t *executor.Turn) (kube.PodKey, planner.ObjectRef, error) {
	var p planner.RemoveServiceParams
	if err := t.Decode(&p); err != nil {
		return kube.PodKey{}, planner.ObjectRef{}, err
	}
	k, err := b.podKey(ctx, t, "")
	return k, planner.ObjectRef{Name: p.Cluster, UID: p.UID}, err
}

// Prepare: no pod is left that would lose its name.
func (b removeService) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	k, ref, err := b.params(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	made, err := b.w.Pods().Made(ctx, k)
	if err != nil {
		return executor.Intent{}, apiError(err)
	}
	if len(made.Pods) > 0 {
		return executor.Intent{}, executor.Errorf(executor.Transient, "PodsLeft", "Service %s is not removed while pods of the cluster are there: %s", ref.Name, list(made.Pods))
	}
	return executor.Intent{}, nil
}

// Act removes the Service that was planned.
func (b removeService) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	k, ref, err := b.params(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := b.w.Pods().RemoveService(ctx, k, ref); err != nil {
		return nil, apiError(err)
	}
	crash.Here("steps.service-removed", t.Op.Plan.Kind)
	return nil, nil
}
