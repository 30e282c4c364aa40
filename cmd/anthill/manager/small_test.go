package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gluster/anthill/journal"
)

func TestGateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate")
	if err := os.WriteFile(path, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := NewGateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"; g.Digest != want {
		t.Errorf("digest %s, want %s", g.Digest, want)
	}
	if b, err := g.Binary(); err != nil || string(b) != "one" {
		t.Errorf("got %q, %v", b, err)
	}
	if err := os.WriteFile(path, []byte("two"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Binary(); err == nil {
		t.Error("servers would get a program with another digest than was planned")
	}
	if _, err := NewGateFile(filepath.Join(t.TempDir(), "nope")); err == nil {
		t.Error("a program that is not there is an error at start")
	}
	if g, err := NewGateFile(""); err != nil || g.Digest == "" {
		t.Errorf("this program can be its own gate: %v, %v", g, err)
	}
}

func TestJournalMetrics(t *testing.T) {
	stats := journal.Stats{Head: journal.Head{Seq: 42}, Epoch: 3, Commits: 7, Appends: 9, FileBytes: 1 << 20, Full: true,
		CommitP50: 2 * time.Millisecond, CommitP99: 9 * time.Millisecond,
		ByType: map[journal.Type]uint64{journal.OpPlanned: 5}, OpsBy: map[string]int{"completed": 4}}
	var failure error
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(newJournalMetrics(func() (journal.Stats, error) { return stats, failure })); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetName() + "=" + l.GetValue() + "}"
			}
			got[name] = value(m)
		}
	}
	for name, want := range map[string]float64{
		"anthill_journal_events_total": 42, "anthill_journal_commits_total": 7, "anthill_journal_appends_total": 9, "anthill_journal_epoch": 3,
		"anthill_journal_file_bytes": 1 << 20, "anthill_journal_full": 1, "anthill_journal_commit_seconds{quantile=0.5}": .002,
		"anthill_journal_commit_seconds{quantile=0.99}": .009, "anthill_journal_retained_events{type=op.planned}": 5, "anthill_journal_operations{state=completed}": 4,
	} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	failure = errors.New("closed")
	if _, err := r.Gather(); err == nil {
		t.Error("a journal that cannot be read must not look like one without events")
	}
}

func value(m *dto.Metric) float64 {
	if m.GetCounter() != nil {
		return m.GetCounter().GetValue()
	}
	return m.GetGauge().GetValue()
}

func TestPeopleAreToldBeforeThereIsAnEngine(t *testing.T) {
	_, err := (&people{}).Act(t.Context(), journal.Act{Verb: "retry"})
	if !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	l, err := newLog(&b, "info", "json")
	if err != nil {
		t.Fatal(err)
	}
	l.own.WithName("executor").Info("step starts", "operation", "x")
	l.own.V(1).Info("detail")
	l.library.Info("a library works")
	l.slog.Warn("from the journal", "seq", 3)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: details and the work of libraries are below the level\n%s", len(lines), b.String())
	}
	for _, l := range lines {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Errorf("%q: %v", l, err)
		}
		for _, key := range []string{"level", "time", "message"} {
			if m[key] == nil {
				t.Errorf("%q has no %s", l, key)
			}
		}
	}
	if _, err := newLog(&b, "loud", "json"); err == nil {
		t.Error("an unknown level is an error")
	}
}
