package writer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// a folder beside which everything of a run is kept.
func ledgered(t *testing.T) Config {
	t.Helper()
	base := t.TempDir()
	return Config{
		Dir: filepath.Join(base, "volume"), Report: filepath.Join(base, "report.json"),
		Ledger: filepath.Join(base, "ledger"), Excuse: filepath.Join(base, "excuse"),
		Files: 10, BytesMax: 4096, Pause: time.Millisecond, Seed: 7,
	}
}

// writeUntil runs a writer until enough.
func writeUntil(t *testing.T, cfg Config, enough func(Report) bool) Report {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	_ = os.Remove(cfg.Report)
	ended := make(chan Report, 1)
	go func() {
		r, err := Run(ctx, cfg)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	wait(ctx, t, cfg.Report, enough)
	stop()
	return <-ended
}

func someWritten(r Report) bool { return r.Written >= 15 }

func TestNextRunFindsWhatTheLedgerSays(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(cfg Config, first Report) error
		want   string // in the problem; empty: none
	}{
		"AsItWas": {
			reason: "what was written is found, and the run goes on behind it",
			before: func(Config, Report) error { return nil },
		},
		"TornLine": {
			reason: "a line that was cut off was of a file that nobody relies on",
			before: func(cfg Config, _ Report) error {
				f, err := os.OpenFile(cfg.Ledger, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = f.WriteString(`{"file":{"name":"f000`)
				return err
			},
		},
		"LostFile": {
			reason: "a file that was durable and is gone is a problem",
			before: func(cfg Config, r Report) error {
				return os.Remove(filepath.Join(cfg.Dir, r.Files[len(r.Files)-1].Name))
			},
			want: "no such file",
		},
		"LostBytes": {
			reason: "a file that was durable and is empty is a problem",
			before: func(cfg Config, r Report) error {
				return os.Truncate(filepath.Join(cfg.Dir, r.Files[len(r.Files)-1].Name), 0)
			},
			want: "0 bytes with SHA-256",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := ledgered(t)
			first := writeUntil(t, cfg, someWritten)
			if p := first.Problem(); p != "" || first.Kept != 0 || len(first.Files) != cfg.Files {
				t.Fatalf("the first run: %s %+v", p, first)
			}
			if err := tc.before(cfg, first); err != nil {
				t.Fatal(err)
			}
			second := writeUntil(t, cfg, someWritten)
			if second.Kept != len(first.Files) {
				t.Errorf("%s: %d files kept, want %d", tc.reason, second.Kept, len(first.Files))
			}
			if p := second.Problem(); (p == "") != (tc.want == "") || !strings.Contains(p, tc.want) {
				t.Errorf("%s: problem %q, want %q", tc.reason, p, tc.want)
			}
			last, next := first.Files[len(first.Files)-1].Name, second.Files[0].Name
			if next <= last {
				t.Errorf("%s: the second run keeps %s, which the first wrote or might have written (%s)", tc.reason, next, last)
			}
		})
	}
}

func TestStruckOutIsNotExpected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, _, _, err := openLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []File{{Name: "f00000000"}, {Name: "f00000001"}, {Name: "f00000002"}} {
		if err := l.enter(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.strike("f00000000"); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	again, files, next, err := openLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.close() }()
	if len(files) != 2 || files[0].Name != "f00000001" || next != 3 {
		t.Errorf("the ledger has %v, next is %d; want files 1 and 2, then 3", files, next)
	}
	if err := os.WriteFile(path, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openLedger(path); err == nil {
		t.Error("a damaged ledger was believed")
	}
}

// While everything is down calls fail, and count for nothing; a file that is
// not what it was counts all the same.
func TestExcused(t *testing.T) {
	cfg := ledgered(t)
	cfg.Files = 100_000
	hidden := cfg.Dir + "-hidden"
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	ended := make(chan Report, 1)
	go func() {
		r, err := Run(ctx, cfg)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	wait(ctx, t, cfg.Report, someWritten)
	outage(t, cfg, func() {
		if err := os.Rename(cfg.Dir, hidden); err != nil {
			t.Fatal(err)
		}
		wait(ctx, t, cfg.Report, func(r Report) bool { return r.Excused > 2 })
		if err := os.Rename(hidden, cfg.Dir); err != nil {
			t.Fatal(err)
		}
	})
	back := wait(ctx, t, cfg.Report, someWritten)
	wait(ctx, t, cfg.Report, func(r Report) bool { return r.Written > back.Written+5 })
	if now := wait(ctx, t, cfg.Report, someWritten); now.Problem() != "" {
		t.Errorf("after an excused outage: %s", now.Problem())
	}
	outage(t, cfg, func() {
		if err := os.WriteFile(filepath.Join(cfg.Dir, back.Files[0].Name), []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		wait(ctx, t, cfg.Report, func(r Report) bool { return r.Mismatches > 0 })
	})
	stop()
	if r := <-ended; r.Problem() == "" {
		t.Error("a file that differs was excused")
	}
}

func outage(t *testing.T, cfg Config, while func()) {
	t.Helper()
	if err := os.WriteFile(cfg.Excuse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	while()
	if err := os.Remove(cfg.Excuse); err != nil {
		t.Fatal(err)
	}
}
