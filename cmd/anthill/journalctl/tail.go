package journalctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

type tailOptions struct {
	eventFilter
	follow bool
	count  int
	out    *cli.Output
}

func newTailCommand(b *base) *cobra.Command {
	o := &tailOptions{out: cli.NewOutput()}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events; with -f also each new one, across restarts of the operator",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validateAll(b); err != nil {
				return err
			}
			if o.follow {
				return o.runFollow(cmd, b)
			}
			return b.read(cmd, o.out, func(ctx context.Context, r *opened, p *printer) error {
				sink, err := o.begin(ctx, r, p)
				if err != nil {
					return err
				}
				return sink.close()
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with each new event until interrupted")
	f.IntVarP(&o.count, "lines", "n", 10, "how many of the last events")
	o.addFlags(f)
	o.out.AddFlags(f)
	return cmd
}

// lastMax bounds what is held in memory to print the last events.
const lastMax = 100_000

func (o *tailOptions) validateAll(b *base) error {
	if o.count < 0 || o.count > lastMax {
		return cli.Usagef("--lines %d: a number from 0 to %d is accepted", o.count, lastMax)
	}
	if o.follow && b.source.file != "" {
		return cli.Usagef("--follow and --file are both given: a file that nobody writes has no new events")
	}
	if o.follow && o.out.Is(cli.FormatJSON, cli.FormatYAML) {
		return cli.Usagef("--follow and --output %s are both given: a document that does not end is not one; ndjson is accepted", o.out.Format.Value)
	}
	return o.validate()
}

// begin prints the last events.
func (o *tailOptions) begin(ctx context.Context, r *opened, p *printer) (eventSink, error) {
	if err := o.resolve(ctx, r); err != nil {
		return nil, err
	}
	events, err := o.last(ctx, r)
	if err != nil {
		return nil, err
	}
	sink, err := newEventSink(p, r)
	if err != nil {
		return nil, err
	}
	return sink, forEach(events, sink.event)
}

// last reads the newest matching events, in order, going back page by page.
func (o *tailOptions) last(ctx context.Context, r *opened) ([]journal.Event, error) {
	var found []journal.Event // newest first
	for end := r.info.Head.Seq; end >= r.info.Tail && end > 0 && len(found) < o.count; {
		page := journal.Seq(journal.PageMax)
		if o.any() {
			page = min(page, journal.Seq(o.count-len(found)))
		}
		from := r.info.Tail
		if end-from >= page {
			from = end - page + 1
		}
		var events []journal.Event
		if err := pages(ctx, r, from, func(ev *journal.Event) error {
			if ev.Seq > end {
				return errEnough
			}
			if o.match(ev) {
				events = append(events, *ev)
			}
			return nil
		}); err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		slices.Reverse(events)
		found = append(found, events[:min(len(events), o.count-len(found))]...)
		end = from - 1
	}
	slices.Reverse(found)
	return found, nil
}

// A follower prints new events and finds the operator again when it went away.
type follower struct {
	*tailOptions
	b    *base
	p    *printer
	buf  *bufio.Writer // of p.out, flushed after each event
	sink eventSink
	id   string      // of the journal that is followed
	next journal.Seq // first event not printed
	deaf error       // of writing the output: the end
}

func (o *tailOptions) runFollow(cmd *cobra.Command, b *base) error {
	f := &follower{tailOptions: o, b: b, p: b.printer(cmd, o.out)}
	f.buf = bufio.NewWriter(f.p.out)
	f.p.out = f.buf
	ctx := cmd.Context()
	if err := b.source.validate(); err != nil {
		return err
	}
	r, err := f.start(ctx)
	if err != nil {
		return err
	}
	for {
		err := r.Follow(ctx, f.next, f.event)
		_ = r.Close() // reading is over, nothing is lost
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case f.deaf != nil:
			return f.deaf
		case lasting(err):
			return classify(err)
		}
		notef(f.p.err, "the operator went away after event %d; waiting for it", f.next-1)
		if r, err = f.again(ctx); err != nil {
			return err
		}
		r.note(f.p.err)
	}
}

// start connects and prints the last events.
func (f *follower) start(ctx context.Context) (r *opened, err error) {
	err = bounded(ctx, time.Duration(f.b.source.timeout), func(ctx context.Context) error {
		if r, err = f.b.source.dial(ctx, f.b.Getenv); err != nil {
			return fmt.Errorf("following needs a running operator: %w", err)
		}
		r.note(f.p.err)
		if f.sink, err = f.begin(ctx, r, f.p); err != nil {
			return err
		}
		return f.flush()
	})
	if err == nil {
		f.id, f.next = r.info.JournalID, r.info.Head.Seq+1
	}
	return r, err
}

func (f *follower) event(ev journal.Event) error {
	f.next = ev.Seq + 1
	if !f.match(&ev) {
		return nil
	}
	if f.deaf = f.sink.event(&ev); f.deaf == nil {
		f.deaf = f.flush()
	}
	return f.deaf
}

func (f *follower) flush() error {
	if err := f.buf.Flush(); err != nil {
		return fmt.Errorf("writing output: %w", err)
	}
	return nil
}

// lasting reports whether an error will be the same after a new connection.
func lasting(err error) bool {
	switch cli.CodeOf(classify(err)) {
	case cli.Damaged, cli.Usage, cli.NotFound:
		return true
	}
	return false
}

// redial is how often a lost operator is looked for.
const redial = 300 * time.Millisecond

// again waits until the operator serves the same journal again.
func (f *follower) again(ctx context.Context) (*opened, error) {
	tick := time.NewTicker(redial)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		r, err := f.once(ctx)
		switch {
		case err == nil:
			return r, f.same(r)
		case lasting(err):
			return nil, err
		}
	}
}

func (f *follower) once(ctx context.Context) (*opened, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(f.b.source.timeout))
	defer cancel()
	return f.b.source.dial(ctx, f.b.Getenv)
}

// same refuses to go on in another journal, or in one that lost events that
// were already printed.
func (f *follower) same(r *opened) error {
	switch {
	case r.info.JournalID != f.id:
		_ = r.Close()
		return cli.Errorf(cli.Conflict, "the operator is back with another journal, %s instead of %s", r.info.JournalID, f.id)
	case r.info.Head.Seq+1 < f.next:
		_ = r.Close()
		return cli.Errorf(cli.Damaged, "the operator is back with a journal that ends at event %d, event %d was there before", r.info.Head.Seq, f.next-1)
	}
	return nil
}
