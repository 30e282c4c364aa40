package executor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

func bubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.stop() }()
		f(t, r)
	})
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestChainIsOneCommitPerStep(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		before, err := r.j.Stats()
		if err != nil {
			t.Fatal(err)
		}
		id := r.plan(nil, nil, step("a", "do@1", journal.Compensatable), step("b", "do@1", journal.Pivot, `{"from":"$a.handle"}`),
			step("c", "do@1", journal.Retriable))
		r.awaitState(id, view.Completed)
		equal(t, "story", r.story(id), "op.planned op.started step.started:a step.succeeded:a step.started:b step.succeeded:b step.started:c step.succeeded:c op.completed")
		equal(t, "acts", strings.Join(r.w.acts, "; "), `a ; b {"from":"a-receipt"}; c `)
		after, err := r.j.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if n := after.Commits - before.Commits; n != 5 { // the plan, three intents, the end
			t.Errorf("%d commits for three steps, want 5: plan, one per step, end", n)
		}
	})
}

func TestWhatIsDoneIsAdopted(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.w.done["a"], r.w.done["b"] = true, true
		id := r.plan(nil, nil, step("a", "do@1", journal.Pivot), step("b", "do@1", journal.Retriable))
		op := r.awaitState(id, view.Completed)
		if len(r.w.acts) > 0 || !op.Steps[0].Adopted {
			t.Errorf("acts %v, adopted %v; want none and true", r.w.acts, op.Steps[0].Adopted)
		}
	})
}

func TestOutcomes(t *testing.T) {
	type check struct {
		state view.OpState
		acts  int
		cause string
		back  bool // a conflict leaves it before its pivot
	}
	cases := map[string]struct {
		reason string
		step   string // registered name
		script func(w *world)
		want   check
	}{
		"BusyIsNoFailure": {"somebody else's transaction is waited out",
			"do@1", func(w *world) {
				w.act["a"] = func(n int) error {
					if n < 60 { // more often than a step may fail
						return Errorf(Busy, "AnotherTransaction", "another transaction is in progress")
					}
					w.done["a"] = true
					return nil
				}
			}, check{state: view.Completed, acts: 60}},
		"TransientIsTriedAgain": {"passing errors are retried with back-off",
			"do@1", func(w *world) {
				w.act["a"] = func(n int) error {
					if n < 5 {
						return Errorf(Transient, "PeerDown", "host n2 not connected")
					}
					w.done["a"] = true
					return nil
				}
			}, check{state: view.Completed, acts: 5}},
		"TransientIsBounded": {"a step that keeps failing is parked",
			"do@1", func(w *world) {
				w.act["a"] = func(int) error { return Errorf(Transient, "PeerDown", "host n2 not connected") }
			}, check{state: view.Suspended, acts: failuresMax, cause: "KeepsFailing"}},
		"PermanentParks": {"wrong input does not become right",
			"do@1", func(w *world) {
				w.act["a"] = func(int) error { return Errorf(Permanent, "BadValue", "invalid number format") }
			}, check{state: view.Suspended, acts: 1, cause: "BadValue"}},
		"RefusedByConflict": {"what was refused for what is in the way had no effect: the operation is before its pivot again",
			"do@1", func(w *world) {
				w.act["a"] = func(int) error {
					w.probe["a"] = func() (Observation, error) { return Observation{Verdict: Conflict, Message: "foreign volume"}, nil }
					return Errorf(Transient, "VolumeExists", "it exists")
				}
			}, check{state: view.Suspended, acts: 1, cause: "Conflict", back: true}},
		"ConflictAfterSuccess": {"it may be what the attempt made: only forward",
			"do@1", func(w *world) {
				w.act["a"] = func(int) error {
					w.probe["a"] = func() (Observation, error) { return Observation{Verdict: Conflict, Message: "foreign volume"}, nil }
					return nil
				}
			}, check{state: view.Suspended, acts: 1, cause: "Conflict"}},
		"ConflictParks": {"what is in the way is not acted upon",
			"do@1", func(w *world) {
				w.probe["a"] = func() (Observation, error) { return Observation{Verdict: Conflict, Message: "foreign volume"}, nil }
			}, check{state: view.Suspended, acts: 0, cause: "Conflict", back: true}},
		"ErrorReplyProvesNothing": {"the effect is there, whatever the answer said (LAB-2)",
			"do@1", func(w *world) {
				w.act["a"] = func(int) error { w.done["a"] = true; return Errorf(Permanent, "PostValidation", "failed on n4") }
			}, check{state: view.Completed, acts: 1}},
		"CleanReplyProvesNothing": {"the answer was clean, the effect comes later",
			"settle@1", func(w *world) {
				looks := 0
				w.over["a"] = func() (bool, string, error) { return false, "not yet", nil }
				w.act["a"] = func(int) error { return nil }
				w.probe["a"] = func() (Observation, error) {
					if looks++; looks < 4 {
						return Observation{Verdict: NotDone}, nil
					}
					return Observation{Verdict: Done}, nil
				}
			}, check{state: view.Completed, acts: 1}},
		"LostReplyEffectThere": {"a lost reply is answered by looking",
			"settle@1", func(w *world) {
				w.act["a"] = func(int) error { w.done["a"] = true; return errLost }
			}, check{state: view.Completed, acts: 1}},
		"LostReplyOverWithoutEffect": {"known to be over: tried again",
			"settle@1", func(w *world) {
				w.act["a"] = func(n int) error {
					if n == 1 {
						return errLost
					}
					w.done["a"] = true
					return nil
				}
			}, check{state: view.Completed, acts: 2}},
		"LandsWhileItIsAskedAfter": {"what was seen is older than the news that the attempt is over",
			"settle@1", func(w *world) {
				w.act["a"] = func(int) error { return errLost }
				w.over["a"] = func() (bool, string, error) {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.done["a"] = true
					return true, "", nil
				}
			}, check{state: view.Completed, acts: 1}},
		"LostReplyMayStillLand": {"not known to be over: the same is sent again after a while, nothing is given up",
			"settle@1", func(w *world) {
				w.over["a"] = func() (bool, string, error) { return false, "still runs", nil }
				w.act["a"] = func(n int) error {
					if n < 3 {
						return errLost
					}
					w.done["a"] = true
					return nil
				}
			}, check{state: view.Completed, acts: 3}},
		"AtMostOnceAsks": {"what cannot be told by looking is a person's to say",
			"once@1", func(w *world) { w.act["a"] = func(int) error { return errLost } },
			check{state: view.Suspended, acts: 1, cause: "NeedsDecision"}},
		"ReadErrorsAreNoFailures": {"a server that does not answer holds the step back",
			"do@1", func(w *world) {
				n := 0
				w.probe["a"] = func() (Observation, error) {
					if n++; n < 100 {
						return Observation{}, errors.New("timeout")
					}
					if len(w.acts) == 0 {
						return Observation{Verdict: NotDone}, nil
					}
					return Observation{Verdict: Done}, nil
				}
			}, check{state: view.Completed, acts: 1}},
		"ClosedGuardHoldsBack": {"a guard that is closed is not a failure",
			"do@1", func(w *world) {
				n := 0
				w.prepare["a"] = func() error {
					if n++; n < 100 {
						return Errorf(Transient, "HealPending", "3 heals pending")
					}
					return nil
				}
			}, check{state: view.Completed, acts: 1}},
		"UnknownStepParks": {"a step this binary does not know is never guessed at",
			"later@7", func(*world) {}, check{state: view.Suspended, cause: "VersionUnavailable"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.w.mu.Lock()
				c.script(r.w)
				r.w.mu.Unlock()
				id := r.plan(nil, nil, step("a", c.step, journal.Pivot))
				op := r.awaitState(id, c.want.state)
				if len(r.w.acts) != c.want.acts {
					t.Errorf("%s: %d acts, want %d", c.reason, len(r.w.acts), c.want.acts)
				}
				if c.want.cause == "Conflict" && op.PastPivot() == c.want.back {
					t.Errorf("%s: past its pivot: %v", c.reason, op.PastPivot())
				}
				if c.want.cause != "" {
					if op.Suspended.Cause != c.want.cause || !strings.Contains(op.Suspended.Next, id.String()) {
						t.Errorf("%s: parked as %q, next %q; want cause %q and a command that names the operation",
							c.reason, op.Suspended.Cause, op.Suspended.Next, c.want.cause)
					}
				}
			})
		})
	}
}

func TestAfterACrashTheFirstThingIsALook(t *testing.T) {
	cases := map[string]struct {
		reason   string
		effect   bool // the effect happened before the crash
		wantActs int  // after it
	}{
		"Applied":    {"what happened is adopted, not done again", true, 0},
		"NotApplied": {"what did not happen is done once", false, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.stop()
				r.openIdle()
				id := r.plan([]string{"pool"}, nil, step("a", "settle@1", journal.Pivot), step("b", "do@1", journal.Retriable))
				// The process dies after the intent is durable.
				started, _ := journal.New(journal.OpStarted, id, nil)
				intent, _ := journal.New(journal.StepStarted, id, journal.Started{AttemptID: "x"})
				intent.Step, intent.Attempt = "a", 1
				if _, err := r.j.Append(t.Context(), journal.Guard{}, started, intent); err != nil {
					t.Fatal(err)
				}
				r.crash()
				r.w.done["a"] = c.effect
				r.w.act["a"] = func(int) error {
					if r.w.probes == 0 {
						t.Errorf("acted before it looked")
					}
					r.w.done["a"] = true
					return nil
				}
				r.open()
				defer func() { r.stop() }()
				op := r.awaitState(id, view.Completed)
				acts := 0
				for _, a := range r.w.acts {
					if strings.HasPrefix(a, "a ") {
						acts++
					}
				}
				if acts != c.wantActs {
					t.Errorf("%s: %d acts after the crash, want %d", c.reason, acts, c.wantActs)
				}
				if op.Steps[0].Crashes != 1 {
					t.Errorf("the crash was counted %d times, want once", op.Steps[0].Crashes)
				}
				if !strings.Contains(r.story(id), "step.started:a step.unknown:a") {
					t.Errorf("the step was not marked unknown first: %s", r.story(id))
				}
			})
		})
	}
}

func TestLocksAndOrder(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		gate := true
		r.w.prepare["a"] = func() error {
			if gate {
				return Errorf(Transient, "Held", "held")
			}
			return nil
		}
		first := r.plan([]string{"volume:v/layout"}, nil, step("a", "do@1", journal.Pivot))
		second := r.plan([]string{"volume:v/layout"}, nil, step("b", "do@1", journal.Pivot))
		third := r.plan([]string{"volume:w/layout"}, []journal.OpID{second}, step("c", "do@1", journal.Pivot))
		free := r.plan([]string{"volume:x/layout"}, nil, step("d", "do@1", journal.Pivot))
		r.awaitState(free, view.Completed)
		if op := r.awaitState(second, view.Planned); op.State != view.Planned || r.e.Notes()[second].Reason != "WaitingForLock" {
			t.Errorf("second: %s, note %+v; want planned, waiting for the lock", op.State, r.e.Notes()[second])
		}
		if n := r.e.Notes()[third]; n.Reason != "WaitingForOperation" {
			t.Errorf("third: note %+v; want waiting for the operation before it", n)
		}
		r.w.mu.Lock()
		gate = false
		r.w.mu.Unlock()
		r.awaitState(third, view.Completed)
		equal(t, "order", strings.Join(r.w.acts, ";"), "d ;a ;b ;c ")
		for _, pair := range [][2]journal.OpID{{first, second}, {second, third}} {
			before, after := r.awaitState(pair[0], view.Completed), r.awaitState(pair[1], view.Completed)
			if gap := after.Started.Sub(before.Ended); gap > time.Second {
				t.Errorf("an operation began %v after the one it waited for ended, want at once", gap)
			}
		}
	})
}

// Locks are a scope's own: a node of another pool may have the same name (R11).
func TestLocksOfOtherScopesDoNotMatter(t *testing.T) {
	op := func(id byte, scope string, state view.OpState) *view.Op {
		o := &view.Op{ID: uuid.UUID{15: id}, State: state, First: journal.Seq(id),
			Plan: journal.Plan{Kind: "prepare-node", Scope: scope, Target: "node/n4", Locks: []string{"node:n4"}}}
		if state != view.Planned {
			o.Started = time.Unix(1, 0)
		}
		return o
	}
	cases := map[string]struct {
		reason string
		other  *view.Op
		waits  bool
	}{
		"Same":         {"who holds a lock of the scope comes first", op(1, "one", view.Running), true},
		"SameParked":   {"also while it is parked", op(1, "one", view.Suspended), true},
		"SameEarlier":  {"and who was planned before", op(1, "one", view.Planned), true},
		"Other":        {"a lock of the same name in another scope is another lock", op(1, "two", view.Running), false},
		"OtherParked":  {"however long it is held", op(1, "two", view.Suspended), false},
		"OtherEarlier": {"and whoever was planned before", op(1, "two", view.Planned), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mine := op(2, "one", view.Planned)
			if got := conflicts(mine, []*view.Op{tc.other, mine}); (got != nil) != tc.waits {
				t.Errorf("%s: waits for %v, want it to wait: %v", tc.reason, got, tc.waits)
			}
		})
	}
}

// Between two attempts an operation says what the last one failed with.
func TestBackingOffIsNoted(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		fails := true
		r.w.act["a"] = func(int) error {
			if fails {
				return Errorf(Transient, "PeerDown", "host n2 not connected")
			}
			r.w.done["a"] = true
			return nil
		}
		id := r.plan(nil, nil, step("a", "do@1", journal.Pivot))
		r.await(id, "a failure", func(o *view.Op) bool { return o.Steps[0].Failures > 2 && o.Steps[0].State == view.Pending })
		if n := r.e.Notes()[id]; n.Reason != "PeerDown" || n.Text != "host n2 not connected" || n.Next.IsZero() {
			t.Errorf("note %+v; want what failed, and when it is tried again", n)
		}
		r.w.mu.Lock()
		fails = false
		r.w.mu.Unlock()
		r.awaitState(id, view.Completed)
		if n, ok := r.e.Notes()[id]; ok {
			t.Errorf("a note is left of an operation that ended: %+v", n)
		}
	})
}

func TestParkedOperationLetsOthersGo(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.w.probe["a"] = func() (Observation, error) { return Observation{Verdict: Conflict, Message: "in the way"}, nil }
		bad := r.plan([]string{"pool"}, nil, step("a", "do@1", journal.Pivot))
		good := r.plan([]string{"pool"}, nil, step("b", "do@1", journal.Pivot))
		r.awaitState(bad, view.Suspended)
		r.awaitState(good, view.Completed)
		r.w.mu.Lock()
		delete(r.w.probe, "a")
		r.w.mu.Unlock()
		if _, err := r.decide(Decision{Verb: "retry", Op: bad}); err != nil {
			t.Fatal(err)
		}
		r.awaitState(bad, view.Completed)
	})
}

func TestParkedOperationResumesWhenItIsFoundDone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.plan(nil, nil, step("a", "do@1", journal.Pivot), step("w", "wait@1", journal.Waiting))
		op := r.awaitState(id, view.Suspended)
		equal(t, "cause", op.Suspended.Cause, "DeadlineExceeded")
		r.w.mu.Lock()
		r.w.done["w"] = true
		r.w.mu.Unlock()
		r.awaitState(id, view.Completed)
	})
}

func TestFence(t *testing.T) {
	t.Run("Incomplete", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			r.stop()
			n := 0
			r.opts.Fencer = fencerFunc(func() (uint64, error) {
				if n++; n < 4 {
					return 0, Errorf(Transient, ReasonFenceIncomplete, "n3 is connected and cannot be fenced")
				}
				return 7, nil
			})
			r.open()
			id := r.plan(nil, nil, step("a", "do@1", journal.Pivot))
			op := r.awaitState(id, view.Completed)
			if len(r.w.acts) != 1 || op.Steps[0].Start.Fence != 7 {
				t.Errorf("acts %v, fence %d; want one with fence 7", r.w.acts, op.Steps[0].Start.Fence)
			}
		})
	})
	t.Run("Lost", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			r.stop()
			fatal := make(chan error, 1)
			r.opts.Fatal = func(err error) { fatal <- err }
			r.open()
			r.w.act["a"] = func(int) error { return Errorf(Fenced, ReasonSucceeded, "fence 3 is below 4") }
			id := r.plan(nil, nil, step("a", "do@1", journal.Pivot))
			other := r.plan(nil, nil, step("b", "do@1", journal.Pivot))
			if err := <-fatal; err == nil {
				t.Error("no reason given")
			}
			synctest.Wait()
			if reason, _ := r.e.FenceProblem("pool"); reason != ReasonSucceeded || len(r.w.acts) != 1 {
				t.Errorf("reason %q, acts %v; want %q and nothing after the refusal", reason, r.w.acts, ReasonSucceeded)
			}
			_, _ = id, other
		})
	})
}

func TestFencedLaneGoesOnAfterATakeOver(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.stop()
		allowed := false
		r.opts.Fencer = fencerFunc(func() (uint64, error) {
			if !allowed {
				return 0, Errorf(Fenced, ReasonOtherInstance, "the pool belongs to another instance")
			}
			return 8, nil
		})
		r.open()
		id := r.plan(nil, nil, step("a", "do@1", journal.Pivot))
		for {
			synctest.Wait()
			if reason, _ := r.e.FenceProblem("pool"); reason == ReasonOtherInstance {
				break
			}
			time.Sleep(time.Second)
		}
		allowed = true
		r.e.Forget("pool")
		r.awaitState(id, view.Completed)
		if reason, _ := r.e.FenceProblem("pool"); reason != "" {
			t.Errorf("fence problem %q after the take-over; want none", reason)
		}
	})
}

type fencerFunc func() (uint64, error)

func (f fencerFunc) Ensure(context.Context, string) (uint64, error) { return f() }
