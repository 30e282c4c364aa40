package procedure

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// world says for each goal what its action shall find, and counts.
type world struct {
	mu    sync.Mutex
	says  map[string]Status
	fails map[string]error
	asks  map[string][]string
	ran   map[string]int
}

func newWorld() *world {
	return &world{says: map[string]Status{}, fails: map[string]error{}, asks: map[string][]string{}, ran: map[string]int{}}
}

func goal(name string, requires ...*Action[*world, string]) *Action[*world, string] {
	return &Action[*world, string]{Name: name, Requires: requires, Evaluate: func(w *world) (Outcome[string], error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ran[name]++
		status, said := w.says[name]
		if !said {
			status = True
		}
		return Outcome[string]{Status: status, Message: "seen " + string(status), Changes: w.asks[name]}, w.fails[name]
	}}
}

func mustNew(t *testing.T, actions ...*Action[*world, string]) *Procedure[*world, string] {
	t.Helper()
	p, err := New(1, 1, actions...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return p
}

func TestRun(t *testing.T) {
	broken := errors.New("cannot look")
	cases := map[string]struct {
		reason string
		set    func(w *world)
		want   Report[string]
	}{
		"AllTrue": {
			reason: "every goal holds, so the procedure has converged",
			set:    func(*world) {},
			want: Report[string]{Converged: true, Results: []Result{
				{Name: "a", Status: True, Message: "seen True"},
				{Name: "b", Status: True, Message: "seen True"},
				{Name: "c", Status: True, Message: "seen True"},
			}},
		},
		"PrerequisiteFalse": {
			reason: "what requires an unmet goal is Unknown, names it, and does not run; at any depth",
			set:    func(w *world) { w.says["c"] = False; w.asks["c"] = []string{"make c"} },
			want: Report[string]{Changes: []string{"make c"}, Results: []Result{
				{Name: "a", Status: Unknown, Message: "needs b, which is Unknown", Unmet: "b"},
				{Name: "b", Status: Unknown, Message: "needs c, which is False", Unmet: "c"},
				{Name: "c", Status: False, Message: "seen False"},
			}},
		},
		"PrerequisiteFails": {
			reason: "R17: the prerequisite's own error is reported beside the dependents' Unknown",
			set:    func(w *world) { w.fails["c"] = broken; w.asks["c"] = []string{"make c"} },
			want: Report[string]{Results: []Result{
				{Name: "a", Status: Unknown, Message: "needs b, which is Unknown", Unmet: "b"},
				{Name: "b", Status: Unknown, Message: "needs c, which is Unknown", Unmet: "c"},
				{Name: "c", Status: Unknown, Message: "cannot look", Err: broken},
			}},
		},
		"TopLevelFails": {
			reason: "D4: an error in a listed action does not drop the other results",
			set:    func(w *world) { w.fails["a"] = broken },
			want: Report[string]{Results: []Result{
				{Name: "a", Status: Unknown, Message: "cannot look", Err: broken},
				{Name: "b", Status: True, Message: "seen True"},
				{Name: "c", Status: True, Message: "seen True"},
			}},
		},
		"ChangedSomething": {
			reason: "R12: an action that asks for a change is not True, whatever it says",
			set:    func(w *world) { w.asks["a"] = []string{"make a"} },
			want: Report[string]{Changes: []string{"make a"}, Results: []Result{
				{Name: "a", Status: False, Message: "seen True"},
				{Name: "b", Status: True, Message: "seen True"},
				{Name: "c", Status: True, Message: "seen True"},
			}},
		},
		"NoStatus": {
			reason: "an outcome without a status tells nothing",
			set:    func(w *world) { w.says["a"] = "" },
			want: Report[string]{Results: []Result{
				{Name: "a", Status: Unknown, Message: "seen "},
				{Name: "b", Status: True, Message: "seen True"},
				{Name: "c", Status: True, Message: "seen True"},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := goal("c")
			p := mustNew(t, goal("a", goal("b", c)))
			w := newWorld()
			tc.set(w)
			if diff := cmp.Diff(tc.want, p.Run(w), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// D1: what lies two levels below a listed action is looked at again in the next
// cycle.
func TestRunForgetsAtEveryDepth(t *testing.T) {
	p := mustNew(t, goal("a", goal("b", goal("c"))))
	w := newWorld()
	if r := p.Run(w); !r.Converged {
		t.Fatalf("first cycle: not converged: %+v", r.Results)
	}
	w.says["c"] = False
	if r := p.Run(w); r.Converged {
		t.Errorf("second cycle: converged although c does not hold: %+v", r.Results)
	}
	if w.ran["c"] != 2 {
		t.Errorf("c ran %d times in two cycles, want 2", w.ran["c"])
	}
}

// A diamond with a shared requirement, also listed itself: each runs once, and
// no order of listing changes anything.
func TestOrderDoesNotMatter(t *testing.T) {
	base := goal("base")
	left, right := goal("left", base), goal("right", base)
	top := goal("top", left, right)
	other := goal("other")
	listed := []*Action[*world, string]{top, left, right, base, other}

	run := func(order []*Action[*world, string]) Report[string] {
		w := newWorld()
		w.says["left"], w.says["right"] = False, False
		w.asks["left"], w.asks["right"], w.asks["other"] = []string{"l1", "l2"}, []string{"r"}, []string{"o"}
		r := mustNew(t, order...).Run(w)
		for name, n := range w.ran {
			if n != 1 {
				t.Fatalf("%s ran %d times in one cycle", name, n)
			}
		}
		if w.ran["top"] != 0 {
			t.Fatal("top ran although what it requires is not met")
		}
		return r
	}
	want := run(listed)
	if diff := cmp.Diff([]string{"l1", "l2", "o", "r"}, want.Changes); diff != "" {
		t.Fatalf("changes (-want +got):\n%s", diff)
	}
	rnd := rand.New(rand.NewSource(1))
	for range 200 {
		order := append([]*Action[*world, string](nil), listed...)
		rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if diff := cmp.Diff(want, run(order)); diff != "" {
			t.Fatalf("another order of listing gave another report (-want +got):\n%s", diff)
		}
	}
}

func TestRunConcurrently(t *testing.T) {
	p := mustNew(t, goal("a", goal("b")))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			w := newWorld()
			if i%2 == 0 {
				w.says["b"] = False
			}
			for range 100 {
				if got, want := p.Run(w).Converged, i%2 != 0; got != want {
					t.Errorf("run %d: converged %t, want %t: cycles share a cache", i, got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestNewRefuses(t *testing.T) {
	a, b, c := goal("a"), goal("b"), goal("c")
	a.Requires, b.Requires, c.Requires = []*Action[*world, string]{b}, []*Action[*world, string]{c}, []*Action[*world, string]{b}
	self := goal("self")
	self.Requires = []*Action[*world, string]{self}

	cases := map[string]struct {
		reason       string
		min, version int
		actions      []*Action[*world, string]
		want         string
	}{
		"Cycle":         {"a cycle below a listed action is named", 1, 1, []*Action[*world, string]{a}, "procedure 1: actions require each other: b -> c -> b"},
		"SelfCycle":     {"so is the shortest one", 1, 1, []*Action[*world, string]{self}, "procedure 1: actions require each other: self -> self"},
		"OneNameTwice":  {"results are told apart by name", 1, 1, []*Action[*world, string]{goal("x"), goal("y", goal("x"))}, `procedure 1: two actions are named "x"`},
		"NoActions":     {"a procedure without goals would always have converged", 1, 1, nil, "procedure 1: no actions"},
		"NoName":        {"a result needs a name", 1, 1, []*Action[*world, string]{goal("")}, "procedure 1: an action has no name"},
		"Nil":           {"a forgotten variable", 1, 1, []*Action[*world, string]{goal("x", nil)}, "procedure 1: an action is nil"},
		"NoEvaluate":    {"a goal that cannot be looked at", 1, 1, []*Action[*world, string]{{Name: "x"}}, `procedure 1: action "x" cannot be evaluated`},
		"VersionZero":   {"D7: versions count from 1", 0, 0, []*Action[*world, string]{goal("x")}, "procedure 0: minimum version 0 is not within 1 and 0"},
		"MinAboveItsel": {"it could not even take over its own result", 3, 2, []*Action[*world, string]{goal("x")}, "procedure 2: minimum version 3 is not within 1 and 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.min, tc.version, tc.actions...)
			if got := fmt.Sprint(err); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
