package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestReport(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		code   Code
		text   string
	}{
		"None":        {reason: "No error is success and silence."},
		"Plain":       {reason: "An error without a code is a failure.", err: errors.New("boom"), code: Failed, text: "anthill: boom\n"},
		"Coded":       {reason: "A code survives wrapping.", err: fmt.Errorf("doing: %w", Errorf(Conflict, "stale")), code: Conflict, text: "anthill: doing: stale\n"},
		"Outermost":   {reason: "The outer code wins: it knows more.", err: Errorf(NeedsDecision, "first: %w", Errorf(Failed, "x")), code: NeedsDecision, text: "anthill: first: x\n"},
		"Interrupted": {reason: "Who interrupted it knows.", err: fmt.Errorf("reading: %w", context.Canceled), code: Interrupted},
		"Deadline":    {reason: "A deadline is a timeout.", err: fmt.Errorf("reading: %w", context.DeadlineExceeded), code: Timeout, text: "anthill: reading: context deadline exceeded\n"},
		"Lines":       {reason: "Errors are one line.", err: errors.New("a\nb\x1b[31m"), code: Failed, text: "anthill: a; b\\x1b[31m\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if code := Report(&b, tc.err); code != tc.code || b.String() != tc.text {
				t.Errorf("%s: got exit %d, %q, want exit %d, %q", tc.reason, code, b.String(), tc.code, tc.text)
			}
		})
	}
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		in   string
		want time.Time
	}{
		"Hours":    {in: "2h", want: now.Add(-2 * time.Hour)},
		"Days":     {in: "3d", want: now.Add(-72 * time.Hour)},
		"Mixed":    {in: "1h30m", want: now.Add(-90 * time.Minute)},
		"Absolute": {in: "2026-11-29T10:00:00+01:00", want: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)},
		"Zero":     {in: "0s"},
		"Negative": {in: "-1h"},
		"NoUnit":   {in: "7"},
		"Empty":    {in: ""},
		"HugeDays": {in: "99999999999d"},
		"Word":     {in: "yesterday"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseWhen(tc.in, now)
			if (err != nil) != tc.want.IsZero() || !got.Equal(tc.want) {
				t.Errorf("%q: got %v, %v, want %v", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"AgeNegative":     {got: Age(-time.Hour), want: "0s"},
		"AgeSeconds":      {got: Age(59 * time.Second), want: "59s"},
		"AgeMinutes":      {got: Age(252 * time.Second), want: "4m12s"},
		"AgeFullHour":     {got: Age(2 * time.Hour), want: "2h"},
		"AgeHours":        {got: Age(185 * time.Minute), want: "3h5m"},
		"AgeDays":         {got: Age(52 * time.Hour), want: "2d4h"},
		"AgeManyDays":     {got: Age(41*24*time.Hour + time.Hour), want: "41d"},
		"Bytes":           {got: Bytes(512), want: "512 B"},
		"BytesKi":         {got: Bytes(164 << 10), want: "164.0 KiB"},
		"BytesGi":         {got: Bytes(3 << 29), want: "1.5 GiB"},
		"BytesMax":        {got: Bytes(1<<63 - 1), want: "8.0 EiB"},
		"LineClean":       {got: Line("größer ✔"), want: "größer ✔"},
		"LineEscape":      {got: Line("a\x1b]0;x\x07b"), want: `a\x1b]0;x\ab`},
		"LineBreaks":      {got: Line("a\r\nb\n"), want: "a; b"},
		"LineInvalid":     {got: Line("a\xffb"), want: `a\xffb`},
		"LineBidi":        {got: Line("a\u202eb"), want: `a\u202eb`},
		"Block":           {got: Block("one\r\n\ttwo\x00\n\n", "> "), want: "> one\n> two\\x00\n"},
		"Argv":            {got: Argv([]string{"gluster", "n1:/a b", ""}), want: `gluster "n1:/a b" ""`},
		"ListOfOne":       {got: list([]string{"a"}), want: "a"},
		"ListOfThree":     {got: list([]string{"a", "b", "c"}), want: "a, b or c"},
		"UnpaintedByZero": {got: Palette{}.Paint(Red, "x"), want: "x"},
		"Painted":         {got: Palette{on: true}.Paint(Red, "x"), want: "\x1b[31mx\x1b[0m"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	tab := Table{Header: []string{"NAME", "STATE", "WHAT"}}
	tab.Row(Cell{Text: "größer"}, Cell{Text: "ok", Color: Green}, Cell{Text: "two\nlines"})
	tab.Row(Text("x", "", "a longer last column is not padded")...)
	var plain, painted bytes.Buffer
	if err := tab.Print(&plain, Palette{}); err != nil {
		t.Fatal(err)
	}
	want := "NAME    STATE  WHAT\n" +
		"größer  ok     two; lines\n" +
		"x       -      a longer last column is not padded\n"
	if diff := cmp.Diff(want, plain.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := tab.Print(&painted, Palette{on: true}); err != nil {
		t.Fatal(err)
	}
	stripped := strings.NewReplacer("\x1b[32m", "", "\x1b[0m", "").Replace(painted.String())
	if diff := cmp.Diff(plain.String(), stripped); diff != "" {
		t.Errorf("colour moves columns: -plain +painted:\n%s", diff)
	}
}

// TestDocuments asserts that every format reads back as what was written.
func TestDocuments(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	type document struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Items      []item            `json:"items"`
	}
	for n, items := range [][]item{{}, {{"a", "<&>\n\"x\""}}, {{"a", "1"}, {"b", "- yaml: [no]"}, {"c", ""}}} {
		for _, format := range []string{FormatJSON, FormatYAML} {
			var b bytes.Buffer
			d, err := NewDocument(&b, format, "v1", "List", map[string]string{"source": "test"})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				if err := d.Item(it.Name, it); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			var got document
			if format == FormatJSON {
				err = json.Unmarshal(b.Bytes(), &got)
			} else {
				err = yaml.UnmarshalStrict(b.Bytes(), &got)
			}
			if err != nil {
				t.Fatalf("%s of %d items does not read back: %v\n%s", format, n, err, b.String())
			}
			want := document{"v1", "List", map[string]string{"source": "test"}, items}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", format, diff)
			}
		}
		var b bytes.Buffer
		d, err := NewDocument(&b, FormatNDJSON, "v1", "List", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if err := d.Item(it.Name, it); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil || strings.Count(b.String(), "\n") != len(items) {
			t.Errorf("ndjson: %v, %d lines for %d items", err, strings.Count(b.String(), "\n"), len(items))
		}
	}
	if _, err := NewDocument(&bytes.Buffer{}, FormatTable, "v1", "List", nil); err == nil {
		t.Errorf("a table is no document")
	}
}

func TestPaletteFor(t *testing.T) {
	env := func(kv string) func(string) string {
		k, v, _ := strings.Cut(kv, "=")
		return func(name string) string {
			if name == k {
				return v
			}
			return ""
		}
	}
	cases := map[string]struct {
		reason string
		color  string
		format string
		env    string
		want   bool
	}{
		"PipeAuto":       {reason: "A pipe gets no colour by itself.", color: "auto", format: FormatTable},
		"PipeAlways":     {reason: "It gets it when asked for.", color: "always", format: FormatTable, want: true},
		"AlwaysNOCOLOR":  {reason: "The flag is more specific than the environment.", color: "always", format: FormatWide, env: "NO_COLOR=1", want: true},
		"DocumentAlways": {reason: "Data is never coloured.", color: "always", format: FormatJSON},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := NewOutput()
			o.Color.Value, o.Format.Value = tc.color, tc.format
			if got := o.PaletteFor(&bytes.Buffer{}, env(tc.env)); got.on != tc.want {
				t.Errorf("%s: got %v", tc.reason, got.on)
			}
		})
	}
}
