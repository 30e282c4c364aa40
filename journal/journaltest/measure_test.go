package journaltest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/gluster/anthill/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMeasures runs each measurement once, small: that they work, not how fast.
func TestMeasures(t *testing.T) {
	a, p, err := Latency(t.Context(), t.TempDir(), 10)
	if err != nil || a <= 0 || p <= 0 {
		t.Errorf("Latency = %v, %v, %v", a, p, err)
	}
	x, y, err := Throughput(t.Context(), t.TempDir(), 2*Producers)
	if err != nil || x <= 0 || y <= 0 {
		t.Errorf("Throughput = %v, %v, %v", x, y, err)
	}
	took, size, err := Opening(t.Context(), t.TempDir(), 3000, 1)
	if err != nil || took <= 0 || size < 3000*100 {
		t.Errorf("Opening = %v, %d, %v", took, size, err)
	}
}

// TestFill fills a journal and counts.
func TestFill(t *testing.T) {
	j := Open(t)
	if err := Fill(t.Context(), j, 2500, 10); err != nil {
		t.Fatal(err)
	}
	s, err := j.Stats()
	if err != nil || s.Events < 2500 || s.Events > 2510 || len(j.OpenOps()) < 5 || len(j.OpenOps()) > 11 {
		t.Errorf("%d events, %d open, %v; want 2500 and about 10", s.Events, len(j.OpenOps()), err)
	}
	life, err := Life(1, false)
	if err != nil || len(life) != 9 || life[8].Type != journal.OpCompleted {
		t.Errorf("Life = %d events, %v", len(life), err)
	}
}
