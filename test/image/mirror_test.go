package image

import (
	"errors"
	"testing"
)

func TestPickMirror(t *testing.T) {
	cases := map[string]struct {
		reason, targets, want string
		err                   error
	}{
		"Plain": {
			reason:  "security and other people's archives come first in the list but are not Debian",
			targets: "Debian-Security main http://security.example/\nOther main http://other.example/\nDebian main http://mirror.example/debian/\n",
			want:    "http://mirror.example/debian/",
		},
		"OtherSection": {
			reason:  "only main has GlusterFS",
			targets: "Debian contrib http://mirror.example/debian/\n", err: errNoMirror,
		},
		"Nothing": {reason: "a machine whose lists were never fetched", err: errNoMirror},
	}
	for name, tc := range cases {
		if got, err := pickMirror([]byte(tc.targets)); got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %s: %q, %v; want %q, %v", name, tc.reason, got, err, tc.want, tc.err)
		}
	}
}
