package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// rebalance spreads a volume's files over its new bricks. It is one step with
// several runs: files renamed or deleted under it count as failures, so it runs
// again, up to rebalanceRuns times, and is then done with a warning.
type rebalance struct{ settler }

// rebalanceRuns is how often a rebalance with failures is run in all.
const rebalanceRuns = 3

// Status texts of get-state.
const (
	rebalanceStarted   = "started"
	rebalanceStopped   = "stopped"
	rebalanceCompleted = "completed"
	rebalanceFailed    = "failed"
	rebalanceNone      = "not_started"
)

// progress is the receipt while it runs; also the baseline of each run.
type progress struct {
	planner.RebalanceReceipt
	Warning string `json:"warning,omitempty"`
}

// baseline is the task that was known before a run was started.
type baseline struct {
	TaskID string `json:"before"`
	Runs   int    `json:"runs"`
}

// Probe reads each brick server's own account of its task: local, without a
// lock, and only that server's own is evidence.
func (b rebalance) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.VolumeParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.look(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	views, err := s.everyView(t.Scope())
	if err != nil {
		return executor.Observation{}, err
	}
	sum, err := account(views, p.Volume)
	if err != nil {
		return executor.Observation{}, err
	}
	before, begun := baselineOf(t)
	if !begun || sum.task == "" || sum.task == before.TaskID {
		raw, err := json.Marshal(baseline{TaskID: sum.task, Runs: before.Runs + 1})
		if begun {
			raw, err = json.Marshal(before)
		}
		return executor.Observation{Verdict: executor.NotDone, Message: "the rebalance has not been started", Baseline: raw}, err
	}
	return b.judge(p, sum, before)
}

func baselineOf(t *executor.Turn) (baseline, bool) {
	var before baseline
	if t.Started == nil || json.Unmarshal(t.Started.Baseline, &before) != nil {
		return before, false
	}
	return before, true
}

func (b rebalance) judge(p planner.VolumeParams, sum taskSum, before baseline) (executor.Observation, error) {
	receipt := progress{RebalanceReceipt: planner.RebalanceReceipt{TaskID: sum.task, Runs: before.Runs}}
	obs := executor.Observation{Verdict: executor.InProgress, Message: fmt.Sprintf("rebalance run %d of volume %s under way on %s", before.Runs, p.Volume, list(sum.running))}
	switch {
	case len(sum.running) > 0:
	case len(sum.broken) > 0 || sum.failures+sum.skipped > 0:
		// Another run helps against failures. What was skipped, since it would
		// have moved onto a fuller brick, is skipped again.
		if (len(sum.broken) > 0 || sum.failures > 0) && before.Runs < rebalanceRuns {
			raw, err := json.Marshal(baseline{TaskID: sum.task, Runs: before.Runs + 1})
			return executor.Observation{Verdict: executor.NotDone, Again: true, Baseline: raw,
				Message: fmt.Sprintf("rebalance run %d was not clean: %s", before.Runs, sum.text())}, err
		}
		receipt.Failures, receipt.Skipped, receipt.Warning = sum.failures, sum.skipped, "RebalanceIncomplete"
		obs.Verdict = executor.Done
		obs.Message = fmt.Sprintf("rebalance ended in run %d with %d failures and %d files skipped; they stay, readable, where they are", before.Runs, sum.failures, sum.skipped)
	default:
		obs.Verdict = executor.Done
		obs.Message = fmt.Sprintf("rebalance completed on %d nodes, %d files looked at", len(sum.completed), sum.files)
	}
	raw, err := json.Marshal(receipt)
	obs.Receipt = raw
	return obs, err
}

// taskSum adds up what the brick servers say of their part.
type taskSum struct {
	task                       string
	running, completed, broken []string
	failures, skipped, files   uint64
}

func (s taskSum) text() string {
	if len(s.broken) > 0 {
		return "it did not complete on " + list(s.broken)
	}
	return fmt.Sprintf("%d failures, %d skipped", s.failures, s.skipped)
}

func account(views map[string]*planner.PoolView, volume string) (taskSum, error) {
	var sum taskSum
	for _, n := range sortedKeys(views) {
		vol, ok := views[n].Volume(volume)
		if !ok {
			return sum, executor.Errorf(executor.Permanent, "VolumeGone", "volume %s is gone", volume)
		}
		r := vol.Rebalance
		if strings.Trim(r.TaskID, "0-") != "" {
			if sum.task != "" && sum.task != r.TaskID {
				return sum, executor.Errorf(executor.Transient, "ViewsDiffer", "servers name different rebalance tasks %s and %s", sum.task, r.TaskID)
			}
			sum.task = r.TaskID
		}
		if !hasBrick(vol, views[n].UUID) {
			continue
		}
		switch r.Status {
		case rebalanceStarted:
			sum.running = append(sum.running, n)
		case rebalanceCompleted:
			sum.completed = append(sum.completed, n)
		default:
			sum.broken = append(sum.broken, n)
		}
		sum.failures += r.Failures
		sum.skipped += r.Skipped
		sum.files += r.Files
	}
	return sum, nil
}

func hasBrick(v planner.Volume, uuid string) bool {
	for _, b := range v.Bricks {
		if b.PeerUUID == uuid {
			return true
		}
	}
	return false
}

// Prepare wants a settled pool, all bricks in service, and no shards: moving
// the shards of files in use has lost data (S11).
func (b rebalance) Prepare(ctx context.Context, t *executor.Turn) (executor.Intent, error) {
	var p planner.VolumeParams
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
	vol, found, err := s.volumeEverywhere(t.Scope(), p.Volume)
	if err != nil {
		return executor.Intent{}, err
	}
	switch {
	case !found || vol.Options[planner.Marker] != p.VolumeID:
		return executor.Intent{}, executor.Errorf(executor.Permanent, "VolumeGone", "volume %s does not carry the marker %s", p.Volume, p.VolumeID)
	case vol.Options["features.shard"] == "on" || vol.Options["features.shard"] == "enable":
		return executor.Intent{}, executor.Errorf(executor.Permanent, "VolumeSharded", "volume %s is sharded: it is not rebalanced by itself", p.Volume)
	}
	if err := s.serving(vol); err != nil {
		return executor.Intent{}, err
	}
	return executor.Intent{Originator: origin(views), Argv: gluster.ArgvRebalanceStart(p.Volume)}, nil
}

// Act starts a run; it takes ten seconds until gluster answers.
func (b rebalance) Act(ctx context.Context, t *executor.Turn) (json.RawMessage, error) {
	_, err := b.command(ctx, t)
	crash.Here("steps.rebalance-started", t.Op.Plan.Kind)
	return nil, err
}
