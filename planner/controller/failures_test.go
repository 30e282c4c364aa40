package controller

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestFailures(t *testing.T) {
	numbered := func(n int) []error {
		var out []error
		for i := n; i > 0; i-- {
			out = append(out, fmt.Errorf("failure %d", i))
		}
		return out
	}
	cases := map[string]struct {
		reason string
		errs   []error
		want   string
	}{
		"None":      {"no failure is no error", []error{nil, nil}, ""},
		"One":       {"as it is", []error{nil, io.EOF}, "EOF"},
		"Sorted":    {"whatever the order", []error{io.EOF, errors.New("A")}, "A; EOF"},
		"Same":      {"said once", []error{io.EOF, io.EOF}, "EOF"},
		"TooMany":   {"bounded", numbered(7), "failure 1; failure 2; failure 3; failure 4; failure 5; and 2 more"},
		"AsManyAs5": {"all of them", numbered(5), "failure 1; failure 2; failure 3; failure 4; failure 5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var f failures
			f.add(tc.errs...)
			err := f.err()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			for _, e := range tc.errs {
				if e != nil && !errors.Is(err, e) {
					t.Errorf("%v is not found in %v", e, err)
				}
			}
		})
	}
}
