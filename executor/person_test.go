package executor

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

func TestCancelUndoesWhatWasDone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.w.prepare["p"] = func() error { return Errorf(Transient, "Held", "held") }
		id := r.plan([]string{"pool"}, nil, step("a", "undo@1", journal.Compensatable), step("b", "do@1", journal.Compensatable),
			step("c", "undo@1", journal.Compensatable), step("p", "do@1", journal.Pivot))
		r.await(id, "at the pivot", func(o *view.Op) bool { return o.Current() == 3 })
		if _, err := r.decide(Decision{Verb: "cancel", Op: id}); err != nil {
			t.Fatal(err)
		}
		r.awaitState(id, view.Cancelled)
		equal(t, "undone", strings.Join(r.w.undone, " "), "c a")
	})
}

// A step that waits has nothing that could still land.
func TestCancelDuringAWait(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.plan(nil, nil, step("a", "undo@1", journal.Compensatable), step("w", "wait@1", journal.Waiting))
		r.await(id, "waiting", func(o *view.Op) bool { return o.Current() == 1 && o.Steps[1].State == view.Started })
		if _, err := r.decide(Decision{Verb: "cancel", Op: id}); err != nil {
			t.Fatal(err)
		}
		r.awaitState(id, view.Cancelled)
		equal(t, "undone", strings.Join(r.w.undone, " "), "a")
	})
}

func TestCancelWaitsForACommandThatMayStillLand(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		over := false
		r.w.act["a"] = func(int) error { return errLost }
		r.w.over["a"] = func() (bool, string, error) { return over, "still runs", nil }
		id := r.plan(nil, nil, step("a", "settle@1", journal.Compensatable), step("p", "do@1", journal.Pivot))
		r.await(id, "unknown", func(o *view.Op) bool { return o.Steps[0].State == view.Unknown })
		if _, err := r.decide(Decision{Verb: "abandon", Op: id}); !IsRefused(err) {
			t.Errorf("abandoning an operation whose command may still land: %v; want a refusal", err)
		}
		if _, err := r.decide(Decision{Verb: "cancel", Op: id}); err != nil {
			t.Fatal(err)
		}
		op := r.awaitState(id, view.Cancelling)
		if op.State != view.Cancelling {
			t.Errorf("%s before the command was over", op.State)
		}
		r.w.mu.Lock()
		over = true
		r.w.mu.Unlock()
		r.awaitState(id, view.Cancelled)
	})
}

func TestCancelSeesWhatLandedWhileItAsked(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		asked := false
		r.w.act["a"] = func(int) error { return errLost }
		r.w.over["a"] = func() (bool, string, error) {
			r.w.mu.Lock()
			defer r.w.mu.Unlock()
			r.w.done["a"] = asked
			return asked, "still runs", nil
		}
		id := r.plan(nil, nil, step("a", "settle@1", journal.Compensatable), step("p", "do@1", journal.Pivot))
		r.await(id, "unknown", func(o *view.Op) bool { return o.Steps[0].State == view.Unknown })
		if _, err := r.decide(Decision{Verb: "cancel", Op: id}); err != nil {
			t.Fatal(err)
		}
		r.w.mu.Lock()
		asked = true
		r.w.mu.Unlock()
		r.awaitState(id, view.Cancelled)
		if s := r.story(id); !strings.Contains(s, "step.succeeded:a") {
			t.Errorf("an effect that is there was not seen: %s", s)
		}
	})
}

func TestNothingIsCancelledAfterThePivot(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.plan(nil, nil, step("p", "do@1", journal.Pivot), step("w", "wait@1", journal.Waiting))
		r.await(id, "past the pivot", func(o *view.Op) bool { return o.Current() == 1 })
		if _, err := r.decide(Decision{Verb: "cancel", Op: id}); !IsRefused(err) {
			t.Errorf("cancel after the pivot: %v; want a refusal", err)
		}
	})
}

// Past the pivot a parked wait can be let go: it only looked. Nothing else can.
func TestAbandonAWait(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		stage  journal.Stage
		done   bool
	}{
		"Waiting": {"it only looked", "wait@1", journal.Waiting, true},
		"Acting":  {"its command may still land", "do@1", journal.Retriable, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				acted := false
				r.w.act["w"] = func(int) error { acted = true; return nil }
				r.w.probe["w"] = func() (Observation, error) {
					if acted {
						return Observation{Verdict: InProgress, Message: "under way"}, nil
					}
					return Observation{Verdict: NotDone, Message: "not yet"}, nil
				}
				id := r.plan([]string{"pool"}, nil, step("p", "do@1", journal.Pivot), step("w", tc.name, tc.stage))
				op := r.awaitState(id, view.Suspended)
				equal(t, "cause", op.Suspended.Cause, "DeadlineExceeded")
				_, err := r.decide(Decision{Verb: "abandon", Op: id})
				if (err == nil) != tc.done {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				if tc.done {
					r.awaitState(id, view.Abandoned)
				}
			})
		})
	}
}

// While an operation only waits another one may take its place and its locks;
// what was done is not undone.
func TestTakeOverAWait(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.plan([]string{"pool"}, nil, step("a", "undo@1", journal.Compensatable), step("p", "do@1", journal.Pivot), step("w", "wait@1", journal.Waiting))
		r.await(id, "waiting", func(o *view.Op) bool { return o.Current() == 2 && o.Steps[2].State == view.Started })
		next := r.takeOver(id, []string{"pool"}, step("b", "do@1", journal.Pivot))
		r.awaitState(next, view.Completed)
		r.awaitState(id, view.Superseded)
		equal(t, "undone", strings.Join(r.w.undone, " "), "")
		if now, err := r.state.Snapshot(); err != nil || len(now.Tombstones) != 0 || len(now.Open) != 0 {
			t.Errorf("open %v, tombstones %v, %v; want none", now.Open, now.Tombstones, err)
		}
	})
}

// What is let go on has all its patience again: it is not parked at once for what
// it was parked for.
func TestRetryIsPatient(t *testing.T) {
	cases := map[string]struct {
		reason string
		cause  string
		step   journal.Step
		act    func(int) error
		after  time.Duration // longer than it took to be parked again
	}{
		"Wait":  {"it waits once more", "DeadlineExceeded", step("w", "wait@1", journal.Waiting), nil, 20 * time.Second},
		"Fails": {"it is tried again", "KeepsFailing", step("w", "do@1", journal.Pivot), func(int) error { return Errorf(Transient, "Broken", "not now") }, 90 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.w.act["w"] = tc.act
				r.w.probe["w"] = func() (Observation, error) {
					if r.w.done["w"] {
						return Observation{Verdict: Done}, nil
					} else if tc.step.Stage == journal.Waiting {
						return Observation{Verdict: InProgress, Message: "under way"}, nil
					}
					return Observation{Verdict: NotDone, Message: "not yet"}, nil
				}
				id := r.plan(nil, nil, tc.step)
				op := r.awaitState(id, view.Suspended)
				equal(t, "cause", op.Suspended.Cause, tc.cause)
				if _, err := r.decide(Decision{Verb: "retry", Op: id}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tc.after)
				if op, err := r.state.Op(id); err != nil || op.State != view.Running {
					t.Errorf("%s: it is %s after a retry, %v", tc.reason, op.State, err)
				}
				r.w.done["w"] = true
				r.awaitState(id, view.Completed)
			})
		})
	}
}

// A step under which the operator died too often is tried again once a person
// says so.
func TestRetryAfterDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.stop()
		r.openIdle()
		id := r.plan([]string{"pool"}, nil, step("a", "do@1", journal.Pivot))
		events := []journal.Event{mustEvent(t, journal.OpStarted, id, nil)}
		for n := 1; n <= 5; n++ {
			intent := mustEvent(t, journal.StepStarted, id, journal.Started{AttemptID: fmt.Sprint(n)})
			intent.Step, intent.Attempt = "a", n
			if _, err := r.j.Append(t.Context(), journal.Guard{}, append(events, intent)...); err != nil {
				t.Fatal(err)
			}
			events = nil
			r.crash()
			r.openIdle()
		}
		r.run()
		defer func() { r.stop() }()
		equal(t, "cause", r.awaitState(id, view.Suspended).Suspended.Cause, "Poison")
		if len(r.w.acts) > 0 {
			t.Errorf("it acted: %v", r.w.acts)
		}
		if _, err := r.decide(Decision{Verb: "retry", Op: id}); err != nil {
			t.Fatal(err)
		}
		r.awaitState(id, view.Completed)
	})
}

func mustEvent(t *testing.T, typ journal.Type, id journal.OpID, payload any) journal.Event {
	t.Helper()
	ev, err := journal.New(typ, id, payload)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestAbandonLeavesATombstone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.w.act["a"] = func(int) error { return Errorf(Permanent, "Bad", "bad") }
		id := r.plan(nil, nil, step("a", "do@1", journal.Pivot))
		op := r.awaitState(id, view.Suspended)
		if _, err := r.decide(Decision{Verb: "abandon", Op: id, Version: op.Ver + 1}); !IsRefused(err) {
			t.Errorf("with another version: %v; want a refusal", err)
		}
		if _, err := r.decide(Decision{Verb: "abandon", Op: id, Version: op.Ver}); err != nil {
			t.Fatal(err)
		}
		now, err := r.state.Snapshot()
		if err != nil || len(now.Tombstones) != 1 {
			t.Fatalf("tombstones %v, %v; want one", now.Tombstones, err)
		}
		if _, err := r.decide(Decision{Verb: "retry", Op: id}); err != nil {
			t.Fatal(err)
		}
		if now, _ = r.state.Snapshot(); len(now.Tombstones) != 0 {
			t.Errorf("tombstones %v after retry; want none", now.Tombstones)
		}
	})
}

func TestResolveSettlesWhatNobodyCanSee(t *testing.T) {
	for outcome, acts := range map[string]int{"done": 1, "not-done": 2} {
		t.Run(outcome, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.w.act["a"] = func(n int) error {
					if n == 1 {
						return errLost
					}
					r.w.done["a"] = true
					return nil
				}
				id := r.plan(nil, nil, step("a", "once@1", journal.Pivot))
				r.awaitState(id, view.Suspended)
				if _, err := r.decide(Decision{Verb: "resolve", Op: id, Step: "a", Outcome: "maybe"}); !IsRefused(err) {
					t.Errorf("outcome maybe: %v; want a refusal", err)
				}
				if _, err := r.decide(Decision{Verb: "resolve", Op: id, Step: "a", Outcome: outcome}); err != nil {
					t.Fatal(err)
				}
				if _, err := r.decide(Decision{Verb: "retry", Op: id}); err != nil {
					t.Fatal(err)
				}
				r.awaitState(id, view.Completed)
				if len(r.w.acts) != acts {
					t.Errorf("%d acts after %s, want %d", len(r.w.acts), outcome, acts)
				}
			})
		})
	}
}

func TestAReasonIsRequired(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.plan([]string{"x"}, nil, step("w", "wait@1", journal.Waiting))
		if _, err := r.e.Decide(t.Context(), Decision{Verb: "cancel", Op: id, Reason: " "}); !IsRefused(err) {
			t.Errorf("without a reason: %v; want a refusal", err)
		}
	})
}
