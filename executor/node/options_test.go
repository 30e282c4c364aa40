package node

import (
	"strings"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

func TestValidate(t *testing.T) {
	one := func(name, device string) Options {
		return Options{Storage: []gate.Storage{{Name: name, Device: device}}}
	}
	cases := map[string]struct {
		reason string
		o      Options
		wrong  string
	}{
		"None":     {"a pod may have only file systems of claims", Options{}, ""},
		"Good":     {"as the operator tells it", one("b1", "/dev/anthill/b1"), ""},
		"Long":     {"as long as the API allows", one("a234567890123456", "/dev/x"), ""},
		"TooLong":  {"longer than the API allows", one("a2345678901234567", "/dev/x"), "1 to 16"},
		"Way":      {"a name is a folder", one("../etc", "/dev/x"), "1 to 16"},
		"Dash":     {"a name ends with a letter or digit", one("b-", "/dev/x"), "1 to 16"},
		"Relative": {"devices are absolute", one("b1", "dev/x"), "absolute"},
		"Unclean":  {"and lead nowhere else", one("b1", "/dev/../x"), "absolute"},
		"Twice":    {"a name is one device", Options{Storage: []gate.Storage{{Name: "a", Device: "/a"}, {Name: "a", Device: "/b"}}}, "twice"},
		"Hasty":    {"nothing ends in no time", Options{StopTimeout: time.Millisecond}, "second"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.o.Validate()
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.wrong)
			}
		})
	}
}

func TestParseStorage(t *testing.T) {
	if s, err := ParseStorage("b1=/dev/a=b"); err != nil || s != (gate.Storage{Name: "b1", Device: "/dev/a=b"}) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ParseStorage("b1"); err == nil {
		t.Error("without a device: no error")
	}
}
