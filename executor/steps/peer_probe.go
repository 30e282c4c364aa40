package steps

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// peerProbe makes a claimed server a peer. It is done when a member lists the
// server, by UUID; that all sides agree is peerSettled's matter.
type peerProbe struct{ settler }

// Probe looks at the members' peer lists.
func (b peerProbe) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.JoinParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	for _, n := range s.others(t.Scope(), p) {
		v, err := s.view(n)
		if err != nil {
			continue // another member may tell
		}
		if peer, ok := v.Peer(p.UUID); ok {
			switch peer.State {
			case planner.PeerInCluster:
				return seenAs(executor.Done, "%s is a peer", p.Node), nil
			case "Peer Rejected":
				return seenAs(executor.Conflict, "%s sees %s as rejected", n, p.Node), nil
			}
			return seenAs(executor.InProgress, "%s sees %s as %q", n, p.Node, peer.State), nil
		}
		for _, peer := range v.Peers {
			if slices.Contains(peer.Hostnames, p.Address) {
				return seenAs(executor.Conflict, "%s has a peer named %s with UUID %s, not %s", n, p.Address, peer.UUID, p.UUID), nil
			}
		}
	}
	return seenAs(executor.NotDone, "%s is not a peer yet", p.Node), nil
}

// others are the members besides the joining server, the seed first.
func (s *sight) others(pool string, p planner.JoinParams) []string {
	out := []string{p.Seed.Node}
	for _, n := range s.members(pool) {
		if n != p.Node && n != p.Seed.Node {
			out = append(out, n)
		}
	}
	return out
}

// Prepare checks identity once more (S8) and that the pool agrees with itself
// (S7), and chooses the originator.
func (b peerProbe) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.JoinParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	v, err := s.seen(p.Node)
	if err != nil {
		return executor.Intent{}, err
	}
	switch {
	case v.Gate.Pool != t.Scope():
		return executor.Intent{}, executor.Errorf(executor.Permanent, "ServerClaimed", "server %s is not this pool's any more", p.Node)
	case v.UUID != p.UUID:
		return executor.Intent{}, executor.Errorf(executor.Permanent, "ForeignServer", "server %s was prepared as %s and is %s now", p.Node, p.UUID, v.UUID)
	case len(v.Volumes) > 0:
		return executor.Intent{}, executor.Errorf(executor.Permanent, "ForeignServer", "glusterd on %s has volumes %s of its own", p.Node, list(v.Volumes))
	case !v.Glusterd:
		return executor.Intent{}, executor.Errorf(executor.Transient, "GlusterdDown", "glusterd on %s does not run", p.Node)
	}
	views, err := s.everyView(t.Scope(), p.Seed.Node)
	if err != nil {
		return executor.Intent{}, err
	}
	delete(views, p.Node)
	if _, ok := views[p.Seed.Node]; !ok && len(views) == 0 {
		return executor.Intent{}, executor.Errorf(executor.Transient, "NoMembers", "no member of the pool answers")
	}
	if why := unsettled(views); why != "" {
		return executor.Intent{}, executor.Errorf(executor.Transient, "PoolUnsettled", "%s", why)
	}
	for n, view := range views {
		if view.UUID == p.UUID {
			return executor.Intent{}, executor.Errorf(executor.Permanent, "ForeignServer", "servers %s and %s have the same UUID", n, p.Node)
		}
	}
	origin := p.Seed.Node
	if _, ok := views[origin]; !ok {
		origin = sortedKeys(views)[0]
	}
	return executor.Intent{Originator: origin, Argv: gluster.ArgvPeerProbe(p.Address)}, nil
}

// Act probes.
func (b peerProbe) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.peer-probed", t.Op.Plan.Kind)
	return nil, err
}
