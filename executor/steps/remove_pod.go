package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// removePod takes away the StatefulSet of a node and waits until its pod is
// gone. Claims, and what is on them, stay. What somebody else made under the
// node's name is not ours to remove: then there is nothing to do.
type removePod struct{ base }

// collectMax is how long Kubernetes may take to delete a pod after its
// StatefulSet; then it is deleted by another attempt.
const collectMax = time.Minute

// stopMax is how long a pod may take to end before the message says what a person
// can do; it is longer than any pod of ours is given.
const stopMax = 5 * time.Minute

// Probe looks at StatefulSet and pod.
func (b removePod) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	p, v, err := b.seenPod(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	switch {
	case v.Declared && !v.Going:
		return seenAs(executor.NotDone, "StatefulSet %s is there", p.Node), nil
	case v.Declared:
		return seenAs(executor.InProgress, "StatefulSet %s is being deleted", p.Node), nil
	case v.Exists && !v.Stopping && (t.Started == nil || t.Now.Sub(t.Step.StartedAt) > collectMax):
		return seenAs(executor.NotDone, "the pod of %s is there without its StatefulSet", p.Node), nil
	case v.Exists && !v.Stopping:
		return seenAs(executor.InProgress, "Kubernetes has not let the pod of %s go yet", p.Node), nil
	case v.Exists && t.Started != nil && t.Now.Sub(t.Step.StartedAt) > stopMax:
		// Kubernetes does not give up a pod whose host it does not hear from: it may
		// still be writing.
		return seenAs(executor.InProgress, "the pod of %s has not ended on host %s in %s; if that host is off for good: kubectl delete pod %s-0 --force --grace-period=0",
			p.Node, v.Host, stopMax, p.Node), nil
	case v.Exists:
		return seenAs(executor.InProgress, "the pod of %s is being stopped on host %s", p.Node, v.Host), nil
	}
	b.w.Changed(t.Scope())
	return seenAs(executor.Done, "%s has no pod", p.Node), nil
}

func (b removePod) seenPod(ctx context.Context, t *executor.Turn) (planner.RemovePodParams, kube.PodView, error) {
	var p planner.RemovePodParams
	if err := t.Decode(&p); err != nil {
		return p, kube.PodView{}, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return p, kube.PodView{}, err
	}
	v, err := b.w.Pods().Pod(ctx, k, nil)
	if err != nil {
		return p, v, apiError(err)
	}
	return p, v, nil
}

// Prepare: no volume has a brick on the node, as any member sees it, unless the
// whole cluster goes.
func (b removePod) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	p, v, err := b.seenPod(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	t.Found = v.UID
	if p.Whole {
		return executor.Intent{Originator: p.Node}, nil
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	if brick := s.holdsBricks(s.uuidOf(p.Node)); brick != "" {
		return executor.Intent{}, executor.Errorf(executor.Transient, "HoldsBricks", "the pod of %s must not be removed: it has brick %s", p.Node, brick)
	}
	return executor.Intent{Originator: p.Node}, nil
}

// holdsBricks names a brick that is on a peer, as any server sees it; empty if
// none is.
func (s *sight) holdsBricks(uuid string) string {
	if uuid == "" {
		return ""
	}
	for _, node := range sortedKeys(s.obs.Servers) {
		view := s.obs.Servers[node].View
		if view == nil {
			continue
		}
		for i := range view.Volumes {
			for _, brick := range view.Volumes[i].Bricks {
				if brick.PeerUUID == uuid {
					return fmt.Sprintf("%s of volume %s", brick.Path, view.Volumes[i].Name)
				}
			}
		}
	}
	return ""
}

// Act removes the StatefulSet, or a pod that was left without one.
func (b removePod) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	p, v, err := b.seenPod(ctx, t)
	if err != nil {
		return nil, err
	}
	k, err := b.podKey(ctx, t, p.Node)
	if err != nil {
		return nil, err
	}
	defer b.w.Changed(t.Scope())
	if uid, _ := t.Found.(string); !v.Declared && v.Exists && v.UID == uid {
		err = b.w.Pods().DeletePod(ctx, k, uid)
	} else {
		err = b.w.Pods().RemoveSet(ctx, k)
	}
	if err != nil {
		return nil, apiError(err)
	}
	crash.Here("steps.pod-removed", t.Op.Plan.Kind)
	return nil, nil
}
