package local

import (
	"strings"
	"testing"
)

func TestPreflightNamesWhatIsMissing(t *testing.T) {
	cases := map[string]struct {
		err  error
		want string
	}{
		"Device": {device("/dev/anthill-none", "anthill-none", "no such device: how to get it"), "no such device: how to get it"},
		"Disk":   {Room("/var/lib/anthill-none/deep", 1<<40, "a test"), "too little disk: a test needs 1099511627776 MiB"},
	}
	for name, tc := range cases {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) || strings.Contains(tc.err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, tc.err, tc.want)
		}
	}
	if err := Room("/var/lib/anthill-none/deep", 1, "a test"); err != nil {
		t.Errorf("enough room: %v", err)
	}
	if installed("anthill-none") {
		t.Error("a tool that does not exist is found")
	}
}
