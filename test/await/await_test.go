package await

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	cases := map[string]struct {
		text, want string
		lines      int
	}{
		"Empty":   {"", "", 2},
		"Fewer":   {"a\n", "a", 2},
		"Exactly": {"a\nb\n", "a\nb", 2},
		"More":    {"a\nb\nc\nd\n", "c\nd", 2},
		"Open":    {"a\nb\nc", "b\nc", 2},
		"Huge":    {strings.Repeat("x", 2*tailBytesMax) + "\nlast\n", "last", 1},
	}
	for name, tc := range cases {
		must(t, os.WriteFile(file, []byte(tc.text), 0o600))
		if got := TailOf(file, tc.lines); got != tc.want {
			t.Errorf("%s: tail is %q, want %q", name, got, tc.want)
		}
	}
	if got := TailOf(file+"-missing", 3); got != "" {
		t.Errorf("the tail of a missing file is %q", got)
	}
}

func TestUntilSaysWhatItWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(file, []byte("the cause\n"), 0o600))
	err := Until(t.Context(), 30*time.Millisecond, "it is noon", file, func(context.Context) error { return errors.New("it is not") })
	if err == nil {
		t.Fatal("no error after the deadline")
	}
	for _, part := range []string{"it is noon", "30ms", "it is not", "the cause", file} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not tell %q", err, part)
		}
	}
}

// A probe that the deadline cuts off says what cut it off, not what was missing.
func TestUntilTellsWhatWasMissingBefore(t *testing.T) {
	looks := 0
	err := Until(t.Context(), 300*time.Millisecond, "it is noon", "", func(ctx context.Context) error {
		if looks++; looks == 1 {
			return errors.New("it is not")
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), "before that: it is not") {
		t.Errorf("error %v does not tell what was missing", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
