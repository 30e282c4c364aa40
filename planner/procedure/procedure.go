package procedure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Procedure is the complete set of Actions that make the state match the
// spec, for one version of the deployed configuration. Immutable; safe for
// concurrent use as long as its Actions are.
type Procedure[S, O any] struct {
	minVersion, version int
	actions             []*Action[S, O] // as listed
	total               int             // at any depth
}

// New builds a procedure. Versions are those of deployed configurations, not of
// releases: minVersion is the oldest one it can take over, version the one it
// leaves behind; 1 <= minVersion <= version. Refused are also: no action, an
// action without name or Evaluate, one name for two actions, and a cycle, which
// is named.
func New[S, O any](minVersion, version int, actions ...*Action[S, O]) (*Procedure[S, O], error) {
	switch {
	case minVersion < 1 || minVersion > version:
		return nil, fmt.Errorf("procedure %d: minimum version %d is not within 1 and %d", version, minVersion, version)
	case len(actions) == 0:
		return nil, fmt.Errorf("procedure %d: no actions", version)
	}
	c := checker[S, O]{byName: map[string]*Action[S, O]{}, state: map[*Action[S, O]]visit{}}
	for _, a := range actions {
		if err := c.check(a); err != nil {
			return nil, fmt.Errorf("procedure %d: %w", version, err)
		}
	}
	return &Procedure[S, O]{minVersion: minVersion, version: version, actions: slices.Clone(actions), total: len(c.byName)}, nil
}

// Version is the version of the configuration the procedure leaves behind.
func (p *Procedure[S, O]) Version() int { return p.version }

// MinVersion is the oldest version the procedure can take over.
func (p *Procedure[S, O]) MinVersion() int { return p.minVersion }

// A Report is what one cycle came to.
type Report[O any] struct {
	// Results has one entry for every Action at any depth, by name.
	Results []Result
	// Changes are those of all Actions, by the name of the Action.
	Changes []O
	// Converged is set when every goal holds.
	Converged bool
}

// Run evaluates the procedure once over s.
func (p *Procedure[S, O]) Run(s S) Report[O] {
	c := cycle[S, O]{state: s, done: make(map[*Action[S, O]]*evaluated[O], p.total)}
	for _, a := range p.actions {
		c.evaluate(a)
	}
	all := make([]*evaluated[O], 0, len(c.done))
	for _, e := range c.done {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *evaluated[O]) int { return cmp.Compare(a.Name, b.Name) })

	r := Report[O]{Results: make([]Result, len(all)), Converged: true}
	for i, e := range all {
		r.Results[i] = e.Result
		r.Changes = append(r.Changes, e.changes...)
		r.Converged = r.Converged && e.Status == True
	}
	return r
}

// A cycle remembers what it has evaluated, and nothing outlives it.
type cycle[S, O any] struct {
	state S
	done  map[*Action[S, O]]*evaluated[O]
}

type evaluated[O any] struct {
	Result
	changes []O
}

// evaluate runs a and all it requires, each unless it has run. Every requirement
// is evaluated even when an earlier one is unmet, so that what is reported does
// not depend on which other actions happened to come first.
func (c *cycle[S, O]) evaluate(a *Action[S, O]) *evaluated[O] {
	if e, ok := c.done[a]; ok {
		return e
	}
	e := &evaluated[O]{Result: Result{Name: a.Name, Status: Unknown}}
	for _, r := range a.Requires {
		if got := c.evaluate(r); got.Status != True && e.Unmet == "" {
			e.Unmet = r.Name
			e.Message = fmt.Sprintf("needs %s, which is %s", r.Name, got.Status)
		}
	}
	if e.Unmet == "" {
		out, err := a.Evaluate(c.state)
		e.settle(out, err)
	}
	c.done[a] = e
	return e
}

func (e *evaluated[O]) settle(out Outcome[O], err error) {
	switch {
	case err != nil:
		e.Err = err
		e.Message = err.Error()
		return
	case out.Status == True && len(out.Changes) > 0:
		out.Status = False // asking for a change and calling it done is the one lie that would stick
	case out.Status != True && out.Status != False:
		out.Status = Unknown
	}
	e.Status, e.Message, e.changes = out.Status, out.Message, out.Changes
}

type visit int

const (
	open visit = iota + 1
	closed
)

type checker[S, O any] struct {
	byName map[string]*Action[S, O]
	state  map[*Action[S, O]]visit
	path   []string
}

func (c *checker[S, O]) check(a *Action[S, O]) error {
	switch {
	case a == nil:
		return errors.New("an action is nil")
	case a.Name == "":
		return errors.New("an action has no name")
	case a.Evaluate == nil:
		return fmt.Errorf("action %q cannot be evaluated", a.Name)
	}
	c.path = append(c.path, a.Name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	switch c.state[a] {
	case open:
		at := slices.Index(c.path, a.Name)
		return fmt.Errorf("actions require each other: %s", strings.Join(c.path[at:], " -> "))
	case closed:
		return nil
	}
	if other, taken := c.byName[a.Name]; taken && other != a {
		return fmt.Errorf("two actions are named %q", a.Name)
	}
	c.byName[a.Name], c.state[a] = a, open
	for _, r := range a.Requires {
		if err := c.check(r); err != nil {
			return err
		}
	}
	c.state[a] = closed
	return nil
}
