package journal

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestRules brings one operation into a state and appends what is, or is not,
// allowed there. before and event are given as words: see word.
func TestRules(t *testing.T) {
	cases := map[string]struct {
		reason string
		before string
		event  string
		want   error
	}{
		"Plan":              {"the first event", "", "planned", nil},
		"PlanTwice":         {"an id is planned once", "planned", "planned", ErrIllegal},
		"PlanEnded":         {"nor again after its end", "planned failed", "planned", ErrIllegal},
		"SameIntent":        {"one intent, one open operation", "planned", "planned#2", ErrConflict},
		"IntentAgain":       {"the first has ended", "planned failed", "planned#2", nil},
		"Unknown":           {"no such operation", "", "started", ErrIllegal},
		"StartTwice":        {"locks are taken once", "planned started", "started", ErrIllegal},
		"StartWaits":        {"what it waits for is open", "planned after", "started#3", ErrIllegal},
		"StartWaited":       {"what it waited for has ended", "planned after failed", "started#3", nil},
		"LockHeld":          {"another operation has the lock", "planned started other", "started#4", ErrConflict},
		"LockFree":          {"ended operations hold none", "planned started failed other", "started#4", nil},
		"StepUnstarted":     {"no step before op.started", "planned", "start:guard:1", ErrIllegal},
		"Step":              {"the first attempt of the first step", "planned started", "start:guard:1", nil},
		"StepUnknownName":   {"not in the plan", "planned started", "start:nope:1", ErrIllegal},
		"StepOrder":         {"not its turn", "planned started", "start:mkdir:1", ErrIllegal},
		"StepTwice":         {"started without outcome is never tried again", "running", "start:guard:2", ErrIllegal},
		"AttemptSkipped":    {"attempts are dense", "running unknown:guard", "start:guard:3", ErrIllegal},
		"AgainUnknown":      {"the same command may be sent again", "running unknown:guard", "start:guard:2", nil},
		"AgainFailed":       {"a failed attempt had no effect", "running fail:guard", "start:guard:2", nil},
		"UnknownPending":    {"nothing was tried, nothing is unknown", "planned started", "unknown:guard", ErrIllegal},
		"Adopt":             {"found done without an attempt", "planned started", "ok:guard", nil},
		"SucceedTwice":      {"it has succeeded", "running ok:guard", "ok:guard", ErrIllegal},
		"ReceiptLate":       {"it has succeeded", "running ok:guard", "receipt:guard", ErrIllegal},
		"Receipt":           {"while it is under way", "running", "receipt:guard", nil},
		"ResolveStarted":    {"a person settles what is unknown only", "running", "resolve:guard:done", ErrIllegal},
		"ResolveDone":       {"seen by a person", "running unknown:guard", "resolve:guard:done", nil},
		"ResolveWord":       {"an outcome of its own", "running unknown:guard", "resolve:guard:maybe", ErrIllegal},
		"ResolvedRetry":     {"not done: it may be tried", "running unknown:guard resolve:guard:not-done", "start:guard:2", nil},
		"CompleteEarly":     {"a step has not succeeded", "running", "completed", ErrIllegal},
		"Complete":          {"all have", "done", "completed", nil},
		"AfterEnd":          {"ended is ended", "done completed", "suspended", ErrIllegal},
		"StepAfterEnd":      {"ended is ended", "planned failed", "ok:guard", ErrIllegal},
		"ResumeRunning":     {"it is not suspended", "planned started", "resumed", ErrIllegal},
		"StartSuspended":    {"parked operations begin nothing", "running fail:guard suspended", "start:guard:2", ErrIllegal},
		"OutcomeSuspended":  {"what comes late is kept", "running suspended", "ok:guard", nil},
		"Resumed":           {"let go", "running fail:guard suspended resumed", "start:guard:2", nil},
		"SuspendPlanned":    {"parked before it began", "planned suspended resumed", "started", nil},
		"SupersedeStarted":  {"it has started", "planned started", "superseded", ErrIllegal},
		"Supersede":         {"it has not", "planned", "superseded", nil},
		"SupersedeAlone":    {"it only waits, and nobody goes on with it", "waiting", "superseded", ErrIllegal},
		"TakeOver":          {"it only waits", "waiting", "takeover", nil},
		"TakeOverParked":    {"it only waited", "waiting suspended", "takeover", nil},
		"TakeOverFailed":    {"it will only wait", "waiting fail:settled", "takeover", nil},
		"TakeOverStarted":   {"it would go on to act", "running", "takeover", ErrIllegal},
		"TakeOverActing":    {"its command may still land", "acting", "takeover", ErrIllegal},
		"TakeOverDone":      {"nothing is left to take over", "waiting ok:settled", "takeover", ErrIllegal},
		"TakeOverCancelled": {"it is being cancelled", "waitsonly cancelling", "takeover", ErrIllegal},
		"CancelPlanned":     {"nothing to undo", "planned", "cancelled", nil},
		"CancelUnasked":     {"cancelling comes first", "planned started", "cancelled", ErrIllegal},
		"Cancel":            {"nothing under way", "planned started cancelling", "cancelled", nil},
		"CancelUnsettled":   {"its command may still land", "acting cancelling", "cancelled", ErrIllegal},
		"AbandonUnsettled":  {"its command may still land", "acting unknown:mkdir", "abandoned", ErrIllegal},
		"AbandonStarted":    {"its command may still land", "acting suspended", "abandoned", ErrIllegal},
		"AbandonPivot":      {"its command may still land", "pivot suspended", "abandoned", ErrIllegal},
		"AbandonWaiting":    {"a step that waits has no command", "running suspended", "abandoned", nil},
		"FailUnsettled":     {"its command may still land", "acting", "failed", ErrIllegal},
		"CancelWaiting":     {"a step that waits has no command", "running cancelling", "cancelled", nil},
		"Abandon":           {"known", "running fail:guard", "abandoned", nil},
		"StartCancelling":   {"no new effect while cancelling", "planned started cancelling", "start:guard:1", ErrIllegal},
		"AskCancelling":     {"but to learn what became of the old one", "running unknown:guard cancelling", "start:guard:2", nil},
		"CancelPivot":       {"past its pivot there is only forward", "pivot", "cancelling", ErrIllegal},
		"CancelPivotFailed": {"the pivot had no effect", "pivot fail:add", "cancelling", nil},
		"CancelPivotDone":   {"found done counts", "tothepivot ok:add", "cancelling", ErrIllegal},
		"CompensateUnasked": {"only while cancelling", "tothepivot", "undo:mkdir", ErrIllegal},
		"Compensate":        {"what was done", "tothepivot cancelling", "undo:mkdir", nil},
		"CompensateTwice":   {"once", "tothepivot cancelling undo:mkdir", "undo:mkdir", ErrIllegal},
		"CompensateNothing": {"it was never tried", "tothepivot cancelling", "undo:add", ErrIllegal},
		"SuspendCancelling": {"parked while cancelling, resumed into it", "tothepivot cancelling suspended resumed", "undo:mkdir", nil},
		"Fence":             {"the first", "", "fence:1", nil},
		"FenceEqual":        {"a fence rises", "fence:5", "fence:5", ErrConflict},
		"FenceHigher":       {"a fence rises", "fence:5", "fence:6", nil},
		"Release":           {"there is a tombstone", "planned abandoned", "release:i", nil},
		"ReleaseNothing":    {"there is none", "planned failed", "release:i", ErrIllegal},
		"ReleaseAgain":      {"planning it again took it away", "planned abandoned planned#2", "release:i", ErrIllegal},
		"Journal":           {"the journal's own events are its own", "", "epoch", ErrIllegal},
		"NewType":           {"this release does not know what it means", "", "new", ErrIllegal},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := openTest(t, testPath(t), Options{})
			for w := range strings.FieldsSeq(tc.before) {
				for _, ev := range word(t, w) {
					if _, err := j.Append(t.Context(), Guard{}, ev); err != nil {
						t.Fatalf("preparing %q: %v", w, err)
					}
				}
			}
			before := j.Head()
			_, err := j.Append(t.Context(), Guard{}, word(t, tc.event)...)
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil && j.Head() != before {
				t.Errorf("%s: refused, yet the head moved", tc.reason)
			}
		})
	}
}

// word makes the events a word of TestRules stands for: an event of operation 1
// (or #n), or a whole stretch of its life.
func word(t *testing.T, w string) []Event {
	t.Helper()
	n := 1
	if name, num, ok := strings.Cut(w, "#"); ok {
		w, n = name, int(num[0]-'0')
	}
	id := testID(n)
	plan := testPlan(1)
	plan.Intent = "i"
	words := func(list string) (evs []Event) {
		for w := range strings.FieldsSeq(list) {
			evs = append(evs, word(t, w)...)
		}
		return evs
	}
	p := append(strings.Split(w, ":"), "", "")
	attempt := 0
	if p[0] == "start" {
		attempt = int(p[2][0] - '0')
	}
	switch p[0] {
	case "planned":
		return []Event{mustEvent(t, OpPlanned, id, plan)}
	case "after":
		plan.Intent, plan.After, plan.Locks = "", []OpID{id}, nil
		return []Event{mustEvent(t, OpPlanned, testID(3), plan)}
	case "other":
		plan.Intent = ""
		return []Event{mustEvent(t, OpPlanned, testID(4), plan)}
	case "waitsonly": // a plan that does nothing else
		plan.Steps = plan.Steps[:1]
		return append([]Event{mustEvent(t, OpPlanned, id, plan)}, words("started start:guard:1")...)
	case "running":
		return words("planned started start:guard:1")
	case "acting":
		return words("running ok:guard start:mkdir:1")
	case "tothepivot":
		return words("acting ok:mkdir")
	case "pivot":
		return words("tothepivot start:add:1")
	case "done":
		return words("pivot ok:add start:rebalance:1 ok:rebalance")
	case "waiting": // past the pivot, for what was done to settle
		plan.Steps = append(plan.Steps, Step{ID: "settled", Name: "settled@1", Stage: Waiting})
		return append([]Event{mustEvent(t, OpPlanned, id, plan)},
			words("started start:guard:1 ok:guard start:mkdir:1 ok:mkdir start:add:1 ok:add start:rebalance:1 ok:rebalance start:settled:1")...)
	case "takeover": // another one goes on with what it was for
		plan.Supersedes = []OpID{id}
		return []Event{mustEvent(t, OpSuperseded, id, Decision{By: testID(5)}), mustEvent(t, OpPlanned, testID(5), plan)}
	case "start":
		return []Event{step(t, StepStarted, id, p[1], attempt, Started{})}
	case "ok":
		return []Event{step(t, StepSucceeded, id, p[1], 0, Succeeded{})}
	case "fail":
		return []Event{step(t, StepFailed, id, p[1], 0, Failure{Class: "busy"})}
	case "unknown":
		return []Event{step(t, StepUnknown, id, p[1], 0, Failure{Class: "unknown"})}
	case "receipt":
		return []Event{step(t, StepReceipt, id, p[1], 0, Receipt{Receipt: []byte(`{"task":"x"}`)})}
	case "resolve":
		return []Event{step(t, StepResolved, id, p[1], 0, Decision{Reason: "r", Outcome: p[2]})}
	case "undo":
		return []Event{step(t, StepCompensated, id, p[1], 0, nil)}
	case "suspended":
		return []Event{mustEvent(t, OpSuspended, id, Suspended{Cause: "Conflict"})}
	case "failed":
		return []Event{mustEvent(t, OpFailed, id, Failure{Error: "x"})}
	case "completed":
		return []Event{mustEvent(t, OpCompleted, id, Completed{})}
	case "fence":
		return []Event{mustEvent(t, FenceRaised, uuid.Nil, Fence{Scope: "s", Fence: uint64(p[1][0] - '0')})}
	case "release":
		return []Event{mustEvent(t, IntentReleased, uuid.Nil, Decision{Reason: "again", Intent: p[1]})}
	case "epoch":
		return []Event{mustEvent(t, EpochOpened, uuid.Nil, Opened{})}
	case "new":
		return []Event{{Type: "op.exploded", Op: id}}
	}
	return []Event{mustEvent(t, Type("op."+p[0]), id, Decision{Reason: "r"})}
}

func TestAppendShape(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	id := testID(1)
	big := step(t, StepProgress, id, "guard", 0, Progress{Message: strings.Repeat("x", DataMax)})
	badLocks := testPlan(1)
	badLocks.Locks = []string{"b", "a"}
	badSteps := testPlan(1)
	badSteps.Steps = append(badSteps.Steps, Step{ID: "guard", Stage: Pivot})
	badStage := testPlan(1)
	badStage.Steps[0].Stage = "soon"
	superseding := testPlan(3)
	superseding.Supersedes = []OpID{testID(2)}
	waiting := testPlan(3)
	waiting.After = []OpID{testID(99)}
	cases := map[string]struct {
		reason string
		events []Event
		want   error
	}{
		"Nothing":        {"no events", nil, ErrUsage},
		"TooMany":        {"bounded", make([]Event, AppendEventsMax+1), ErrTooLarge},
		"TooBig":         {"bounded", []Event{big}, ErrTooLarge},
		"NotJSON":        {"readers must decode it", []Event{{Type: OpFailed, Op: id, Data: []byte(`{"a`)}}, ErrIllegal},
		"NotObject":      {"readers must decode it", []Event{{Type: OpStarted, Op: id, Data: []byte(`1`)}}, ErrIllegal},
		"WrongShape":     {"readers must decode it", []Event{{Type: OpFailed, Op: id, Data: []byte(`{"error":1}`)}}, ErrIllegal},
		"NewSchema":      {"this release does not know it", []Event{{Type: OpStarted, Op: id, SV: 2}}, ErrIllegal},
		"Build":          {"only epochs carry it", []Event{{Type: OpStarted, Op: id, Build: "b"}}, ErrIllegal},
		"NoOperation":    {"it needs one", []Event{{Type: OpStarted}}, ErrIllegal},
		"StepWithoutID":  {"it needs one", []Event{mustEvent(t, OpPlanned, id, testPlan(1)), {Type: OpStarted, Op: id}, {Type: StepStarted, Op: id, Attempt: 1}}, ErrIllegal},
		"Locks":          {"sorted, or two operations deadlock", []Event{mustEvent(t, OpPlanned, id, badLocks)}, ErrIllegal},
		"Steps":          {"ids are unique", []Event{mustEvent(t, OpPlanned, id, badSteps)}, ErrIllegal},
		"Stage":          {"known", []Event{mustEvent(t, OpPlanned, id, badStage)}, ErrIllegal},
		"SupersedesOpen": {"the same append must end it", []Event{mustEvent(t, OpPlanned, testID(2), testPlan(2)), mustEvent(t, OpPlanned, testID(3), superseding)}, ErrIllegal},
		"AfterNobody":    {"it would wait for ever or not at all", []Event{mustEvent(t, OpPlanned, testID(3), waiting)}, ErrIllegal},
		"LastIsBad":      {"all or none", []Event{mustEvent(t, OpPlanned, testID(5), testPlan(5)), mustEvent(t, OpPlanned, testID(5), testPlan(5))}, ErrIllegal},
		"Supersedes": {"ended by the same append", []Event{
			mustEvent(t, OpPlanned, testID(2), testPlan(2)), mustEvent(t, OpSuperseded, testID(2), Decision{By: testID(3)}),
			mustEvent(t, OpPlanned, testID(3), superseding),
		}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := j.Head()
			_, err := j.Append(t.Context(), Guard{}, tc.events...)
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil && j.Head() != before {
				t.Errorf("%s: refused, yet the head moved", tc.reason)
			}
		})
	}
}
