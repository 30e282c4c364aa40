package journalctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

type showOptions struct {
	events bool
	out    *cli.Output
}

func newShowCommand(b *base) *cobra.Command {
	o := &showOptions{out: cli.NewOutput()}
	cmd := &cobra.Command{
		Use:   "show OP",
		Short: "Show one operation: why it exists, how far it is, what it waits for",
		Args:  cli.Args("OP"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.read(cmd, o.out, func(ctx context.Context, r *opened, p *printer) error { return o.run(ctx, r, p, args[0]) })
		},
	}
	cmd.Flags().BoolVar(&o.events, "events", false, "its events too")
	o.out.AddFlags(cmd.Flags())
	return cmd
}

// An opDetail is one operation in the output of show. The JSON is a promise.
type opDetail struct {
	*view.Op
	FirstSeq     journal.Seq   `json:"firstSeq"`
	LastSeq      journal.Seq   `json:"lastSeq"`
	HoldsLocks   bool          `json:"holdsLocks"`
	SupersededBy *journal.OpID `json:"supersededBy,omitempty"`
	Tombstone    bool          `json:"tombstone,omitempty"` // its intent is not planned again
	Next         string        `json:"next,omitempty"`      // the command that moves it on
	DecidedBy    string        `json:"decidedBy,omitempty"` // of decision
	Events       []eventItem   `json:"events,omitempty"`
}

func (o *showOptions) run(ctx context.Context, r *opened, p *printer, arg string) error {
	id, err := r.resolve(ctx, arg)
	if err != nil {
		return err
	}
	epochs, err := r.Epochs(ctx)
	if err != nil {
		return fmt.Errorf("reading epochs: %w", err)
	}
	op, events, err := r.fold(ctx, id, epochs)
	if err != nil {
		return err
	}
	d := opDetail{Op: op, FirstSeq: events[0].Seq, LastSeq: events[len(events)-1].Seq, HoldsLocks: op.HoldsLocks()}
	if op.Decision != nil && op.State == view.Superseded && op.Decision.By != (journal.OpID{}) {
		d.SupersededBy = &op.Decision.By
	}
	stones, err := r.Tombstones(ctx)
	if err != nil {
		return fmt.Errorf("reading tombstones: %w", err)
	}
	for _, t := range stones {
		d.Tombstone = d.Tombstone || t.Op == id
	}
	d.Next, d.DecidedBy = next(&d), decidedBy(events)
	if !p.People() {
		return o.document(r, p, &d, events)
	}
	s := &sheet{p: p}
	s.header(&d)
	s.steps(op)
	s.verdict(&d)
	if s.err == nil && o.events {
		s.title("Events")
		return s.events(events)
	}
	return s.err
}

// next is the command that moves an operation on; empty when nobody has to.
func next(d *opDetail) string {
	switch {
	case d.State == view.Suspended && d.Suspended != nil:
		return d.Suspended.Next
	case d.Tombstone:
		return fmt.Sprintf("anthill journal retry %s --reason '...'", d.ID)
	}
	return ""
}

// decidedBy is who took the last decision.
func decidedBy(events []journal.Event) string {
	for _, ev := range slices.Backward(events) {
		switch ev.Type {
		case journal.OpResumed, journal.OpCancelling, journal.OpCancelled, journal.OpSuperseded, journal.OpAbandoned, journal.StepResolved:
			return ev.Actor
		}
	}
	return ""
}

func (o *showOptions) document(r *opened, p *printer, d *opDetail, events []journal.Event) error {
	if o.events {
		for i := range events {
			d.Events = append(d.Events, newEventItem(&events[i]))
		}
	}
	doc, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "Operation", r.metadata())
	if err != nil {
		return err
	}
	if err := doc.Item(d.ID.String(), d); err != nil {
		return err
	}
	return doc.Close()
}

// A sheet prints one operation for people. The first error of writing ends it.
type sheet struct {
	p   *printer
	err error
}

func (s *sheet) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.p.out, format, args...)
	}
}

func (s *sheet) title(t string) { s.printf("\n%s\n", s.p.Paint(cli.Bold, t)) }

// field prints a labelled line; nothing when there is nothing to say.
func (s *sheet) field(label, text string) {
	if text = cli.Line(text); text != "" {
		s.printf("%-13s %s\n", label, text)
	}
}

func (s *sheet) header(d *opDetail) {
	pl := &d.Plan
	s.field("Operation", d.ID.String())
	s.field("Kind", pl.Kind)
	s.field("Target", pl.Target)
	s.field("Object", pl.Object)
	s.field("Pool", pl.Scope)
	s.printf("%-13s %s\n", "State", s.p.Paint(stateColor(d.State), string(d.State)))
	reason := pl.Reason.Difference
	if pl.Reason.Action != "" {
		reason += " [action " + pl.Reason.Action
		if pl.Reason.Generation > 0 {
			reason += fmt.Sprintf(", generation %d", pl.Reason.Generation)
		}
		reason += "]"
	}
	s.field("Reason", reason)
	by := ""
	if d.PlannedBy != "" {
		by = " by " + d.PlannedBy
	}
	s.field("Planned", s.p.date(d.Planned)+by)
	if !d.Started.IsZero() {
		s.field("Started", s.p.date(d.Started))
	}
	if !d.Ended.IsZero() {
		took := ""
		if !d.Started.IsZero() {
			took = ", " + cli.Age(d.Ended.Sub(d.Started)) + " after its start"
		}
		s.field("Ended", s.p.date(d.Ended)+took)
	}
	if locks := strings.Join(pl.Locks, ", "); locks != "" {
		held := " (not held)"
		if d.HoldsLocks {
			held = " (held)"
		}
		s.field("Locks", locks+held)
	}
	s.field("After", ids(pl.After))
	s.field("Supersedes", ids(pl.Supersedes))
	if d.SupersededBy != nil {
		s.field("Superseded", "by "+d.SupersededBy.String())
	}
	s.field("Intent", pl.Intent)
	s.field("Journal", fmt.Sprintf("version %d, events %d-%d, epoch %d", d.Ver, d.FirstSeq, d.LastSeq, d.Epoch))
}

// verdict says how it ended, or why it does not go on and what to type.
func (s *sheet) verdict(d *opDetail) {
	field := func(label, text string) { s.field("  "+label, text) }
	switch {
	case d.Alien != "":
		s.title("Not understood")
		field("event", d.Alien)
		field("meaning", "a newer release wrote it; this one shows the operation and never executes it")
	case d.State == view.Suspended && d.Suspended != nil:
		u := d.Suspended
		s.title("Suspended: " + cli.Line(u.Cause))
		field("message", u.Message)
		field("first error", u.First)
		if u.Last != u.First {
			field("last error", u.Last)
		}
		if u.Attempts > 0 {
			field("attempts", fmt.Sprint(u.Attempts))
		}
	case d.Failure != nil:
		s.title("Failed: " + cli.Line(d.Failure.Class))
		field("error", d.Failure.Error)
	case d.Message != "" || d.Warning != "":
		s.title("Result")
		field("warning", d.Warning)
		field("message", d.Message)
	}
	if d.Decision != nil && d.Decision.Reason != "" {
		s.title("Last decision")
		field("by", d.DecidedBy)
		field("outcome", d.Decision.Outcome)
		field("reason", d.Decision.Reason)
	}
	if d.Next != "" {
		s.title("Next")
		s.printf("  %s\n", cli.Line(d.Next))
	}
}

func (s *sheet) events(events []journal.Event) error {
	e := newEventLines(s.p, false)
	for i := range events {
		if err := e.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func ids(list []journal.OpID) string {
	texts := make([]string, len(list))
	for i, id := range list {
		texts[i] = id.String()
	}
	return strings.Join(texts, ", ")
}

// raw writes JSON of the journal on one line.
func raw(m json.RawMessage) string { return string(m) }
