package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// claimServer makes a server this pool's: its gate accepts no other pool from
// then on. It is where the identity of a server is decided (S8): a new one must
// be fresh, or a peer of the pool already, and have a UUID nobody else in the
// pool has; one that belonged to the pool must be the one it was.
type claimServer struct{ base }

// Probe reads the owner from the gate.
func (b claimServer) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.ClaimParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	v, err := s.seen(p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	if why := identity(s, p, v, t.Scope()); why != "" {
		return seenAs(executor.Conflict, "%s", why), nil
	}
	if v.Gate.Pool != t.Scope() {
		return seenAs(executor.NotDone, "%s is not claimed yet", p.Node), nil
	}
	switch {
	case v.UUID == "" && v.View == nil:
		return seenAs(executor.Unseen, "glusterd on %s does not answer: %s", p.Node, v.ViewErr), nil
	case v.UUID == "":
		return seenAs(executor.NotDone, "glusterd on %s has no UUID yet", p.Node), nil
	}
	receipt, err := json.Marshal(planner.ClaimReceipt{UUID: v.UUID})
	return executor.Observation{Verdict: executor.Done, Message: p.Node + " belongs to the pool", Receipt: receipt}, err
}

// identity says why the server must not be claimed; empty if it may.
func identity(s *sight, p planner.ClaimParams, v planner.Server, pool string) string {
	switch {
	case v.Gate.Pool != "" && v.Gate.Pool != pool:
		return "server " + p.Node + " belongs to pool " + v.Gate.Pool
	case p.Known != "" && v.UUID != p.Known:
		return "server " + p.Node + " was " + p.Known + " and is " + v.UUID + " now"
	case p.Known == "" && v.Gate.Pool == "" && !v.Fresh() && !s.peer(pool, v.UUID):
		return "glusterd on " + p.Node + " has peers or volumes that are not this pool's"
	}
	for other, o := range s.obs.Servers {
		if other != p.Node && v.UUID != "" && o.UUID == v.UUID {
			return "servers " + p.Node + " and " + other + " have the same UUID " + v.UUID + ": one is a copy of the other"
		}
	}
	return ""
}

// peer reports whether a server of the pool sees a UUID in the cluster: somebody
// took that server in by hand, and it is a member whoever claims it.
func (s *sight) peer(pool, uuid string) bool {
	for _, o := range s.obs.Servers {
		if o.View == nil || o.Gate.Pool != pool || uuid == "" {
			continue
		}
		if p, ok := o.View.Peer(uuid); ok && p.State == planner.PeerInCluster {
			return true
		}
	}
	return false
}

// Prepare wants glusterd to answer, so that the UUID can be made and read.
func (b claimServer) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.ClaimParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	view, err := s.view(p.Node)
	if err != nil {
		return executor.Intent{}, err
	}
	intent := executor.Intent{Originator: p.Node}
	if view.UUID == "" {
		intent.Argv = gluster.ArgvUUIDGet()
	}
	return intent, nil
}

// Act claims, and has a glusterd that nobody ever asked for anything make its
// UUID: get-state, which is all we look with, does not.
func (b claimServer) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.ClaimParams
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
	fresh := p.Known == "" && !s.peer(t.Scope(), s.obs.Servers[p.Node].UUID)
	defer b.w.Changed(t.Scope())
	if _, err := b.client(server, t).Claim(ctx, gate.ClaimMode{Fresh: fresh, LockWait: lockWait}); err != nil {
		return nil, gateError(err)
	}
	crash.Here("steps.server-claimed", t.Op.Plan.Kind)
	if len(t.Started.Argv) == 0 {
		return nil, nil
	}
	_, err = b.command(ctx, t)
	return nil, err
}
