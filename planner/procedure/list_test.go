package procedure

import (
	"fmt"
	"testing"
)

func versioned(t *testing.T, minVersion, version int) *Procedure[*world, string] {
	t.Helper()
	p, err := New(minVersion, version, goal("a"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewestCompatible(t *testing.T) {
	l, err := NewList(versioned(t, 2, 4), versioned(t, 6, 9), versioned(t, 4, 7))
	if err != nil {
		t.Fatal(err)
	}
	at := func(v int) *int { return &v }
	cases := map[string]struct {
		reason   string
		deployed *int
		want     int
		err      string
	}{
		"NothingDeployed": {"a new cluster gets the newest", nil, 9, ""},
		"Newest":          {"its own version", at(9), 9, ""},
		"Direct":          {"the newest takes over from its minimum on", at(6), 9, ""},
		"SteppingStone":   {"older ones go by the newest that takes them over", at(5), 7, ""},
		"TwoWays":         {"of two that could, the newer", at(4), 7, ""},
		"Oldest":          {"the oldest stepping stone", at(2), 4, ""},
		"TooOld":          {"nothing takes it over", at(1), 0, "the deployed configuration has version 1, this operator takes over versions 2 to 9: install an operator in between first"},
		"TooNew":          {"D2: never a silent downgrade", at(12), 0, "the deployed configuration has version 12, this operator knows none newer than 9: install the newer operator again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := l.NewestCompatible(tc.deployed)
			if tc.err != "" {
				if fmt.Sprint(err) != tc.err || !IsUnsupportedVersion(fmt.Errorf("choosing: %w", err)) {
					t.Errorf("%s: got %v, want an UnsupportedVersionError %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil || p.Version() != tc.want {
				t.Errorf("%s: got %v, %v, want version %d", tc.reason, p, err, tc.want)
			}
		})
	}
	if got := l.Newest().Version(); got != 9 {
		t.Errorf("Newest has version %d, want 9", got)
	}
}

func TestNewListRefuses(t *testing.T) {
	if _, err := NewList[*world, string](); err == nil {
		t.Error("an empty list was accepted")
	}
	if _, err := NewList(versioned(t, 1, 3), versioned(t, 2, 3)); err == nil {
		t.Error("two procedures of one version were accepted")
	}
}
