package journalctl

import (
	"fmt"
	"strings"
	"time"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// glyphs stand beside the word of a step's state, never alone.
var glyphs = map[view.StepState]string{
	view.Pending: "◌", view.Started: "●", view.Unknown: "?", view.Succeeded: "✔", view.Compensated: "↶",
}

var stepColors = map[view.StepState]cli.Color{
	view.Started: cli.Cyan, view.Unknown: cli.Yellow, view.Succeeded: cli.Green, view.Compensated: cli.Faint,
}

// steps prints the plan with what became of each step.
func (s *sheet) steps(op *view.Op) {
	s.title("Steps")
	names, idents := 0, 0
	for i := range op.Steps {
		idents = max(idents, len(op.Steps[i].ID))
		names = max(names, len(op.Steps[i].Name))
	}
	for i := range op.Steps {
		st := &op.Steps[i]
		state := s.p.Paint(stepColors[st.State], fmt.Sprintf("%s %-11s", glyphs[st.State], st.State))
		line := fmt.Sprintf("%2d  %-*s  %-*s  %-13s  %s", i+1, idents, cli.Line(st.ID), names, cli.Line(st.Name), cli.Line(string(st.Stage)), cli.Line(s.stepSummary(st)))
		s.printf("  %s %s\n", state, strings.TrimRight(line, " "))
		s.stepDetail(st)
	}
}

// stepSummary is what stands behind a step on its line.
func (s *sheet) stepSummary(st *view.Step) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if st.Attempt > 1 || (st.Attempt == 1 && st.State != view.Succeeded) {
		add("attempt %d", st.Attempt)
	}
	if st.Adopted {
		add("adopted")
	}
	ended := st.State == view.Succeeded || st.State == view.Compensated
	switch {
	case ended && !st.StartedAt.IsZero() && st.EndedAt.After(st.StartedAt):
		add("took %s", st.EndedAt.Sub(st.StartedAt).Round(time.Millisecond))
	case !ended && !st.StartedAt.IsZero():
		add("started %s", s.p.ago(st.StartedAt))
	}
	if st.Crashes > 0 {
		add("the operator ended during it %s", plural(st.Crashes, "time"))
	}
	if st.Message != "" {
		add("%s", st.Message)
	}
	return strings.Join(parts, ", ")
}

// stepDetail prints what a person needs of a step that is under way, or that
// left something worth knowing.
func (s *sheet) stepDetail(st *view.Step) {
	field := func(label, text string) {
		if text = cli.Line(text); text != "" {
			s.printf("                   %-10s %s\n", label, text)
		}
	}
	if st.Start != nil && (st.State != view.Succeeded || s.p.Is(cli.FormatWide)) {
		field("server", st.Start.Originator)
		field("command", cli.Argv(st.Start.Argv))
		field("attempt id", st.Start.AttemptID)
		if st.Start.Deadline != 0 {
			field("deadline", s.p.Time(instant(st.Start.Deadline), s.p.env.Local))
		}
	}
	field("receipt", raw(st.Receipt))
	if st.Progress != nil && st.State != view.Succeeded {
		at := ""
		if !st.ProgressAt.IsZero() {
			at = " (" + s.p.ago(st.ProgressAt) + ")"
		}
		field("progress", progressText(st.Progress)+at)
	}
	if st.Failure == nil {
		return
	}
	if st.Failures > 0 {
		field("failures", fmt.Sprint(st.Failures))
	}
	if st.First != nil && failureText(st.First) != failureText(st.Failure) {
		field("first", failureText(st.First))
	}
	field("last", failureText(st.Failure))
	if st.State == view.Pending && st.Failure.RetryAt != 0 {
		field("retry at", s.p.Time(instant(st.Failure.RetryAt), s.p.env.Local))
	}
	if st.State != view.Succeeded && st.Failure.Output != "" {
		s.printf("%s", cli.Block(st.Failure.Output, "                     | "))
	}
}

func failureText(f *journal.Failure) string { return f.Class + ": " + f.Error }

func progressText(p *journal.Progress) string {
	if p.Percent > 0 {
		return fmt.Sprintf("%d %%, %s", p.Percent, p.Message)
	}
	return p.Message
}
