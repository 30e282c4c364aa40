package v1alpha1_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/gluster/anthill/apis/v1alpha1"
)

var (
	early = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	late  = metav1.NewTime(time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC))
)

func TestMergeConditions(t *testing.T) {
	at := func(c metav1.Condition, generation int64, when metav1.Time) metav1.Condition {
		c.ObservedGeneration, c.LastTransitionTime = generation, when
		return c
	}
	cases := map[string]struct {
		reason     string
		have, want []metav1.Condition
		result     []metav1.Condition
	}{
		"First": {
			reason: "with nothing before, all get the time now and are sorted by type",
			want:   []metav1.Condition{v1alpha1.SpecAccepted(), v1alpha1.Available()},
			result: []metav1.Condition{at(v1alpha1.Available(), 7, late), at(v1alpha1.SpecAccepted(), 7, late)},
		},
		"Unchanged": {
			reason: "an equal status keeps its time, and the generation moves on",
			have:   []metav1.Condition{at(v1alpha1.Available(), 6, early)},
			want:   []metav1.Condition{v1alpha1.Available()},
			result: []metav1.Condition{at(v1alpha1.Available(), 7, early)},
		},
		"OtherReasonSameStatus": {
			reason: "the transition is of the status, not of the reason",
			have:   []metav1.Condition{at(v1alpha1.Blocked(v1alpha1.ReasonSecretNotFound, "a"), 7, early)},
			want:   []metav1.Condition{v1alpha1.Blocked(v1alpha1.ReasonLoginRefused, "b")},
			result: []metav1.Condition{at(v1alpha1.Blocked(v1alpha1.ReasonLoginRefused, "b"), 7, early)},
		},
		"Flipped": {
			reason: "another status is a transition",
			have:   []metav1.Condition{at(v1alpha1.NotDegraded(), 7, early)},
			want:   []metav1.Condition{v1alpha1.Degraded(v1alpha1.ReasonBricksDown, "n1:/b")},
			result: []metav1.Condition{at(v1alpha1.Degraded(v1alpha1.ReasonBricksDown, "n1:/b"), 7, late)},
		},
		"LastWins": {
			reason: "a later finding of a type replaces an earlier one",
			want:   []metav1.Condition{v1alpha1.NotBlocked(), v1alpha1.Blocked(v1alpha1.ReasonQuorumLost, "")},
			result: []metav1.Condition{at(v1alpha1.Blocked(v1alpha1.ReasonQuorumLost, ""), 7, late)},
		},
		"Gone": {
			reason: "a condition nobody wants any more is dropped",
			have:   []metav1.Condition{at(metav1.Condition{Type: "Old", Status: metav1.ConditionTrue}, 7, early)},
			result: []metav1.Condition{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := v1alpha1.MergeConditions(tc.have, tc.want, 7, late)
			if diff := cmp.Diff(tc.result, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// Merging what was merged changes nothing, whatever the clock says: that is
// what keeps an idle operator from writing.
func TestMergeConditionsSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		condition := rapid.Custom(func(t *rapid.T) metav1.Condition {
			return metav1.Condition{
				Type:    rapid.SampledFrom(v1alpha1.ConditionTypes()).Draw(t, "type"),
				Status:  rapid.SampledFrom([]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}).Draw(t, "status"),
				Reason:  rapid.SampledFrom([]string{v1alpha1.ReasonPaused, v1alpha1.ReasonBlocked}).Draw(t, "reason"),
				Message: rapid.StringN(0, 20, -1).Draw(t, "message"),
			}
		})
		have := rapid.SliceOfN(condition, 0, 6).Draw(t, "have")
		want := rapid.SliceOfN(condition, 0, 6).Draw(t, "want")
		once := v1alpha1.MergeConditions(have, want, 3, early)
		twice := v1alpha1.MergeConditions(once, want, 3, late)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("merged again, a minute later (-first +second):\n%s", diff)
		}
	})
}

func TestBounded(t *testing.T) {
	cases := map[string]struct {
		reason, in, want string
	}{
		"Short":    {"a short line is left alone", "disk full", "disk full"},
		"Lines":    {"a message is one line", "first\n\tsecond\r\n", "first second"},
		"Exact":    {"the limit itself fits", strings.Repeat("é", v1alpha1.MessageRunesMax), strings.Repeat("é", v1alpha1.MessageRunesMax)},
		"Long":     {"what is over the limit is cut, visibly", strings.Repeat("é", v1alpha1.MessageRunesMax+1), strings.Repeat("é", v1alpha1.MessageRunesMax-1) + "…"},
		"NotUTF8":  {"the API server refuses invalid UTF-8", "bad \xff byte", "bad \uFFFD byte"},
		"OnlyZero": {"nothing stays nothing", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := v1alpha1.Bounded(tc.in); got != tc.want {
				t.Errorf("%s: Bounded(%.40q) = %.40q, want %.40q", tc.reason, tc.in, got, tc.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		got := v1alpha1.Bounded(string(rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(t, "text")))
		if n := utf8.RuneCountInString(got); n > v1alpha1.MessageRunesMax || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t") {
			t.Fatalf("%d runes, valid UTF-8 %v, text %q", n, utf8.ValidString(got), got)
		}
	})
}
