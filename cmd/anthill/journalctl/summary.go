package journalctl

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// summary says in one line what an event tells beyond its type. An event this
// release does not know, or whose payload does not read, is shown as it is
// stored.
func summary(ev *journal.Event) string {
	if fn, ok := summaries[ev.Type]; ok {
		if s, err := fn(ev.Data); err == nil {
			return s
		}
	}
	return string(ev.Data)
}

var summaries = map[journal.Type]func(json.RawMessage) (string, error){
	journal.JournalInitialized: of(func(d *journal.Initialized) string {
		return fmt.Sprintf("journal %s, format %d", d.JournalID, d.Format)
	}),
	journal.EpochOpened: of(openedText),
	journal.FenceRaised: of(func(d *journal.Fence) string { return fmt.Sprintf("pool %s, fence %d", d.Scope, d.Fence) }),

	journal.OpPlanned:    of(plannedText),
	journal.OpSuspended:  of(suspendedText),
	journal.OpResumed:    of(decisionText),
	journal.OpCancelling: of(decisionText),
	journal.OpCancelled:  of(decisionText),
	journal.OpSuperseded: of(decisionText),
	journal.OpAbandoned:  of(decisionText),
	journal.OpFailed:     of(failureText),
	journal.OpCompleted: of(func(d *journal.Completed) string {
		return join("; ", d.Warning, d.Message)
	}),

	journal.StepStarted:     of(startedText),
	journal.StepReceipt:     of(func(d *journal.Receipt) string { return raw(d.Receipt) }),
	journal.StepProgress:    of(progressText),
	journal.StepSucceeded:   of(succeededText),
	journal.StepFailed:      of(failureText),
	journal.StepUnknown:     of(failureText),
	journal.StepResolved:    of(decisionText),
	journal.StepCompensated: of(decisionText),
	journal.IntentReleased:  of(decisionText),
}

func of[T any](text func(*T) string) func(json.RawMessage) (string, error) {
	return func(data json.RawMessage) (string, error) {
		var d T
		if len(data) == 0 {
			return "", nil
		}
		if err := json.Unmarshal(data, &d); err != nil {
			return "", err
		}
		return text(&d), nil
	}
}

func join(sep string, parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, sep)
}

func openedText(d *journal.Opened) string {
	s := "instance " + d.Instance
	if d.Host != "" {
		s += " on " + d.Host
	}
	if d.PID != 0 {
		s += fmt.Sprintf(", process %d", d.PID)
	}
	if !d.Clean {
		s += "; the one before it did not end in good order"
	}
	return s
}

func plannedText(d *journal.Plan) string {
	return join(": ", fmt.Sprintf("%s %s, %s", d.Kind, d.Target, plural(len(d.Steps), "step")), d.Reason.Difference)
}

func suspendedText(d *journal.Suspended) string {
	return join("; ", join(": ", d.Cause, d.Message), prefixed("next: ", d.Next))
}

func decisionText(d *journal.Decision) string {
	by := ""
	if d.By != (journal.OpID{}) {
		by = "by " + d.By.String()
	}
	return join(": ", join(" ", d.Outcome, by), d.Reason)
}

func startedText(d *journal.Started) string {
	return join(": ", d.Originator, cli.Argv(d.Argv))
}

func succeededText(d *journal.Succeeded) string {
	adopted := ""
	if d.Adopted {
		adopted = "adopted"
	}
	return join("; ", adopted, d.Message, prefixed("receipt ", raw(d.Receipt)))
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
