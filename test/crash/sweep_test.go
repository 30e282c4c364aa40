package crash

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	from *snapshot
	want outcome
}

// TestSweep kills the real operator at its crash points: every one of every kind
// of operation, or a sample of them. Whatever is killed where, the pool ends as
// without, every effect was applied once, and the journal verifies.
func TestSweep(t *testing.T) {
	r := api(t)
	rng := seeded(t)
	ctx := t.Context()
	targets := prepareAll(t)
	if t.Failed() {
		t.FailNow()
	}
	if at := os.Getenv(envPoint); at != "" {
		targets = slices.DeleteFunc(targets, func(c target) bool { return c.String() != at })
	}
	total := len(targets)
	targets = spread(rng, targets)
	began := time.Now()
	var mu sync.Mutex
	var next, covered, missed int
	each(sweepWorkers, func() bool {
		mu.Lock()
		if next == len(targets) || t.Failed() || !full() && next >= sweepLeast && time.Since(began) > sweepBudget {
			mu.Unlock()
			return false
		}
		c := targets[next]
		next++
		mu.Unlock()
		s, err := newSimulation(ctx, r, c.binary(), c.servers, c.from)
		if s != nil {
			defer s.close()
		}
		var got outcome
		started := time.Now()
		if err == nil {
			got, err = s.run(ctx, c.scenario, c.from, c.at, "")
		}
		mu.Lock()
		defer mu.Unlock()
		took := time.Since(started)
		t.Logf("%5.1f s  %s", took.Seconds(), c)
		switch {
		case err != nil:
			account := ""
			if s != nil && s.op != nil {
				account = s.op.Account(ctx)
			}
			t.Errorf("killed at %s=%q: %v\n%s", envPoint, c, err, account)
		case !got.died:
			missed++ // the wait it belongs to was over sooner this time
		default:
			if took > slow {
				t.Logf("it took long:\n%s", s.op.Account(ctx))
			}
			covered++
			c.check(t, c.at, got, s)
		}
		return true
	})
	t.Logf("covered %d of %d points (%d were not reached again); %d scenarios", covered, total, missed, len(scenarios()))
	if covered == 0 {
		t.Error("no point was covered")
	}
}

// check compares an end with the one without faults.
func (c *prepared) check(t *testing.T, at string, got outcome, s *simulation) {
	t.Helper()
	if d := cmp.Diff(c.want.world, got.world); d != "" {
		t.Errorf("%s, %s: the pool does not end as without (-want +got):\n%s\n%s", c.name, at, d, s.op.Account(context.Background()))
	}
	if d := cmp.Diff(c.want.effects, got.effects); d != "" {
		t.Errorf("%s, %s: effects differ (-want +got):\n%s\n%s", c.name, at, d, s.op.Account(context.Background()))
	}
}

// prepareAll prepares every scenario and lists their points.
func prepareAll(t *testing.T) []target {
	t.Helper()
	r := api(t)
	var targets []target
	var mu sync.Mutex
	list := scenarios()
	if at := os.Getenv(envPoint); at != "" {
		list = slices.DeleteFunc(list, func(sc *scenario) bool { return !strings.HasPrefix(at, sc.name+" ") })
	}
	var next atomic.Int64
	each(sweepWorkers, func() bool {
		i := int(next.Add(1)) - 1
		if i >= len(list) {
			return false
		}
		sc := list[i]
		began := time.Now()
		from, points, want, err := prepare(t.Context(), t, r, sc)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s: %v", sc.name, err)
			return true
		}
		t.Logf("%-12s %3d points, %2d effects, prepared in %.1f s", sc.name, len(points), len(want.effects), time.Since(began).Seconds())
		p := &prepared{scenario: sc, from: from, want: want}
		for _, at := range points {
			targets = append(targets, target{prepared: p, at: at})
		}
		return true
	})
	slices.SortFunc(targets, func(a, b target) int {
		return strings.Compare(a.String(), b.String())
	})
	return targets
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
