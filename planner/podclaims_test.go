package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// What somebody has added stays as it is, in its place.
func TestMerged(t *testing.T) {
	entry := func(name, claim string) v1alpha1.Storage { return v1alpha1.Storage{Name: name, PVCName: claim} }
	b0, b1, x := entry("bricks", "n-bricks"), entry("bricks-1", "n-bricks-1"), entry("x", "y")
	other := entry("bricks-1", "of-somebody")
	cases := map[string]struct {
		reason     string
		have, want []v1alpha1.Storage
		out        []v1alpha1.Storage
		taken      string
	}{
		"Same":  {"nothing to do", []v1alpha1.Storage{b0}, []v1alpha1.Storage{b0}, []v1alpha1.Storage{b0}, ""},
		"Grows": {"the new one comes last", []v1alpha1.Storage{b0, x}, []v1alpha1.Storage{b0, b1}, []v1alpha1.Storage{b0, x, b1}, ""},
		"Keeps": {"more than the template asks for", []v1alpha1.Storage{x, b1, b0}, []v1alpha1.Storage{b0}, []v1alpha1.Storage{x, b1, b0}, ""},
		"Taken": {"it may hold bricks", []v1alpha1.Storage{b0, other}, []v1alpha1.Storage{b0, b1}, []v1alpha1.Storage{b0, other}, "bricks-1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, taken := merged(tc.have, tc.want)
			if d := cmp.Diff(tc.out, out); d != "" || taken != tc.taken {
				t.Errorf("%s: taken %q, want %q; (-want +got)\n%s", tc.reason, taken, tc.taken, d)
			}
		})
	}
}

func TestSmaller(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{{"10Gi", "20Gi", true}, {"20Gi", "10Gi", false}, {"1024Mi", "1Gi", false}, {"", "1Gi", false}, {"1Gi", "", false}} {
		if got := smaller(tc.a, tc.b); got != tc.want {
			t.Errorf("%q is smaller than %q: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}
