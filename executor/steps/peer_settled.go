package steps

import (
	"context"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// peerSettled waits until every member, the new one included, sees every other
// connected and in the cluster, and all see the same volumes. Commands that
// touch a server before that fail half-way (LAB-2, F10).
type peerSettled struct{ base }

// Probe compares all views.
func (b peerSettled) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.JoinParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	v, err := s.view(p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	if len(v.Peers) == 0 {
		return seenAs(executor.InProgress, "%s sees no peer yet", p.Node), nil
	}
	views, err := s.everyView(t.Scope(), p.Seed.Node, p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	if why := unsettled(views); why != "" {
		return seenAs(executor.InProgress, "%s", why), nil
	}
	return seenAs(executor.Done, "all members see %s", p.Node), nil
}
