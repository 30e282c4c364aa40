package steps

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// removeClaims removes claims of a node, with all data on them, and waits until
// they are gone. It is the only step that destroys data, and for that it looks
// again at all that permits it, right before: that the data is not to be kept,
// that no pod of the cluster is left, that nobody mounts the claims, and that
// they are the ones which Anthill made and which were planned.
type removeClaims struct{ base }

// Probe looks at each claim. One that turns out to be somebody else's stays, and
// is done with.
func (b removeClaims) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, k, err := b.params(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	var gone, stay []string
	for _, ref := range p.Claims {
		r, err := b.w.Pods().Claim(ctx, k, ref)
		switch {
		case err != nil:
			return executor.Observation{}, apiError(err)
		case r.Gone:
			gone = append(gone, ref.Name)
		case r.Foreign != "":
			stay = append(stay, ref.Name+" ("+r.Foreign+")")
		case r.Going != "":
			return seenAs(executor.InProgress, "claim %s %s%s", ref.Name, r.Going, b.mountedBy(ctx, k, ref)), nil
		default:
			return seenAs(executor.NotDone, "claim %s is there", ref.Name), nil
		}
	}
	if len(stay) > 0 {
		return seenAs(executor.Done, "claims that stay: %s; removed: %s", list(stay), list(gone)), nil
	}
	return seenAs(executor.Done, "removed: %s", list(gone)), nil
}

func (b removeClaims) params(ctx context.Context, t *executor.Turn) (planner.RemoveClaimsParams, kube.PodKey, error) {
	var p planner.RemoveClaimsParams
	if err := t.Decode(&p); err != nil {
		return p, kube.PodKey{}, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	return p, k, err
}

// mountedBy explains what holds a claim; nothing is decided by it.
func (b removeClaims) mountedBy(ctx context.Context, k kube.PodKey, ref planner.ObjectRef) string {
	made, err := b.w.Pods().Made(ctx, k)
	if err != nil {
		return ""
	}
	for i := range made.Claims {
		if c := &made.Claims[i]; c.UID == ref.UID && len(c.Users) > 0 {
			return ", mounted by pod " + list(c.Users)
		}
	}
	return ""
}

// Prepare looks at what permits it. What a person takes back before the first of
// the claims began to go counts; afterwards half of a node's data is of no use to
// anybody, and the rest goes too.
func (b removeClaims) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	intent := executor.Intent{}
	p, k, err := b.params(ctx, t)
	if err != nil {
		return intent, err
	}
	if !b.begun(t) {
		why, err := b.w.Pods().Kept(ctx, k)
		if err != nil {
			return intent, apiError(err)
		}
		if why != "" {
			return intent, executor.Errorf(executor.Transient, "Kept", "the claims of %s are not removed: %s", p.Node, why)
		}
	}
	made, err := b.w.Pods().Made(ctx, k)
	if err != nil {
		return intent, apiError(err)
	}
	if len(made.Pods) > 0 {
		return intent, executor.Errorf(executor.Transient, "PodsLeft", "the claims of %s are not removed while pods of the cluster are there: %s", p.Node, list(made.Pods))
	}
	for _, ref := range p.Claims {
		for i := range made.Claims {
			c := &made.Claims[i]
			switch {
			case c.Name != ref.Name || c.UID != ref.UID || c.Going != "":
			case c.Foreign != "":
				return intent, executor.Errorf(executor.Transient, "NotOurs", "claim %s is not removed: %s", c.Name, c.Foreign)
			case len(c.Users) > 0:
				return intent, executor.Errorf(executor.Transient, "ClaimInUse", "claim %s is not removed while a pod mounts it: delete pod %s first", c.Name, list(c.Users))
			}
		}
	}
	return intent, nil
}

// begun reports whether an earlier step of the operation removed something.
func (b removeClaims) begun(t *executor.Turn) bool {
	return t.Op.PastPivot()
}

// Act removes the claims that were planned, and no others of their names.
func (b removeClaims) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	p, k, err := b.params(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, ref := range p.Claims {
		if err := b.w.Pods().RemoveClaim(ctx, k, ref); err != nil && !errors.Is(err, kube.ErrTaken) {
			return nil, apiError(err)
		}
		crash.Here("steps.claim-removed", t.Op.Plan.Kind)
	}
	return nil, nil
}
