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

// probeBack makes the first server of a pool known by its chosen name: the one
// that was probed knows it only by whatever name, or address, the connection
// came from. That one stays the first in glusterd's list, where it does no harm:
// in Kubernetes it is the same name with the cluster's domain behind it.
type probeBack struct{ settler }

// Probe looks at the names in the new member's peer list.
func (b probeBack) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.ProbeBackParams
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
	peer, ok := v.Peer(p.UUID)
	switch {
	case !ok:
		return seenAs(executor.Unseen, "%s does not see %s", p.Node, p.First.Node), nil
	case slices.Contains(peer.Hostnames, p.First.Address):
		return seenAs(executor.Done, "%s knows %s by its name", p.Node, p.First.Node), nil
	}
	return seenAs(executor.NotDone, "%s knows %s as %s", p.Node, p.First.Node, peerName(peer)), nil
}

// Prepare wants a settled pool.
func (b probeBack) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.ProbeBackParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	_, err = s.settledPool(t.Scope(), p.First.Node, p.Node)
	return executor.Intent{Originator: p.Node, Argv: gluster.ArgvPeerProbe(p.First.Address)}, err
}

// Act probes.
func (b probeBack) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.probed-back", t.Op.Plan.Kind)
	return nil, err
}
