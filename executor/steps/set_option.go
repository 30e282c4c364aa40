package steps

import (
	"context"
	"encoding/json"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// setOption gives one option of a volume, or of the whole pool, a value. reset
// takes it away instead.
type setOption struct {
	settler
	reset bool
}

// Probe reads the option in every member's view.
func (b setOption) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.OptionParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	have, set, why, err := b.current(s, t.Scope(), p)
	if err != nil {
		return executor.Observation{}, err
	}
	switch {
	case why != "":
		return seenAs(executor.Conflict, "%s", why), nil
	case b.reset && !set:
		return seenAs(executor.Done, "option %s is not set", p.Key), nil
	case !b.reset && set && have == p.Value:
		return seenAs(executor.Done, "option %s is %s", p.Key, p.Value), nil
	case set:
		return seenAs(executor.NotDone, "option %s is %s", p.Key, have), nil
	}
	return seenAs(executor.NotDone, "option %s is not set", p.Key), nil
}

// current is the value all members see. why: the volume is not the one meant.
func (b setOption) current(s *sight, pool string, p planner.OptionParams) (value string, set bool, why string, err error) {
	if p.Volume != "" {
		vol, found, err := s.volumeEverywhere(pool, p.Volume)
		if err != nil || !found {
			return "", false, "volume " + p.Volume + " is gone", err
		}
		if m := vol.Options[planner.Marker]; m != "" && m != p.VolumeID {
			return "", false, "volume " + p.Volume + " carries the marker " + m + ", not " + p.VolumeID, nil
		}
		value, set = vol.Options[p.Key]
		return value, set, "", nil
	}
	views, err := s.everyView(pool)
	if err != nil {
		return "", false, "", err
	}
	nodes := sortedKeys(views)
	value, set = views[nodes[0]].Options[p.Key]
	for _, n := range nodes[1:] {
		if v, ok := views[n].Options[p.Key]; ok != set || v != value {
			return "", false, "", executor.Errorf(executor.Transient, "ViewsDiffer", "%s and %s do not agree on option %s", nodes[0], n, p.Key)
		}
	}
	return value, set, "", nil
}

// Prepare wants a settled pool and, for options that may only be set on an
// empty volume, that it has never been started (S11).
func (b setOption) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.OptionParams
	if err := t.Decode(&p); err != nil {
		return executor.Intent{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Intent{}, err
	}
	views, err := s.settledPool(t.Scope())
	if err != nil {
		return executor.Intent{}, err
	}
	if p.OnlyEmpty {
		vol, _, err := s.volumeEverywhere(t.Scope(), p.Volume)
		if err != nil {
			return executor.Intent{}, err
		}
		if vol.Started {
			return executor.Intent{}, executor.Errorf(executor.Permanent, "OptionRefused", "option %s may only be set on an empty volume, and %s has been started", p.Key, p.Volume)
		}
	}
	argv := gluster.ArgvVolumeSet(p.Volume, p.Key, p.Value)
	switch {
	case p.Volume == "" && b.reset:
		argv = gluster.ArgvClusterReset(p.Key)
	case p.Volume == "":
		argv = gluster.ArgvClusterSet(p.Key, p.Value)
	case b.reset:
		argv = gluster.ArgvVolumeReset(p.Volume, p.Key)
	}
	return executor.Intent{Originator: origin(views), Argv: argv}, nil
}

// Act sets or resets.
func (b setOption) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.option-changed", t.Op.Plan.Kind)
	return nil, err
}
