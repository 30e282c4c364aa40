package local

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportSaysWhatIsWrong(t *testing.T) {
	well := ComponentStatus{Name: "a"}.Well("serves")
	sick := ComponentStatus{Name: "b"}.Sick("does not serve: %s", "why")
	cases := map[string]struct {
		all    []ComponentStatus
		format string
		err    error
		want   string
	}{
		"Well":  {[]ComponentStatus{well}, "table", nil, "a yes serves"},
		"Sick":  {[]ComponentStatus{well, sick}, "table", ErrUnhealthy, "b NO does not serve: why"},
		"JSON":  {[]ComponentStatus{sick}, "json", ErrUnhealthy, `"state": "does not serve: why"`},
		"Other": {[]ComponentStatus{well}, "xml", errFormat, ""},
	}
	for name, tc := range cases {
		var out bytes.Buffer
		if err := Report(&out, tc.all, tc.format); !errors.Is(err, tc.err) || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), tc.want) {
			t.Errorf("%s: %v and\n%s\nwant %v and %q", name, err, out.String(), tc.err, tc.want)
		}
	}
}

func TestReportLogs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(file, []byte("1\n2\n3\n"), 0o600))
	logs := map[string][]string{"x": {file}}
	for name, names := range map[string][]string{"All": nil, "Named": {"x"}} {
		var out bytes.Buffer
		must(t, ReportLogs(&out, logs, names, 2))
		if want := "==> " + file + "\n  2\n  3\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
	}
	if err := ReportLogs(&bytes.Buffer{}, logs, []string{"y"}, 2); !errors.Is(err, errNoLogs) {
		t.Errorf("a component without logs: %v, want %v", err, errNoLogs)
	}
}
