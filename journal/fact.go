package journal

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A fact is an event with the parts of its payload the store's rules need.
type fact struct {
	*Event
	plan     Plan
	decision Decision
	cause    string
	warning  string
	fence    Fence
	opened   Opened
	init     Initialized
}

// parseFact decodes the payload of an event. All payloads of known types are
// decoded, so that nothing is stored that a later fold could not read; what the
// rules need is kept. For other types there is nothing to decode.
func parseFact(ev *Event) (fact, error) {
	f := fact{Event: ev}
	var suspended Suspended
	var completed Completed
	var into any
	switch ev.Type {
	case JournalInitialized:
		into = &f.init
	case EpochOpened:
		into = &f.opened
	case FenceRaised:
		into = &f.fence
	case OpPlanned:
		into = &f.plan
	case OpSuspended:
		into = &suspended
	case OpCompleted:
		into = &completed
	case OpResumed, OpCancelling, OpCancelled, OpSuperseded, OpAbandoned, StepResolved, IntentReleased:
		into = &f.decision
	case OpFailed, StepFailed, StepUnknown:
		into = &Failure{}
	case StepStarted:
		into = &Started{}
	case StepReceipt:
		into = &Receipt{}
	case StepProgress:
		into = &Progress{}
	case StepSucceeded:
		into = &Succeeded{}
	case OpStarted, StepCompensated, EpochClosed:
		into = &struct{}{}
	default:
		return f, nil
	}
	if len(ev.Data) != 0 {
		if err := json.Unmarshal(ev.Data, into); err != nil {
			return f, fmt.Errorf("decoding the payload of %s: %w", ev.Type, err)
		}
	}
	f.cause, f.warning = suspended.Cause, completed.Warning
	return f, nil
}

// checkPlan refuses plans that could never be carried out or folded.
func checkPlan(p *Plan) error {
	if p.Kind == "" {
		return fmt.Errorf("the plan has no kind: %w", ErrIllegal)
	}
	if len(p.Intent) > nameMax {
		return fmt.Errorf("the intent is longer than %d bytes: %w", nameMax, ErrTooLarge)
	}
	ids := make(map[string]bool, len(p.Steps))
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.ID == "" || ids[s.ID] {
			return fmt.Errorf("step %d has id %q, which is empty or taken: %w", i, s.ID, ErrIllegal)
		}
		ids[s.ID] = true
		switch s.Stage {
		case Compensatable, Pivot, Retriable, Waiting:
		default:
			return fmt.Errorf("step %q has unknown stage %q: %w", s.ID, s.Stage, ErrIllegal)
		}
	}
	if !slices.IsSorted(p.Locks) || len(slices.Compact(slices.Clone(p.Locks))) != len(p.Locks) {
		return fmt.Errorf("locks %q are not sorted and unique: %w", p.Locks, ErrIllegal)
	}
	return nil
}
