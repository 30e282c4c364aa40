package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/test/rig"
	"github.com/gluster/anthill/test/seed"
)

// A fault is what goes wrong with one gluster command.
type fault struct {
	name string
	// rule is for the command; its Command is filled in.
	rule sim.Rule
	// then is done once the rule has applied; nil: nothing.
	then func(ctx context.Context, s *simulation) error
	// of limits it to commands that begin with one of these words; nil: all.
	of []string
}

func (f *fault) concerns(command string) bool {
	return f.of == nil || slices.ContainsFunc(f.of, func(words string) bool { return strings.HasPrefix(command, words) })
}

const ruleName = "fault"

var faults = []fault{
	{name: "LostReply", rule: sim.Rule{Lost: true}},
	{name: "LostReplyAndKilled", rule: sim.Rule{Lost: true}, then: restart},
	{name: "LostCommand", rule: sim.Rule{Effect: sim.EffectNever}, then: restart},
	{name: "Hangs", rule: sim.Rule{Effect: sim.EffectHeld}, then: release},
	{name: "HangsAndKilled", rule: sim.Rule{Effect: sim.EffectHeld}, then: func(ctx context.Context, s *simulation) error {
		s.op.Kill() // its request goes on by itself
		if err := errors.Join(s.op.Start(), s.op.AwaitReady(ctx)); err != nil {
			return err
		}
		return release(ctx, s)
	}},
	{name: "Busy", rule: sim.Rule{Effect: sim.EffectNone, Times: 3, Errno: 30802,
		Text: "Another transaction is in progress. Please try again after some time."}},
	{name: "FailedAfterAll", rule: sim.Rule{Text: "Commit failed on s2. Please check log file for details."}},
	{name: "FailsToLock", rule: sim.Rule{Effect: sim.EffectNone, Times: 2, Text: "Locking failed on s2. Please check log file for details."}},
}

// A commit that only one server made is a split that an operator of this version
// does not repair. It sees it, changes nothing, and goes on once glusterds have
// been restarted, which then learn from each other.
var partial = fault{name: "CommittedOnOne", rule: sim.Rule{On: []string{"s1"}},
	of: []string{"volume create", "volume set " + volumeName, "volume add-brick", "volume start"},
	then: func(ctx context.Context, s *simulation) error {
		before := len(s.pool.Effects())
		if err := s.differs(ctx); err != nil {
			return err
		}
		if n := len(s.pool.Effects()); n != before {
			return fmt.Errorf("%d effects although the servers' views differ: %+v", n-before, s.pool.Effects()[before:])
		}
		for _, name := range s.pool.Servers()[1:] {
			if err := errors.Join(s.pool.Kill(name), s.pool.Start(name)); err != nil {
				return err
			}
		}
		return nil
	}}

// differs waits until the cluster says that its servers do not agree.
func (s *simulation) differs(ctx context.Context) error {
	c := rig.Cluster(s.ns, cluster)
	return s.rig.Await(ctx, convergeMax, c, func() string {
		says := ""
		for _, cond := range c.Status.Conditions {
			says += cond.Message + "; "
		}
		if !strings.Contains(says, "do not agree") {
			return "the cluster says nothing of views that differ: " + says
		}
		return ""
	})
}

// longFaults take a minute: nothing tells that the command never arrived but
// time.
var longFaults = []fault{
	{name: "LostCommandAndNobodyDies", rule: sim.Rule{Effect: sim.EffectNever}},
}

func restart(ctx context.Context, s *simulation) error {
	s.op.Kill()
	return errors.Join(s.op.Start(), s.op.AwaitReady(ctx))
}

// release lets the command go on that hangs.
func release(_ context.Context, s *simulation) error { return s.pool.Release(ruleName) }

// TestFaults has each gluster command of every kind of operation go wrong in
// every way, or a sample of that. The pool ends as without, and each effect was
// applied once.
func TestFaults(t *testing.T) {
	r := api(t)
	rng := seed.Rand(t)
	kinds := append(slices.Clone(faults), partial)
	if seed.Full() {
		kinds = append(kinds, longFaults...)
	}
	type task struct {
		*prepared
		fault
		command string
	}
	var tasks []task
	for _, p := range prepareAll(t) {
		for _, command := range commands(p.want.effects) {
			for _, f := range kinds {
				if !f.concerns(command) {
					continue
				}
				tasks = append(tasks, task{p, f, command})
			}
		}
	}
	slices.SortFunc(tasks, func(a, b task) int { return strings.Compare(a.command+a.fault.name, b.command+b.fault.name) })
	rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	total := len(tasks)
	if only := os.Getenv("ANTHILL_TEST_FAULT"); only != "" {
		tasks = slices.DeleteFunc(tasks, func(c task) bool { return c.fault.name != only })
	}
	if !seed.Full() {
		tasks = tasks[:min(len(tasks), faultsSample)]
	}
	var mu sync.Mutex
	next, covered := 0, map[string]int{}
	began := time.Now()
	each(sweepWorkers, func() bool {
		mu.Lock()
		if next == len(tasks) {
			mu.Unlock()
			return false
		}
		c := tasks[next]
		next++
		mu.Unlock()
		what := fmt.Sprintf("%s of %q", c.fault.name, c.command)
		started := time.Now()
		s, got, err := attempt(t.Context(), r, c.prepared, trial{during: func(ctx context.Context, s *simulation) error {
			return inject(ctx, s, c.fault, c.command)
		}})
		defer s.close()
		took := time.Since(started)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, s.account(t.Context()))
			return true
		}
		if took > slow {
			t.Logf("%s took %.0f s:\n%s", what, took.Seconds(), s.account(t.Context()))
		}
		covered[c.fault.name]++
		c.check(t, what, got, s)
		return true
	})
	t.Logf("covered %d of %d faults in %.0f s: %v", len(tasks), total, time.Since(began).Seconds(), covered)
}

// faultsSample is how many faults are tried when not all are.
const faultsSample = 24

// commands lists the gluster commands among effects, as far as they are the
// same in every run.
func commands(effects map[string]int) []string {
	var out []string
	for what := range effects {
		words, ok := strings.CutPrefix(what, "run ")
		if !ok || strings.HasPrefix(words, "system::") { // which takes part in no transaction
			continue
		}
		kept := []string{}
		for w := range strings.FieldsSeq(words) {
			if strings.Contains(w, "<id>") {
				break
			}
			kept = append(kept, w)
		}
		out = append(out, strings.Join(kept, " "))
	}
	return out
}

// inject adds the fault's rule and waits until it has applied.
func inject(ctx context.Context, s *simulation, f fault, command string) error {
	rule := f.rule
	rule.Name, rule.Command = ruleName, command
	if err := s.pool.AddRule(rule); err != nil {
		return err
	}
	if err := s.op.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, convergeMax)
	defer cancel()
	if err := eventually(ctx, func() error {
		if s.pool.Rules()[0].Applied == 0 {
			return fmt.Errorf("%q was never sent", command)
		}
		return nil
	}); err != nil {
		return err
	}
	if f.then == nil {
		return nil
	}
	return f.then(ctx, s)
}
