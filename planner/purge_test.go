package planner

import "testing"

func TestIsTemplateClaim(t *testing.T) {
	cases := map[string]struct {
		claim string
		want  bool
	}{
		"State":       {"n1-state", true},
		"First":       {"n1-bricks", true},
		"Further":     {"n1-bricks-12", true},
		"Zero":        {"n1-bricks-0", false},
		"Padded":      {"n1-bricks-01", false},
		"Signed":      {"n1-bricks-+1", false},
		"Rest":        {"n1-bricks-1-2", false},
		"Entry":       {"n1-fast", false},
		"OtherNode":   {"n2-bricks", false},
		"LongerNode":  {"n1-0-bricks", false},
		"NoEntry":     {"n1-", false},
		"StateNumber": {"n1-state-1", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsTemplateClaim("n1", tc.claim); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.claim, got, tc.want)
			}
		})
	}
}
