package writer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run writes until disturb has been done after the first few files, and then
// until a further few have been read.
func run(t *testing.T, files int, disturb func(dir string, seen Report)) Report {
	t.Helper()
	base := t.TempDir()
	cfg := Config{
		Dir: filepath.Join(base, "volume"), Report: filepath.Join(base, "report.json"),
		Files: files, BytesMax: 4096, Pause: time.Millisecond, Seed: 7,
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	type result struct {
		rep Report
		err error
	}
	ended := make(chan result, 1)
	go func() {
		rep, err := Run(ctx, cfg)
		ended <- result{rep, err}
	}()
	first := wait(ctx, t, cfg.Report, func(r Report) bool { return len(r.Files) >= 5 && r.Read > 0 })
	disturb(cfg.Dir, first)
	wait(ctx, t, cfg.Report, func(r Report) bool { return r.Read >= first.Read+20 || r.Errors > 0 })
	stop()
	got := <-ended
	if got.err != nil {
		t.Fatal(got.err)
	}
	saved, err := Load(cfg.Report)
	if err != nil || !saved.Done || saved.Verified != got.rep.Verified {
		t.Errorf("the saved report is %+v, %v; want the returned one", saved, err)
	}
	return got.rep
}

func wait(ctx context.Context, t *testing.T, file string, enough func(Report) bool) Report {
	t.Helper()
	for {
		if r, err := Load(file); err == nil && enough(r) {
			return r
		}
		select {
		case <-ctx.Done():
			t.Fatal("the report never said what was waited for")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestHealthyFolder(t *testing.T) {
	var dir string
	r := run(t, 10, func(d string, _ Report) { dir = d })
	if p := r.Problem(); p != "" {
		t.Errorf("on a healthy folder: %s", p)
	}
	if r.Verified != len(r.Files) || len(r.Files) == 0 || r.Written < int64(len(r.Files)) {
		t.Errorf("%d verified of %d files, %d written", r.Verified, len(r.Files), r.Written)
	}
	if err := r.Verify(dir); err != nil {
		t.Errorf("Verify(): %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(r.Files) {
		t.Errorf("%d files in the folder, %v; want the %d of the report", len(left), err, len(r.Files))
	}
	if err := os.Truncate(filepath.Join(dir, r.Files[0].Name), 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(dir); err == nil || !strings.Contains(err.Error(), r.Files[0].Name) {
		t.Errorf("Verify() of a damaged folder: %v, want %s named", err, r.Files[0].Name)
	}
}

func TestDamageIsSeen(t *testing.T) {
	cases := map[string]struct {
		reason  string
		disturb func(path string) error
		want    func(Report) bool
	}{
		"FlippedByte": {
			reason: "a file with one byte changed is a mismatch",
			disturb: func(path string) error {
				data, err := os.ReadFile(path)
				if err == nil {
					data[0] ^= 1
					err = os.WriteFile(path, data, 0o600)
				}
				return err
			},
			want: func(r Report) bool { return r.Mismatches > 0 },
		},
		"LostFile": {
			reason:  "a file that should be there and is not is an error",
			disturb: os.Remove,
			want:    func(r Report) bool { return r.Errors > 0 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// So many files that none is old enough to be removed by the writer.
			r := run(t, 100_000, func(dir string, _ Report) {
				files, err := filepath.Glob(filepath.Join(dir, "f*"))
				if err != nil {
					t.Fatal(err)
				}
				done := 0
				for _, f := range files {
					if tc.disturb(f) == nil {
						done++
					}
				}
				if done == 0 {
					t.Fatal("nothing could be damaged")
				}
			})
			if !tc.want(r) || r.Problem() == "" {
				t.Errorf("%s: report %+v", tc.reason, r)
			}
			if len(r.Samples) == 0 || len(r.Samples) > SamplesMax {
				t.Errorf("%s: %d samples, want some, at most %d", tc.reason, len(r.Samples), SamplesMax)
			}
		})
	}
}

func TestContentFollowsFromTheSeed(t *testing.T) {
	a, b, c := &writer{cfg: Config{BytesMax: 100, Seed: 1}}, &writer{cfg: Config{BytesMax: 100, Seed: 1}}, &writer{cfg: Config{BytesMax: 100, Seed: 2}}
	fa, _ := a.content(3)
	fb, _ := b.content(3)
	fc, _ := c.content(3)
	if fa != fb || fa.SHA256 == fc.SHA256 {
		t.Errorf("contents of seeds 1, 1, 2: %v, %v, %v", fa, fb, fc)
	}
}
