package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/test/rig"
	"github.com/gluster/anthill/test/seed"
)

const (
	// sweepBudget is about how long a sample of the points may take; the points
	// under way are seen to their end.
	sweepBudget = 80 * time.Second
	// sweepLeast is how many points a sample has on any machine, however slow.
	sweepLeast = 16
	// slow is how long a point may take before its journal is printed: something
	// waits that should not.
	slow = 40 * time.Second
	// failuresMax ends a sweep.
	failuresMax = 5
	// sweepWorkers run at the same time; they mostly wait.
	sweepWorkers = 4
)

// A target is a crash point of a scenario.
type target struct {
	*prepared
	at string
}

// envPoint has one point tried alone: "Grow executor.after-act/...#1", as it was
// printed.
const envPoint = "ANTHILL_TEST_POINT"

func (c target) String() string { return c.name + " " + c.at }

// A prepared scenario has a base to begin from and a run without faults to
// compare with.
type prepared struct {
	*scenario
	from   *snapshot
	points []string // crash points that a run without faults reaches, in order
	want   outcome
}

// TestSweep kills the real operator at its crash points: every one of every kind
// of operation, or a sample of them. Whatever is killed where, the pool ends as
// without, every effect was applied once, and the journal verifies.
func TestSweep(t *testing.T) {
	rng := seed.Rand(t)
	targets := crashPoints(prepareAll(t))
	sweep(t, rng, targets, sweepBudget, func(target) trial { return trial{} }, (*prepared).check)
}

// TestSweepWithoutJournal kills the operator at its crash points and takes its
// journal away: deleted, damaged, or replaced by the copy from before. What was
// under way is finished or dropped; nothing is done twice.
func TestSweepWithoutJournal(t *testing.T) {
	rng := seed.Rand(t)
	targets := slices.DeleteFunc(crashPoints(prepareAll(t)), func(c target) bool { return c.newGate }) // nothing in the API tells when it is done
	var mu sync.Mutex
	sweep(t, rng, targets, sweepBudget/2, func(target) trial {
		mu.Lock()
		defer mu.Unlock()
		return trial{lose: losses[rng.IntN(len(losses))]}
	}, (*prepared).checkLost)
}

// sweep tries targets, all of them or as many as the budget allows.
func sweep(t *testing.T, rng *rand.Rand, targets []target, budget time.Duration, try func(target) trial,
	check func(c *prepared, t *testing.T, at string, got outcome, s *simulation)) {
	t.Helper()
	r := api(t)
	ctx := t.Context()
	if at := os.Getenv(envPoint); at != "" {
		targets = slices.DeleteFunc(slices.Clone(targets), func(c target) bool { return c.String() != at })
	}
	total := len(targets)
	targets = spread(rng, targets)
	began := time.Now()
	var mu sync.Mutex
	var next, covered, missed, failed int
	each(sweepWorkers, func() bool {
		mu.Lock()
		if next == len(targets) || failed == failuresMax || !seed.Full() && next >= sweepLeast && time.Since(began) > budget {
			mu.Unlock()
			return false
		}
		c := targets[next]
		next++
		mu.Unlock()
		trial := try(c)
		trial.at = c.at
		started := time.Now()
		s, got, err := attempt(ctx, r, c.prepared, trial)
		defer s.close()
		took := time.Since(started)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed++
			t.Errorf("killed at %s=%q: %v\n%s", envPoint, c, err, s.account(ctx))
		case !got.died:
			missed++ // the wait it belongs to was over sooner this time
		default:
			if took > slow {
				t.Logf("%s took %.0f s:\n%s", c, took.Seconds(), s.account(ctx))
			}
			covered++
			check(c.prepared, t, c.at, got, s)
		}
		return true
	})
	t.Logf("covered %d of %d points (%d were not reached again) in %.0f s", covered, total, missed, time.Since(began).Seconds())
	if covered == 0 {
		t.Error("no point was covered")
	}
}

// attempt runs a prepared scenario once. The simulation is never nil.
func attempt(ctx context.Context, r *rig.Rig, p *prepared, try trial) (*simulation, outcome, error) {
	s, err := newSimulation(ctx, r, p.binary(), p.servers, p.from)
	if s == nil {
		s = &simulation{}
	}
	if err != nil {
		return s, outcome{}, err
	}
	got, err := s.run(ctx, p.scenario, p.from, try)
	return s, got, err
}

// losses are what can happen to a journal.
var losses = []func(*simulation, *snapshot) error{
	func(s *simulation, _ *snapshot) error { return there(os.Remove(s.op.Journal())) },
	func(s *simulation, _ *snapshot) error { return there(os.Truncate(s.op.Journal(), 6000)) },
	func(s *simulation, from *snapshot) error {
		if len(from.journal) == 0 {
			return there(os.Remove(s.op.Journal()))
		}
		return os.WriteFile(s.op.Journal(), from.journal, 0o600)
	},
}

// there makes nothing of a journal that has not been made yet.
func there(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkLost compares an end that was reached without the journal with the one
// without faults: nothing more was done, and nothing twice. What is left of a
// deleted volume may still be where it was.
func (c *prepared) checkLost(t *testing.T, at string, got outcome, s *simulation) {
	t.Helper()
	for what, n := range got.effects {
		if n > c.want.effects[what] {
			t.Errorf("%s, %s: %q was done %d times, %d are enough\n%s", c.name, at, what, n, c.want.effects[what], s.account(t.Context()))
		}
	}
	want := c.want.world
	if c.name == "Delete" {
		want.Dirs, got.world.Dirs = nil, nil
	}
	if d := cmp.Diff(want, got.world); d != "" {
		t.Errorf("%s, %s: the pool does not end as without (-want +got):\n%s\n%s", c.name, at, d, s.account(t.Context()))
	}
}

// check compares an end with the one without faults.
func (c *prepared) check(t *testing.T, at string, got outcome, s *simulation) {
	t.Helper()
	if d := cmp.Diff(c.want.world, got.world); d != "" {
		t.Errorf("%s, %s: the pool does not end as without (-want +got):\n%s\n%s", c.name, at, d, s.account(context.Background()))
	}
	if d := cmp.Diff(c.want.effects, got.effects); d != "" {
		t.Errorf("%s, %s: effects differ (-want +got):\n%s\n%s", c.name, at, d, s.account(context.Background()))
	}
}

// everything is prepared once.
var everything struct {
	once   sync.Once
	list   []*prepared
	failed error
}

// prepareAll prepares every scenario.
func prepareAll(t *testing.T) []*prepared {
	t.Helper()
	r := api(t)
	e := &everything
	e.once.Do(func() {
		list := scenarios()
		if at := os.Getenv(envPoint); at != "" {
			list = slices.DeleteFunc(list, func(sc *scenario) bool { return !strings.HasPrefix(at, sc.name+" ") })
		}
		var mu sync.Mutex
		var next atomic.Int64
		each(sweepWorkers, func() bool {
			i := int(next.Add(1)) - 1
			if i >= len(list) {
				return false
			}
			began := time.Now()
			p, err := prepare(t.Context(), t.TempDir(), r, list[i])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				e.failed = errors.Join(e.failed, fmt.Errorf("%s: %w", list[i].name, err))
				return true
			}
			t.Logf("%-12s %3d points, %2d effects, prepared in %.1f s", p.name, len(p.points), len(p.want.effects), time.Since(began).Seconds())
			e.list = append(e.list, p)
			return true
		})
		slices.SortFunc(e.list, func(a, b *prepared) int { return strings.Compare(a.name, b.name) })
	})
	if e.failed != nil {
		t.Fatal(e.failed)
	}
	return e.list
}

// crashPoints lists those of all scenarios.
func crashPoints(list []*prepared) []target {
	var out []target
	for _, p := range list {
		for _, at := range p.points {
			out = append(out, target{prepared: p, at: at})
		}
	}
	return out
}

// spread shuffles so that each scenario has its turn, however few are taken.
func spread(rng *rand.Rand, targets []target) []target {
	by := map[string][]target{}
	var names []string
	for _, c := range targets {
		if by[c.name] == nil {
			names = append(names, c.name)
		}
		by[c.name] = append(by[c.name], c)
	}
	for _, n := range names {
		list := by[n]
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	out := make([]target, 0, len(targets))
	for len(out) < len(targets) {
		for _, n := range names {
			if list := by[n]; len(list) > 0 {
				out, by[n] = append(out, list[0]), list[1:]
			}
		}
	}
	return out
}

// each has n goroutines call f until it says false.
func each(n int, f func() bool) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for f() {
				continue
			}
		})
	}
	wg.Wait()
}
