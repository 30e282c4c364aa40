package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

// actor is who the journal says decided.
const actor = "planner"

// appendMax bounds the events of one append. A larger decision is written in
// parts, in order; if the process ends in between, the rest is planned anew.
const appendMax = 256

// A batch is what goes into one append.
type batch struct {
	guard  journal.Guard
	events []journal.Event
}

func newBatch(epoch journal.Epoch) *batch {
	return &batch{guard: journal.Guard{Epoch: epoch, OpVer: map[journal.OpID]uint64{}}}
}

// record writes the decision to the journal. Each part holds only if the
// operations it ends are as the planner saw them and no open operation has an
// intent it plans; else errAgain.
func (r *Reconciler) record(ctx context.Context, c *cycle) error {
	batches, err := r.batches(c)
	if err != nil {
		return err
	}
	for _, b := range batches {
		_, err := r.journal.Append(ctx, b.guard, b.events...)
		switch {
		case journal.IsConflict(err):
			return fmt.Errorf("recording the plan for cluster %q: %w", c.key, errors.Join(errAgain, err))
		case err != nil:
			return fmt.Errorf("recording the plan for cluster %q: %w", c.key, err)
		}
		r.logBatch(ctx, b)
	}
	return nil
}

// batches turns the decision into events: endings first, so that the locks and
// intents of what ends are free for what takes its place. An operation that has
// started is superseded only together with what takes its place, so those two
// are never in different parts.
func (r *Reconciler) batches(c *cycle) ([]*batch, error) {
	ids, by, err := r.opIDs(c.decision.Plan)
	if err != nil {
		return nil, err
	}
	vers := map[journal.OpID]uint64{}
	for i := range c.snapshot.Open {
		vers[c.snapshot.Open[i].ID] = c.snapshot.Open[i].Ver
	}
	b := newBatch(r.opts.Epoch)
	out := []*batch{b}
	room := func(n int) {
		if len(b.events) > 0 && len(b.events)+n > appendMax {
			b = newBatch(r.opts.Epoch)
			out = append(out, b)
		}
	}
	add := func(ev journal.Event) {
		room(1)
		ev.Actor = actor
		b.events = append(b.events, ev)
	}
	end := func(t journal.Type, e planner.Ending) error {
		ver, open := vers[e.Op]
		if !open {
			return fmt.Errorf("planning for cluster %q ends operation %s, which is not open", c.key, e.Op)
		}
		ev, err := journal.New(t, e.Op, journal.Decision{Reason: e.Reason, By: by[e.Op]})
		if err != nil {
			return err
		}
		add(ev)
		b.guard.OpVer[e.Op] = ver
		return nil
	}
	takenOver := map[journal.OpID]planner.Ending{}
	for _, e := range c.decision.Supersede {
		if by[e.Op] != (journal.OpID{}) {
			takenOver[e.Op] = e
			continue
		}
		if err := end(journal.OpSuperseded, e); err != nil {
			return nil, err
		}
	}
	for _, e := range c.decision.Cancel {
		if err := end(journal.OpCancelling, e); err != nil {
			return nil, err
		}
	}
	for i, p := range c.decision.Plan {
		if !c.identified(p.Plan.Scope) {
			return nil, fmt.Errorf("the plan %s of %s belongs to pool %q, the cluster's is %q", p.Plan.Kind, p.Plan.Target, p.Plan.Scope, c.cluster.Status.PoolID)
		}
		for _, key := range p.After {
			id, ok := ids[key]
			if !ok {
				return nil, fmt.Errorf("the plan %s of %s comes after %q, which is not planned", p.Plan.Kind, p.Plan.Target, key)
			}
			p.Plan.After = append(slices.Clip(p.Plan.After), id)
		}
		room(len(p.Plan.Supersedes) + 1)
		for _, old := range p.Plan.Supersedes {
			if e, ok := takenOver[old]; ok { // else an earlier plan took its place too
				if err := end(journal.OpSuperseded, e); err != nil {
					return nil, err
				}
				delete(takenOver, old)
			}
		}
		ev, err := journal.New(journal.OpPlanned, ids[keyOf(i, p)], p.Plan)
		if err != nil {
			return nil, err
		}
		add(ev)
		b.guard.OpVer[ev.Op] = 0
		if p.Plan.Intent != "" {
			b.guard.IntentAbsent = append(b.guard.IntentAbsent, p.Plan.Intent)
		}
	}
	if len(b.events) == 0 {
		out = out[:len(out)-1]
	}
	return out, nil
}

// opIDs names the planned operations, and says which of them takes the place
// of an operation that ends.
func (r *Reconciler) opIDs(plan []planner.Planned) (ids map[string]journal.OpID, by map[journal.OpID]journal.OpID, err error) {
	ids, by = make(map[string]journal.OpID, len(plan)), map[journal.OpID]journal.OpID{}
	for i, p := range plan {
		id, err := r.opts.IDs.Op()
		if err != nil {
			return nil, nil, fmt.Errorf("making an operation id: %w", err)
		}
		key := keyOf(i, p)
		if _, dup := ids[key]; dup {
			return nil, nil, fmt.Errorf("two plans have the key %q", key)
		}
		ids[key] = id
		for _, old := range p.Plan.Supersedes {
			by[old] = id
		}
	}
	return ids, by, nil
}

// keyOf is the key of a plan; one without gets one that nobody refers to.
func keyOf(i int, p planner.Planned) string {
	if p.Key == "" {
		return fmt.Sprintf("\x00%d", i)
	}
	return p.Key
}

func (r *Reconciler) logBatch(ctx context.Context, b *batch) {
	l := log.FromContext(ctx)
	for i := range b.events {
		ev := &b.events[i]
		op, err := r.view.Op(ev.Op)
		if err != nil {
			l.Error(err, "operation recorded but not readable", "operation", ev.Op)
			continue
		}
		kv := []any{"operation", ev.Op, "kind", op.Plan.Kind, "target", op.Plan.Target}
		switch ev.Type {
		case journal.OpPlanned:
			l.Info("operation planned", append(kv, "reason", op.Plan.Reason.Difference, "action", op.Plan.Reason.Action,
				"generation", op.Plan.Reason.Generation)...)
		case journal.OpSuperseded:
			l.Info("operation superseded", append(kv, "reason", reasonOf(op.Decision))...)
		default:
			l.Info("operation asked to stop", append(kv, "reason", reasonOf(op.Decision))...)
		}
	}
}

func reasonOf(d *journal.Decision) string {
	if d == nil {
		return ""
	}
	return d.Reason
}
