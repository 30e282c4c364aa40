package journalctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// An eventFilter selects events.
type eventFilter struct {
	op    string
	types []string

	id journal.OpID // of op, once resolved
}

func (f *eventFilter) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.op, "op", "", "only of this operation")
	fs.StringSliceVar(&f.types, "type", nil, "only of these types; * matches: step.*, op.suspended")
}

func (f *eventFilter) validate() error {
	for _, t := range f.types {
		if _, err := path.Match(t, ""); err != nil {
			return cli.Usagef("--type %q: an event type like step.started or step.* is accepted", t)
		}
	}
	return nil
}

func (f *eventFilter) resolve(ctx context.Context, r *opened) (err error) {
	if f.op != "" {
		f.id, err = r.resolve(ctx, f.op)
	}
	return err
}

func (f *eventFilter) any() bool { return f.op == "" && len(f.types) == 0 }

func (f *eventFilter) match(ev *journal.Event) bool {
	if f.op != "" && ev.Op != f.id {
		return false
	}
	for _, t := range f.types {
		// The pattern was checked by validate.
		if ok, _ := path.Match(t, string(ev.Type)); ok {
			return true
		}
	}
	return len(f.types) == 0
}

type eventsOptions struct {
	eventFilter
	from, to uint64
	since    string
	out      *cli.Output
}

func newEventsCommand(b *base) *cobra.Command {
	o := &eventsOptions{out: cli.NewOutput()}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print events, oldest first",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			since, err := o.validateAll(b.Now())
			if err != nil {
				return err
			}
			return b.read(cmd, o.out, func(ctx context.Context, r *opened, p *printer) error { return o.run(ctx, r, p, since) })
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.Uint64Var(&o.from, "from", 0, "from this sequence number on")
	f.Uint64Var(&o.to, "to", 0, "up to this sequence number")
	f.StringVar(&o.since, "since", "", "only written since: 2h, 3d or an RFC 3339 time")
	o.out.AddFlags(f)
	return cmd
}

func (o *eventsOptions) validateAll(now time.Time) (time.Time, error) {
	if o.to != 0 && o.from > o.to {
		return time.Time{}, cli.Usagef("--from %d is behind --to %d: a range from low to high is accepted", o.from, o.to)
	}
	if err := o.validate(); err != nil || o.since == "" {
		return time.Time{}, err
	}
	t, err := cli.ParseWhen(o.since, now)
	if err != nil {
		return t, cli.Usagef("--since %q: %w", o.since, err)
	}
	return t, nil
}

func (o *eventsOptions) run(ctx context.Context, r *opened, p *printer, since time.Time) error {
	if err := o.resolve(ctx, r); err != nil {
		return err
	}
	from := max(journal.Seq(o.from), r.info.Tail)
	if o.from != 0 && from != journal.Seq(o.from) {
		notef(p.err, "events before %d are no longer kept", r.info.Tail)
	}
	sink, err := newEventSink(p, r)
	if err != nil {
		return err
	}
	n := 0
	err = o.scan(ctx, r, from, func(ev *journal.Event) error {
		if !o.match(ev) || instant(ev.Time).Before(since) {
			return nil
		}
		n++
		return sink.event(ev)
	})
	if err != nil {
		return err
	}
	if n == 0 {
		notef(p.err, "no event")
	}
	return sink.close()
}

var errEnough = errors.New("enough")

// scan calls fn for the events from a number on up to the last one wanted. The
// events of one operation are read by themselves; others come in pages.
func (o *eventsOptions) scan(ctx context.Context, r *opened, from journal.Seq, fn func(*journal.Event) error) error {
	last := r.info.Head.Seq
	if o.to != 0 {
		last = min(last, journal.Seq(o.to))
	}
	inRange := func(ev *journal.Event) error {
		switch {
		case ev.Seq > last:
			return errEnough
		case ev.Seq < from:
			return nil
		}
		return fn(ev)
	}
	err := o.all(ctx, r, from, inRange)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (o *eventsOptions) all(ctx context.Context, r *opened, from journal.Seq, fn func(*journal.Event) error) error {
	if o.op == "" {
		return pages(ctx, r, from, fn)
	}
	events, err := r.OpEvents(ctx, o.id)
	if err != nil {
		return fmt.Errorf("reading events of operation %s: %w", o.id, err)
	}
	return forEach(events, fn)
}

// pages calls fn for all events from a number on.
func pages(ctx context.Context, r *opened, from journal.Seq, fn func(*journal.Event) error) error {
	for {
		events, err := r.Events(ctx, from, journal.PageMax)
		if err != nil {
			return fmt.Errorf("reading events from %d on: %w", from, err)
		}
		if len(events) == 0 {
			return nil
		}
		if err := forEach(events, fn); err != nil {
			return err
		}
		from = events[len(events)-1].Seq + 1
	}
}

func forEach(events []journal.Event, fn func(*journal.Event) error) error {
	for i := range events {
		if err := fn(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// An eventItem is one event in the output. The JSON is a promise.
type eventItem struct {
	Seq           journal.Seq     `json:"seq"`
	Time          time.Time       `json:"time"`
	Epoch         journal.Epoch   `json:"epoch"`
	Type          journal.Type    `json:"type"`
	SchemaVersion int             `json:"schemaVersion"`
	Critical      bool            `json:"critical,omitempty"`
	Operation     string          `json:"operation,omitempty"`
	Version       uint64          `json:"version,omitempty"` // of the operation, after it
	Step          string          `json:"step,omitempty"`
	Attempt       int             `json:"attempt,omitempty"`
	Actor         string          `json:"actor,omitempty"`
	Build         string          `json:"build,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
}

func newEventItem(ev *journal.Event) eventItem {
	it := eventItem{
		Seq: ev.Seq, Time: instant(ev.Time), Epoch: ev.Epoch, Type: ev.Type, SchemaVersion: ev.SV, Critical: ev.Crit,
		Version: ev.OpVer, Step: ev.Step, Attempt: ev.Attempt, Actor: ev.Actor, Build: ev.Build, Data: ev.Data,
	}
	if ev.Op != (journal.OpID{}) {
		it.Operation = ev.Op.String()
	}
	return it
}
