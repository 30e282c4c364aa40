package planner

import "testing"

func TestIsOff(t *testing.T) {
	for value, want := range map[string]bool{
		"off": true, "OFF": true, "Disable": true, "no": true, "false": true, "0": true,
		"on": false, "enable": false, "yes": false, "TRUE": false, "1": false, "": false,
	} {
		if got := isOff(value); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
