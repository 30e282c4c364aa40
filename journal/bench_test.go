package journal_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

// benchJournal opens a journal with n operations whose first step waits, and
// returns an event for each.
func benchJournal(b *testing.B, n int) (*journal.Journal, []journal.Event) {
	b.Helper()
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	if _, err := j.OpenEpoch(b.Context(), journal.Opened{Instance: "bench"}); err != nil {
		b.Fatal(err)
	}
	var evs []journal.Event
	for i := range n {
		life, err := journaltest.Life(i+1, true)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := j.Append(b.Context(), journal.Guard{}, life[:3]...); err != nil {
			b.Fatal(err)
		}
		ev, err := journal.New(journal.StepProgress, journaltest.ID(i+1), journal.Progress{Percent: 40, Message: fmt.Sprintf("%0200d", i)})
		if err != nil {
			b.Fatal(err)
		}
		ev.Step, ev.Attempt, ev.Actor = "guard", 1, "executor"
		evs = append(evs, ev)
	}
	return j, evs
}

// BenchmarkAppend is one caller, one event per append.
func BenchmarkAppend(b *testing.B) {
	j, evs := benchJournal(b, 1)
	b.ReportAllocs()
	b.ReportMetric(float64(evs[0].StoredSize()), "bytes/event")
	b.ResetTimer()
	for range b.N {
		if _, err := j.Append(b.Context(), journal.Guard{}, evs[0]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate is what BenchmarkAppend is measured against.
func BenchmarkUpdate(b *testing.B) {
	_, evs := benchJournal(b, 1)
	p, err := journaltest.OpenPlain(b.TempDir(), evs[0].StoredSize())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := p.Update(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProducers is many callers, each with an operation of its own.
func BenchmarkProducers(b *testing.B) {
	for _, n := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j, evs := benchJournal(b, n)
			before, err := j.Stats()
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					for k := i; k < b.N; k += n {
						if _, err := j.Append(b.Context(), journal.Guard{}, evs[i]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			after, err := j.Stats()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(after.Appends-before.Appends)/float64(after.Commits-before.Commits), "appends/commit")
		})
	}
}

// BenchmarkOpen opens and verifies a journal.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "journal.db")
			j, err := journal.Open(b.Context(), path, journal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := j.OpenEpoch(b.Context(), journal.Opened{}); err != nil {
				b.Fatal(err)
			}
			if err := journaltest.Fill(b.Context(), j, n, 10); err != nil {
				b.Fatal(err)
			}
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				j, err := journal.Open(b.Context(), path, journal.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
