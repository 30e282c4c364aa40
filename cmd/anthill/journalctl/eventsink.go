package journalctl

import (
	"fmt"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// An eventSink takes events one by one.
type eventSink interface {
	event(ev *journal.Event) error
	close() error
}

func newEventSink(p *printer, r *opened) (eventSink, error) {
	if p.People() {
		return newEventLines(p, true), nil
	}
	d, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "EventList", r.metadata())
	return eventDocument{d}, err
}

type eventDocument struct{ *cli.Document }

func (d eventDocument) event(ev *journal.Event) error {
	return d.Item(fmt.Sprint(ev.Seq), newEventItem(ev))
}

func (d eventDocument) close() error { return d.Close() }

// An eventLines prints events as rows with columns of a fixed width, since the
// end of the stream is not known when it begins.
type eventLines struct {
	p      *printer
	ops    bool // with a column for the operation
	widths []int
	began  bool
}

func newEventLines(p *printer, ops bool) *eventLines {
	l := &eventLines{p: p, ops: ops, widths: []int{7, 29, 5, 19, 36, 18, 3, 16}}
	if p.UTC {
		l.widths[1] = 24
	}
	if !ops {
		l.widths = append(l.widths[:4:4], l.widths[5:]...)
	}
	return l
}

func (l *eventLines) event(ev *journal.Event) error {
	if !l.began && !l.p.NoHeaders {
		l.began = true
		if err := l.row("SEQ", "TIME", "EPOCH", "TYPE", "OPERATION", "STEP", "ATT", "BY", "WHAT", cli.Plain); err != nil {
			return err
		}
	}
	op, attempt := "", ""
	if ev.Op != (journal.OpID{}) {
		op = ev.Op.String()
	}
	if ev.Attempt > 0 {
		attempt = fmt.Sprint(ev.Attempt)
	}
	what := summary(ev)
	if l.p.Is(cli.FormatWide) {
		what = string(ev.Data)
	}
	return l.row(fmt.Sprint(ev.Seq), l.p.Time(instant(ev.Time), l.p.env.Local), fmt.Sprint(ev.Epoch), string(ev.Type),
		op, ev.Step, attempt, ev.Actor, what, typeColor(ev.Type))
}

func (l *eventLines) row(seq, time, epoch, typ, op, step, attempt, by, what string, c cli.Color) error {
	cells := cli.Text(seq, time, epoch, typ)
	cells[3].Color = c
	if l.ops {
		cells = append(cells, cli.Cell{Text: op})
	}
	return cli.WriteRow(l.p.out, l.widths, l.p.Palette, append(cells, cli.Text(step, attempt, by, what)...)...)
}

func (l *eventLines) close() error { return nil }

func typeColor(t journal.Type) cli.Color {
	switch t {
	case journal.OpCompleted, journal.StepSucceeded:
		return cli.Green
	case journal.OpFailed, journal.StepFailed:
		return cli.Red
	case journal.OpSuspended, journal.StepUnknown:
		return cli.Yellow
	case journal.StepStarted:
		return cli.Cyan
	case journal.EpochOpened, journal.EpochClosed:
		return cli.Bold
	}
	return cli.Plain
}
