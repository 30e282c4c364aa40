package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/planner"
)

// registerDirs records which file system is mounted below each brick directory
// (S12). What is recorded is never overwritten by another identity.
type registerDirs struct{ base }

// Probe looks whether each directory is registered and unchanged.
func (b registerDirs) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.DirsParams
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
	for _, dir := range p.Dirs {
		m, ok := mountOf(v, dir)
		switch {
		case !ok || !m.Registered && m.Error == "":
			return seenAs(executor.NotDone, "%s on %s is not registered yet", dir, p.Node), nil
		case m.Registered && !m.Same:
			return seenAs(executor.Unseen, "%s on %s is not on the file system it was registered on: %s", dir, p.Node, m.Error), nil
		case m.Error != "":
			return seenAs(executor.Unseen, "%s on %s: %s", dir, p.Node, m.Error), nil
		}
	}
	return seenAs(executor.Done, "brick directories of %s are registered", p.Node), nil
}

func mountOf(v planner.Server, dir string) (planner.Mount, bool) {
	for _, m := range v.Mounts {
		if m.Dir == dir {
			return m, true
		}
	}
	return planner.Mount{}, false
}

// Prepare has no guard: the gate checks each directory itself.
func (b registerDirs) Prepare(_ context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.DirsParams
	err := t.Decode(&p)
	return executor.Intent{Originator: p.Node}, err
}

// Act registers all directories or none.
func (b registerDirs) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	var p planner.DirsParams
	if err := t.Decode(&p); err != nil {
		return nil, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return nil, err
	}
	server, err := s.server(p.Node)
	if err != nil {
		return nil, err
	}
	defer b.w.Changed(t.Scope())
	_, err = b.client(server, t).Register(ctx, t.Started.AttemptID, lockWait, p.Dirs...)
	crash.Here("steps.dirs-registered", t.Op.Plan.Kind)
	return nil, gateError(err)
}
