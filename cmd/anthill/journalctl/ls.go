package journalctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// opStates are the states --state accepts.
var opStates = []string{
	string(view.Planned), string(view.Running), string(view.Suspended), string(view.Cancelling), string(view.Completed),
	string(view.Failed), string(view.Cancelled), string(view.Superseded), string(view.Abandoned),
}

type lsOptions struct {
	open, all bool
	states    cli.Choices
	kinds     []string
	targets   []string
	scope     string
	since     string
	limit     int
	out       *cli.Output
}

func newLsCommand(b *base) *cobra.Command {
	o := &lsOptions{states: cli.Choices{Allowed: opStates}, out: cli.NewOutput()}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List operations, newest first; without flags the open ones",
		Args:    cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := o.filter(b.Now())
			if err != nil {
				return err
			}
			return b.read(cmd, o.out, func(ctx context.Context, r *opened, p *printer) error { return o.run(ctx, r, p, f) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.open, "open", false, "only operations that have not ended (the default)")
	f.BoolVar(&o.all, "all", false, "ended ones too")
	f.Var(&o.states, "state", "only in these states; implies --all")
	f.StringSliceVar(&o.kinds, "kind", nil, "only of these kinds, for example add-brick")
	f.StringSliceVar(&o.targets, "target", nil, "only on these targets, for example volume/v1")
	f.StringVar(&o.scope, "scope", "", "only of this pool")
	f.StringVar(&o.since, "since", "", "only planned or changed since: 2h, 3d or an RFC 3339 time")
	f.IntVar(&o.limit, "limit", 1000, "at most this many; 0: all")
	o.out.AddFlags(f)
	return cmd
}

// filter validates the options and makes of them what the journal understands.
func (o *lsOptions) filter(now time.Time) (journal.Filter, error) {
	f := journal.Filter{States: o.states.Values, Kinds: o.kinds, Scope: o.scope}
	if o.open && o.all {
		return f, cli.Usagef("--open and --all are both given: one of them is accepted")
	}
	f.Open = o.open || (!o.all && len(o.states.Values) == 0)
	if o.limit < 0 {
		return f, cli.Usagef("--limit %d: a number from 0 (all) on is accepted", o.limit)
	}
	if len(o.targets) == 1 {
		f.Target = o.targets[0]
	}
	if o.since != "" {
		t, err := cli.ParseWhen(o.since, now)
		if err != nil {
			return f, cli.Usagef("--since %q: %w", o.since, err)
		}
		f.Since = t
	}
	return f, nil
}

func (o *lsOptions) run(ctx context.Context, r *opened, p *printer, f journal.Filter) error {
	var sink opSink
	if p.People() {
		sink = newOpTable(p)
	} else {
		d, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "OperationList", r.metadata())
		if err != nil {
			return err
		}
		sink = opDocument{d}
	}
	n, more, err := o.each(ctx, r, f, func(h *journal.OpHead) error {
		var locks []string
		if !p.Is(cli.FormatTable, cli.FormatName) && !h.Terminal() {
			op, _, err := r.fold(ctx, h.ID, nil)
			if err != nil {
				return err
			}
			if op.HoldsLocks() {
				locks = op.Plan.Locks
			}
		}
		return sink.add(h, locks)
	})
	if err != nil {
		return err
	}
	if err := sink.close(); err != nil {
		return err
	}
	switch {
	case more:
		notef(p.err, "only the newest %d are listed; --limit 0 lists all", n)
	case n == 0 && f.Open:
		notef(p.err, "no open operation; --all lists those that have ended")
	case n == 0:
		notef(p.err, "no operation")
	}
	return nil
}

// each calls fn for at most limit operations and tells how many there were and
// whether there are more.
func (o *lsOptions) each(ctx context.Context, r *opened, f journal.Filter, fn func(*journal.OpHead) error) (n int, more bool, err error) {
	var cursor journal.OpID
	for {
		heads, err := r.Ops(ctx, cursor, journal.PageMax, f)
		if err != nil {
			return n, false, fmt.Errorf("listing operations: %w", err)
		}
		for i := range heads {
			if len(o.targets) > 1 && !slices.Contains(o.targets, heads[i].Target) {
				continue
			}
			if o.limit > 0 && n == o.limit {
				return n, true, nil
			}
			if err := fn(&heads[i]); err != nil {
				return n, false, err
			}
			n++
		}
		if len(heads) == 0 {
			return n, false, nil
		}
		cursor = heads[len(heads)-1].ID
	}
}

// fold folds one operation and returns its events too. Without the journal's
// epochs the fold does not tell how often the operator ended during a step.
func (o *opened) fold(ctx context.Context, id journal.OpID, epochs []journal.Tenure) (*view.Op, []journal.Event, error) {
	events, err := o.OpEvents(ctx, id)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil, noOperation(id.String())
	case err != nil:
		return nil, nil, fmt.Errorf("reading operation %s: %w", id, err)
	}
	op := view.FoldOp(events, epochs)
	if op == nil {
		return nil, nil, cli.Errorf(cli.Damaged, "operation %s: its first events are missing", id)
	}
	return op, events, nil
}
