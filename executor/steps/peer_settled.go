package steps

import (
	"context"
	"fmt"
	"maps"
	"time"

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
		if t.Started != nil && t.Now.Sub(t.Step.StartedAt) > missedAfter {
			why += missed(views, p.Node)
		}
		return seenAs(executor.InProgress, "%s", why), nil
	}
	return seenAs(executor.Done, "all members see %s", p.Node), nil
}

// missedAfter is how long a server that joins is given to see what the others
// do. It takes a few seconds.
const missedAfter = 30 * time.Second

// missed says what helps if the others agree and the new server alone sees other
// volumes: a command that somebody gave while it was taken in did not reach it.
// glusterds compare what they have only when they connect, so waiting does not
// help, and the next change of that volume would make it worse (LAB-5).
func missed(views map[string]*planner.PoolView, node string) string {
	others := maps.Clone(views)
	delete(others, node)
	if len(others) == 0 || unsettled(others) != "" {
		return ""
	}
	for _, v := range views[node].Volumes {
		for _, b := range v.Bricks {
			if b.PeerUUID == views[node].UUID {
				return "" // it has data: what is to be believed is for a person
			}
		}
	}
	if planner.Differ(others[sortedKeys(others)[0]], views[node]) == "" {
		return ""
	}
	return fmt.Sprintf("; %s missed a change that was made while it joined: restart glusterd there, and it takes over what the others have", node)
}
