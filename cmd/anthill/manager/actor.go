package manager

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/journal"
)

// people carries out what people ask over the journal's socket, as soon as
// there is an engine to carry it out. Safe for concurrent use.
type people struct {
	engine atomic.Pointer[executor.Engine]
}

var _ journal.Actor = (*people)(nil)

// Act decides about one operation.
func (p *people) Act(ctx context.Context, a journal.Act) (journal.Acted, error) {
	e := p.engine.Load()
	if e == nil {
		return journal.Acted{}, fmt.Errorf("%w: this operator does not act yet; it waits for its lease", journal.ErrUnavailable)
	}
	said, err := e.Decide(ctx, executor.Decision{Verb: a.Verb, Op: a.Op, Step: a.Step, Outcome: a.Outcome,
		Person: a.Person, Reason: a.Reason, Version: a.IfVersion})
	if executor.IsRefused(err) {
		return journal.Acted{}, fmt.Errorf("%w: %w", journal.ErrRefused, err)
	}
	return journal.Acted{Message: said}, err
}
