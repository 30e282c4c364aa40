package steps

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/planner"
)

// releaseServer lets go of a server that never joined: its gate forgets the
// pool and removes itself, and with it the two paths that are ours.
type releaseServer struct{ base }

// Probe asks for the gate.
func (b releaseServer) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.NodeParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	server, err := s.server(p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	hello, err := b.client(server, t).Hello(ctx)
	switch {
	case errors.Is(err, gate.ErrNotInstalled):
		return seenAs(executor.Done, "%s has no gate any more", p.Node), nil
	case err != nil:
		return executor.Observation{}, gateError(err)
	case hello.Owner != nil && hello.Owner.Pool != "" && hello.Owner.Pool != t.Scope():
		return seenAs(executor.Done, "%s belongs to another pool", p.Node), nil
	}
	return seenAs(executor.NotDone, "%s still has our gate", p.Node), nil
}

// Prepare refuses a server that is a peer, from its own side or any other.
func (b releaseServer) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.NodeParams
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
	if len(v.Peers) > 0 || len(v.Volumes) > 0 {
		return executor.Intent{}, executor.Errorf(executor.Permanent, "RemoveNodeNotSupported", "%s has joined the pool", p.Node)
	}
	for _, n := range s.members(t.Scope()) {
		if n == p.Node {
			continue
		}
		view, err := s.view(n)
		if err != nil {
			return executor.Intent{}, err
		}
		if _, ok := view.Peer(v.UUID); ok {
			return executor.Intent{}, executor.Errorf(executor.Permanent, "RemoveNodeNotSupported", "%s sees %s as a peer", n, p.Node)
		}
	}
	return executor.Intent{Originator: p.Node}, nil
}

// Act releases.
func (b releaseServer) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.NodeParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return nil, err
	}
	server, err := s.server(p.Node)
	if err != nil {
		return nil, err
	}
	defer b.w.Changed(t.Scope())
	err = b.client(server, t).Release(ctx, lockWait)
	crash.Here("steps.server-released", t.Op.Plan.Kind)
	return nil, gateError(err)
}
