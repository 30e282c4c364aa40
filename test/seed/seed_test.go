package seed

import "testing"

func TestRand(t *testing.T) {
	t.Setenv(seedVariable, "7")
	if a, b := Rand(t).Uint64(), Rand(t).Uint64(); a != b {
		t.Errorf("one seed gave %d and %d", a, b)
	}
	t.Setenv(seedVariable, "")
	if _, ok := Given(t); ok {
		t.Error("nobody gave a seed")
	}
}

func TestFull(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "0": false, "": false} {
		t.Setenv(fullVariable, value)
		if Full() != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}
