package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// makeClaims makes the claims of a node that a template describes. They are
// never changed, and never removed here: they hold data, or the identity of a
// peer. It does not wait until they are bound, which may take a pod.
type makeClaims struct{ base }

func (b makeClaims) wanted(ctx context.Context, t *executor.Turn) ([]client.Object, planner.ClaimsParams, error) {
	var p planner.ClaimsParams
	if err := t.Decode(&p); err != nil {
		return nil, p, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return nil, p, err
	}
	claims, err := object.Claims(k.Namespace, k.Cluster, p)
	if err != nil {
		return nil, p, executor.Errorf(executor.Permanent, "BadParameters", "%w", err)
	}
	out := make([]client.Object, len(claims))
	for i := range claims {
		out[i] = claims[i]
	}
	return out, p, nil
}

// Probe compares each claim.
func (b makeClaims) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	wanted, p, err := b.wanted(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	obs, err := b.stands(ctx, wanted...)
	if obs.Verdict == executor.Done {
		obs.Message = fmt.Sprintf("%d claims of %s are there", len(wanted), p.Node)
	}
	return obs, err
}

// Prepare has no guard: Probe has just looked.
func (b makeClaims) Prepare(context.Context, *executor.Turn) (executor.Intent, error) {
	return executor.Intent{}, nil
}

// Act creates those that are missing.
func (b makeClaims) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	wanted, _, err := b.wanted(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, want := range wanted {
		if err := b.w.Pods().Make(ctx, want); err != nil {
			return nil, apiError(err)
		}
		crash.Here("steps.claim-made", t.Op.Plan.Kind)
	}
	return nil, nil
}
