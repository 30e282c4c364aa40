package steps

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/planner"
)

// restartPod lets a pod go that was made from an earlier description, so that
// its StatefulSet makes the declared one. It is done when that is under way:
// whether the new pod ever serves is what pod-ready waits for. It is behind the
// heal gate, which it evaluates itself right before (S1, S2, S14).
type restartPod struct{ base }

// Probe compares the digest of the pod with the one that was planned.
func (b restartPod) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
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
	case !v.Declared:
		return seenAs(executor.Unseen, "%s", v.Message), nil
	case v.Declares != p.Digest:
		return seenAs(executor.Conflict, "the StatefulSet of %s declares another pod than the one planned", p.Node), nil
	case v.Stopping:
		return seenAs(executor.InProgress, "%s", waitsFor(v)), nil
	case v.Exists && v.Runs == p.Digest:
		b.w.Changed(t.Scope())
		return seenAs(executor.Done, "the pod of %s is the declared one", p.Node), nil
	case !v.TakenUp:
		return seenAs(executor.InProgress, "Kubernetes has not taken up yet how the pod of %s is declared now", p.Node), nil
	case !v.Exists:
		b.w.Changed(t.Scope())
		return seenAs(executor.Done, "the pod of %s as it was declared before is gone", p.Node), nil
	}
	return seenAs(executor.NotDone, "the pod of %s still is as it was declared before", p.Node), nil
}

// Prepare: taking this node away takes no data out of service. A pod that does
// not run takes nothing with it; one whose glusterd does not serve may be out of
// service already, for the very reason it is to be replaced.
func (b restartPod) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	p, err := podParams(t)
	if err != nil {
		return executor.Intent{}, err
	}
	v, err := b.pod(ctx, t, p)
	if err != nil {
		return executor.Intent{}, err
	}
	t.Found = v.UID
	intent := executor.Intent{Originator: p.Node}
	if !v.Running {
		return intent, nil
	}
	for _, name := range sortedKeys(v.Claims) {
		if c := v.Claims[name]; c.Lost { // a pod that runs keeps what it has
			return intent, executor.Errorf(executor.Transient, "ClaimMissing", "the pod of %s must not go now: claim %s: %s", p.Node, name, c.Message)
		}
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return intent, err
	}
	uuid := s.uuidOf(p.Node)
	if !passedGate(t) && s.hasBricks(uuid) {
		return intent, executor.Errorf(executor.Transient, "NotHealed", "the pod of %s must not go now: it runs by now, and was not to when this was planned", p.Node)
	}
	why, err := b.unhealed(ctx, t, s, healQuestion{node: p.Node, uuid: uuid, without: !v.Ready})
	if err != nil {
		return intent, err
	}
	if why != "" {
		return intent, executor.Errorf(executor.Transient, "NotHealed", "the pod of %s must not go now: %s", p.Node, why)
	}
	return intent, nil
}

// Act deletes the pod that was looked at, and no other.
func (b restartPod) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	p, err := podParams(t)
	if err != nil {
		return nil, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return nil, err
	}
	uid, _ := t.Found.(string)
	if uid == "" { // without one, any pod would do
		return nil, executor.Errorf(executor.Transient, "PodGone", "the pod of %s is gone", p.Node)
	}
	defer b.w.Changed(t.Scope())
	if err := b.w.Pods().DeletePod(ctx, k, uid); err != nil {
		return nil, apiError(err)
	}
	crash.Here("steps.pod-deleted", t.Op.Plan.Kind)
	return nil, nil
}

// passedGate reports whether the heal gate was waited for before this step. One
// look alone is not the gate (S1).
func passedGate(t *executor.Turn) bool {
	for i := range t.Op.Steps {
		switch {
		case t.Op.Steps[i].ID == t.Step.ID:
			return false
		case t.Op.Steps[i].Name == planner.StepHealed:
			return true
		}
	}
	return false
}

// hasBricks reports whether any server knows of a brick of the glusterd with this
// UUID.
func (s *sight) hasBricks(uuid string) bool {
	for _, v := range s.obs.Servers {
		if v.View != nil && slices.ContainsFunc(v.View.Volumes, func(vol planner.Volume) bool { return hasBrick(vol, uuid) }) {
			return true
		}
	}
	return false
}

// uuidOf is the UUID of a node's glusterd, as it says or as it was recorded;
// empty if it never had one.
func (s *sight) uuidOf(node string) string {
	if v := s.obs.Servers[node]; v.UUID != "" {
		return v.UUID
	}
	for _, server := range s.servers {
		if server.Node == node {
			return server.UUID
		}
	}
	return ""
}
