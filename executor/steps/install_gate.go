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

// installGate puts this operator's gate on a server.
type installGate struct{ base }

// Probe compares digests. A server that belongs to another pool is a conflict:
// nothing is changed there, not even the gate.
func (b installGate) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.NodeParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	server, err := s.server(p.Node)
	if err != nil {
		return executor.Observation{}, err
	}
	_, want, err := b.w.GateBinary()
	if err != nil {
		return executor.Observation{}, executor.Errorf(executor.Permanent, "GateUnreadable", "reading the gate to install: %w", err)
	}
	hello, err := b.client(server, t).Hello(ctx)
	switch {
	case errors.Is(err, gate.ErrNotInstalled):
		return seenAs(executor.NotDone, "%s has no gate", p.Node), nil
	case err != nil:
		return executor.Observation{}, gateError(err)
	case hello.Owner != nil && hello.Owner.Pool != "" && hello.Owner.Pool != t.Scope():
		return seenAs(executor.Conflict, "server %s belongs to pool %s", p.Node, hello.Owner.Pool), nil
	case hello.Digest != want:
		return seenAs(executor.NotDone, "%s has another gate", p.Node), nil
	}
	return seenAs(executor.Done, "the gate is on %s", p.Node), nil
}

// Prepare has no guard: Probe has just looked.
func (b installGate) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.NodeParams
	err := t.Decode(&p)
	return executor.Intent{Originator: p.Node}, err
}

// Over implements executor.Settler: an upload whose sender died ends by itself,
// one that was complete still comes into place.
func (b installGate) Over(ctx context.Context, t *executor.Turn) (bool, string, error) {
	if t.Started == nil {
		return true, "", nil
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return false, "", err
	}
	server, err := s.server(t.Started.Originator)
	if err != nil {
		return false, "", err
	}
	w, ok := server.Gate.(gate.Watcher)
	if !ok {
		return true, "", nil
	}
	installing, err := w.Installing(ctx)
	if err != nil {
		return false, "", gateError(err)
	}
	if installing {
		return false, "the gate is still being put onto " + server.Node, nil
	}
	b.w.Changed(t.Scope())
	return true, "", nil
}

// Act uploads and renames into place.
func (b installGate) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	s, err := b.reach(ctx, t)
	if err != nil {
		return nil, err
	}
	server, err := s.server(t.Started.Originator)
	if err != nil {
		return nil, err
	}
	binary, _, err := b.w.GateBinary()
	if err != nil {
		return nil, executor.Errorf(executor.Permanent, "GateUnreadable", "reading the gate to install: %w", err)
	}
	defer b.w.Changed(t.Scope())
	if err := server.Gate.Install(ctx, binary); err != nil {
		return nil, gateError(err)
	}
	crash.Here("steps.gate-installed", t.Op.Plan.Kind)
	return nil, nil
}
