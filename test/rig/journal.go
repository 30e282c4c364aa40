package rig

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/test/local"
)

// Read opens the operator's journal for reading: over its socket if a process
// serves it, else the file. The caller closes the reader.
func (o *Operator) Read(ctx context.Context) (journal.Reader, error) {
	if o.Running() {
		if c, err := journal.Dial(ctx, journal.SocketPath(o.Journal())); err == nil {
			return c, nil
		}
	}
	return journal.OpenReader(ctx, o.Journal())
}

// Head is the journal's last event.
func (o *Operator) Head(ctx context.Context) (journal.Head, error) {
	r, err := o.Read(ctx)
	if err != nil {
		return journal.Head{}, fmt.Errorf("reading the operator's journal: %w", err)
	}
	defer func() { _ = r.Close() }()
	info, err := r.Info(ctx)
	return info.Head, err
}

// Events reads the journal from an event on.
func (o *Operator) Events(ctx context.Context, from journal.Seq) ([]journal.Event, error) {
	r, err := o.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the operator's journal: %w", err)
	}
	defer func() { _ = r.Close() }()
	var all []journal.Event
	for {
		page, err := r.Events(ctx, from, journal.PageMax)
		if err != nil {
			return nil, fmt.Errorf("reading the operator's journal: %w", err)
		}
		if len(page) == 0 {
			return all, nil
		}
		all = append(all, page...)
		from = page[len(page)-1].Seq + 1
	}
}

// A View is a folded journal that also lists what has ended.
type View struct {
	*view.View
	planned []journal.OpID
}

// All lists every operation in the order they were planned.
func (v *View) All() []*view.Op {
	out := make([]*view.Op, len(v.planned))
	for i, id := range v.planned {
		out[i] = v.Op(id)
	}
	return out
}

// View folds the whole journal.
func (o *Operator) View(ctx context.Context) (*View, error) {
	events, err := o.Events(ctx, 1)
	if err != nil {
		return nil, err
	}
	v := &View{View: view.Fold(events)}
	for i := range events {
		if events[i].Type == journal.OpPlanned {
			v.planned = append(v.planned, events[i].Op)
		}
	}
	return v, nil
}

// Ops are the operations of one kind, or of all if kind is empty, in the order
// they were planned.
func (o *Operator) Ops(ctx context.Context, kind string) ([]*view.Op, error) {
	v, err := o.View(ctx)
	if err != nil {
		return nil, err
	}
	var out []*view.Op
	for _, op := range v.All() {
		if kind == "" || op.Plan.Kind == kind {
			out = append(out, op)
		}
	}
	return out, nil
}

// AwaitView reads the journal again and again until ok is satisfied with it; ok
// returns "" then, and what is missing otherwise. The view is the last one.
func (o *Operator) AwaitView(ctx context.Context, max time.Duration, ok func(*View) string) (*View, error) {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	missing := "never read"
	for {
		v, err := o.View(ctx)
		switch {
		case err == nil:
			if missing = ok(v); missing == "" {
				return v, nil
			}
		case ctx.Err() == nil:
			missing = err.Error()
		}
		select {
		case <-ctx.Done():
			return v, fmt.Errorf("waiting %v for the journal: %s", max, missing)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Verify checks the journal, in the process if one runs, and returns what is
// wrong with it.
func (o *Operator) Verify(ctx context.Context) error {
	r, err := o.Read(ctx)
	if err != nil {
		return fmt.Errorf("verifying the operator's journal: %w", err)
	}
	defer func() { _ = r.Close() }()
	report, err := r.Verify(ctx)
	if err != nil {
		return fmt.Errorf("verifying the operator's journal: %w", err)
	}
	return report.Err()
}

// Account is what somebody needs who wants to know why a test failed: the end
// of the log, the list of operations, and in full those that have not
// completed and the last one.
func (o *Operator) Account(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var b strings.Builder
	show := func(args ...string) {
		out, err := o.CLI(ctx, append([]string{"journal"}, args...)...)
		fmt.Fprintf(&b, "--- anthill journal %s\n%s\n", strings.Join(args, " "), out)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	fmt.Fprintf(&b, "--- end of %s\n%s\n", o.LogFile(), local.Tail(o.LogFile(), 40))
	show("ls", "--all")
	ops, err := o.Ops(ctx, "")
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	for i, shown := len(ops)-1, 0; i >= 0 && shown < accountMax; i-- {
		if i == len(ops)-1 || ops[i].State != view.Completed {
			show("show", "--events", ops[i].ID.String())
			shown++
		}
	}
	return b.String()
}

// accountMax is how many operations an account shows in full.
const accountMax = 5
