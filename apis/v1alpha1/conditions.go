package v1alpha1

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The condition types. All objects carry all five, so that `kubectl wait` has
// something to wait for from the first cycle on. A condition's message is
// stable text: no times, no counters that move, sorted names.
const (
	// ConditionAvailable: True when the object does its work: clients can read
	// and write (volume), the pool answers and a majority of its nodes is
	// connected (cluster), the server is a connected peer (node). It may be
	// True while other conditions tell of trouble.
	ConditionAvailable = "Available"

	// ConditionProgressing: True while an operation on the object is open or
	// is about to be planned; False when what is, is what was declared.
	ConditionProgressing = "Progressing"

	// ConditionDegraded: True when redundancy is lost: bricks are down, heals
	// are pending, nodes are not connected. True is bad.
	ConditionDegraded = "Degraded"

	// ConditionBlocked: True when Anthill cannot go on without somebody: its
	// reason says what stands in the way, its message what to do. True is bad.
	ConditionBlocked = "Blocked"

	// ConditionSpecAccepted: False when the spec asks for something that
	// cannot be, or must not be, done; what else it asks for is done.
	ConditionSpecAccepted = "SpecAccepted"
)

// ConditionTypes are the condition types of every object, sorted.
func ConditionTypes() []string {
	return []string{ConditionAvailable, ConditionBlocked, ConditionDegraded, ConditionProgressing, ConditionSpecAccepted}
}

// Available says that the object does its work.
func Available() metav1.Condition {
	return condition(ConditionAvailable, metav1.ConditionTrue, ReasonAvailable, "")
}

// Unavailable says that the object does not do its work, and why.
func Unavailable(reason, message string) metav1.Condition {
	return condition(ConditionAvailable, metav1.ConditionFalse, reason, message)
}

// AvailabilityUnknown says that it could not be seen whether the object does
// its work.
func AvailabilityUnknown(reason, message string) metav1.Condition {
	return condition(ConditionAvailable, metav1.ConditionUnknown, reason, message)
}

// Progressing says that Anthill is working on the object, and on what.
func Progressing(reason, message string) metav1.Condition {
	return condition(ConditionProgressing, metav1.ConditionTrue, reason, message)
}

// NotProgressing says that Anthill is not working on the object, and why: it
// has converged, is paused or is blocked.
func NotProgressing(reason, message string) metav1.Condition {
	return condition(ConditionProgressing, metav1.ConditionFalse, reason, message)
}

// Degraded says that redundancy is lost, and where.
func Degraded(reason, message string) metav1.Condition {
	return condition(ConditionDegraded, metav1.ConditionTrue, reason, message)
}

// NotDegraded says that everything that should be there is there.
func NotDegraded() metav1.Condition {
	return condition(ConditionDegraded, metav1.ConditionFalse, ReasonHealthy, "")
}

// DegradationUnknown says that health could not be seen.
func DegradationUnknown(reason, message string) metav1.Condition {
	return condition(ConditionDegraded, metav1.ConditionUnknown, reason, message)
}

// Blocked says what stands in the way, and what to do about it.
func Blocked(reason, message string) metav1.Condition {
	return condition(ConditionBlocked, metav1.ConditionTrue, reason, message)
}

// NotBlocked says that nobody is waited for.
func NotBlocked() metav1.Condition {
	return condition(ConditionBlocked, metav1.ConditionFalse, ReasonNothingBlocks, "")
}

// SpecAccepted says that all of the spec can be carried out.
func SpecAccepted() metav1.Condition {
	return condition(ConditionSpecAccepted, metav1.ConditionTrue, ReasonAccepted, "")
}

// SpecRefused says which part of the spec is not carried out, and why.
func SpecRefused(reason, message string) metav1.Condition {
	return condition(ConditionSpecAccepted, metav1.ConditionFalse, reason, message)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: Bounded(message)}
}

// Bounded makes a text fit for status: one line (white space becomes single
// spaces), valid UTF-8, at most MessageRunesMax runes, the last of which is "…"
// when something was cut off.
func Bounded(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= MessageRunesMax { // bytes: there cannot be more runes
		return s
	}
	if r := []rune(s); len(r) > MessageRunesMax {
		return string(r[:MessageRunesMax-1]) + "…"
	}
	return s
}

// MergeConditions returns want as the conditions of an object of this
// generation, sorted by type. A condition whose status is that of have keeps
// its transition time, so that equal input gives equal output and nothing is
// written; any other gets now. Of several with the same type the last counts.
// Conditions in have that are not in want are dropped. Neither argument is
// changed.
func MergeConditions(have, want []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	before := make(map[string]metav1.Condition, len(have))
	for _, c := range have {
		before[c.Type] = c
	}
	merged := make(map[string]metav1.Condition, len(want))
	for _, c := range want {
		c.ObservedGeneration = generation
		c.LastTransitionTime = now
		if b, ok := before[c.Type]; ok && b.Status == c.Status && !b.LastTransitionTime.IsZero() {
			c.LastTransitionTime = b.LastTransitionTime
		}
		merged[c.Type] = c
	}
	out := make([]metav1.Condition, 0, len(merged))
	for _, c := range merged {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}
