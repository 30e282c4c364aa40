package journalctl

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// An opItem is one operation in the output of ls. The JSON is a promise.
type opItem struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Target     string   `json:"target"`
	Object     string   `json:"object"`
	Scope      string   `json:"scope"`
	State      string   `json:"state"`
	Cause      string   `json:"cause,omitempty"`      // of a suspension
	Warning    string   `json:"warning,omitempty"`    // of a completion
	Alien      string   `json:"alienEvent,omitempty"` // critical event type this release does not know
	StepsDone  int      `json:"stepsDone"`
	Steps      int      `json:"steps"`
	Step       string   `json:"step,omitempty"` // first that has not succeeded
	StepState  string   `json:"stepState,omitempty"`
	Attempt    int      `json:"attempt,omitempty"`
	Action     string   `json:"action,omitempty"`
	Difference string   `json:"difference,omitempty"`
	Generation int64    `json:"generation,omitempty"`
	Intent     string   `json:"intent,omitempty"`
	Supersedes []string `json:"supersedes,omitempty"`
	Locks      []string `json:"locks,omitempty"` // held

	Version  uint64        `json:"version"`
	Epoch    journal.Epoch `json:"epoch"`
	FirstSeq journal.Seq   `json:"firstSeq"`
	LastSeq  journal.Seq   `json:"lastSeq"`
	Planned  time.Time     `json:"planned"`
	Started  time.Time     `json:"started,omitzero"`
	Updated  time.Time     `json:"updated"`
	Ended    time.Time     `json:"ended,omitzero"`
}

func newOpItem(h *journal.OpHead, locks []string) opItem {
	it := opItem{
		ID: h.ID.String(), Kind: h.Kind, Target: h.Target, Object: h.Object, Scope: h.Scope,
		State: h.State, Cause: h.Cause, Warning: h.Warning, Alien: h.Alien,
		StepsDone: h.Done, Steps: h.Steps, Step: h.Step, StepState: h.StepIs, Attempt: h.Attempt,
		Action: h.Action, Difference: h.Difference, Generation: h.Generation, Intent: h.Intent, Locks: locks,
		Version: h.Ver, Epoch: h.Epoch, FirstSeq: h.First, LastSeq: h.Last,
		Planned: instant(h.Planned), Started: instant(h.Started), Updated: instant(h.Updated), Ended: instant(h.Ended),
	}
	for _, id := range h.Supersedes {
		it.Supersedes = append(it.Supersedes, id.String())
	}
	return it
}

// instant is the point in time of the journal's unix nanoseconds; 0 is none.
func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// An opSink takes the operations of a list.
type opSink interface {
	add(h *journal.OpHead, locks []string) error
	close() error
}

type opDocument struct{ *cli.Document }

func (d opDocument) add(h *journal.OpHead, locks []string) error {
	return d.Item(h.ID.String(), newOpItem(h, locks))
}

func (d opDocument) close() error { return d.Close() }

type opTable struct {
	p *printer
	t cli.Table
	n int
}

func newOpTable(p *printer) *opTable {
	age := "AGE"
	if p.UTC {
		age = "PLANNED"
	}
	t := &opTable{p: p}
	t.t.Header = []string{"ID", "KIND", "TARGET", "STATE", "STEP", "ATT", age, "REASON"}
	if p.Is(cli.FormatWide) {
		t.t.Header = slices.Insert(t.t.Header, 7, "GEN", "EPOCH", "SEQ", "LOCKS")
	}
	if p.NoHeaders {
		t.t.Header = nil
	}
	return t
}

func (t *opTable) add(h *journal.OpHead, locks []string) error {
	t.n++
	attempt, generation := "", ""
	if h.Attempt > 0 {
		attempt = fmt.Sprint(h.Attempt)
	}
	if h.Generation > 0 {
		generation = fmt.Sprint(h.Generation)
	}
	cells := []cli.Cell{
		{Text: h.ID.String()}, {Text: h.Kind}, {Text: h.Target},
		{Text: h.State, Color: stateColor(view.OpState(h.State))},
		{Text: stepText(h)}, {Text: attempt}, {Text: t.p.when(instant(h.Planned))},
		{Text: reasonText(h)},
	}
	if t.p.Is(cli.FormatWide) {
		cells = slices.Insert(cells, 7, cli.Text(generation, fmt.Sprint(h.Epoch), fmt.Sprintf("%d-%d", h.First, h.Last), strings.Join(locks, ","))...)
	}
	t.t.Row(cells...)
	return nil
}

// close prints the table; a list without operations prints nothing at all.
func (t *opTable) close() error {
	if t.n == 0 {
		return nil
	}
	return t.t.Print(t.p.out, t.p.Palette)
}

// stepText is progress without spaces, so that columns can be counted: steps
// done, steps, and the step at hand with its state unless that is pending.
func stepText(h *journal.OpHead) string {
	s := fmt.Sprintf("%d/%d", h.Done, h.Steps)
	if h.Terminal() || h.Step == "" {
		return s
	}
	s += ":" + h.Step
	if h.StepIs != "" && h.StepIs != string(view.Pending) {
		s += ":" + h.StepIs
	}
	return s
}

// reasonText is why the operation exists, behind what makes it special.
func reasonText(h *journal.OpHead) string {
	s := h.Difference
	if s == "" {
		s = h.Action
	}
	switch {
	case h.Alien != "":
		s = "UnknownEvent(" + h.Alien + "): " + s
	case h.Cause != "" && h.State == string(view.Suspended):
		s = h.Cause + ": " + s
	case h.Warning != "":
		s = h.Warning + ": " + s
	}
	return s
}

func stateColor(s view.OpState) cli.Color {
	switch s {
	case view.Running, view.Cancelling:
		return cli.Cyan
	case view.Suspended:
		return cli.Yellow
	case view.Completed:
		return cli.Green
	case view.Failed:
		return cli.Red
	case view.Cancelled, view.Superseded, view.Abandoned:
		return cli.Faint
	}
	return cli.Plain
}

// notef writes a remark beside the data.
func notef(w io.Writer, format string, args ...any) {
	// Nothing can be done about a closed standard error.
	_, _ = fmt.Fprintf(w, "# "+format+"\n", args...)
}
