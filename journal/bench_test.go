package journal

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// benchJournal opens a journal with an epoch and one started operation.
func benchJournal(b *testing.B) (*Journal, OpID) {
	b.Helper()
	j, err := Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	if _, err := j.OpenEpoch(b.Context(), Opened{Instance: "bench"}); err != nil {
		b.Fatal(err)
	}
	return j, benchOp(b, j, 1)
}

func benchOp(b testing.TB, j *Journal, n int) OpID {
	id := testID(n)
	plan := Plan{Kind: "add-brick", Scope: fmt.Sprintf("pool-%d", n), Intent: fmt.Sprint("intent", n), Object: "GlusterVolume/default/v1", Target: "volume/v1",
		Locks: []string{"pool"}, Steps: []Step{{ID: "wait", Name: "wait@1", Stage: Waiting}, {ID: "add", Name: "add@1", Stage: Pivot}}}
	if _, err := j.Append(b.Context(), Guard{}, mustEvent(b, OpPlanned, id, plan), Event{Type: OpStarted, Op: id},
		Event{Type: StepStarted, Op: id, Step: "wait", Attempt: 1}); err != nil {
		b.Fatal(err)
	}
	return id
}

func progress(b testing.TB, id OpID) Event {
	ev := mustEvent(b, StepProgress, id, Progress{Percent: 40, Message: "waiting for heal: 1234 entries pending on brick n2:/bricks/b1, 34 on n3, about 5 minutes left at the present rate"})
	ev.Step, ev.Attempt, ev.Actor = "wait", 1, "executor"
	return ev
}

// BenchmarkAppend is one caller, one event per append.
func BenchmarkAppend(b *testing.B) {
	j, id := benchJournal(b)
	ev := progress(b, id)
	b.ResetTimer()
	for range b.N {
		if _, err := j.Append(b.Context(), Guard{}, ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend64 is 64 callers, each with its own operation.
func BenchmarkAppend64(b *testing.B) {
	j, _ := benchJournal(b)
	var left atomic.Int64
	left.Store(int64(b.N))
	evs := make([]Event, 64)
	for i := range evs {
		evs[i] = progress(b, benchOp(b, j, i+2))
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range evs {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := j.Append(b.Context(), Guard{}, evs[i]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	s, err := j.Stats()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s.Appends)/float64(s.Commits), "appends/commit")
}

// BenchmarkUpdate is what BenchmarkAppend is measured against: one bbolt bucket,
// the same bytes, the same options.
func BenchmarkUpdate(b *testing.B) {
	db, err := bolt.Open(filepath.Join(b.TempDir(), "plain.db"), 0o600, &bolt.Options{
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	name := []byte("ev")
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket(name); return err }); err != nil {
		b.Fatal(err)
	}
	ev := progress(b, testID(1))
	ev.OpVer, ev.Epoch, ev.Time = 1000, 1, 1<<60
	val := evValue(Hash{}, appendEvent(nil, &ev))
	b.ReportMetric(float64(len(val)), "bytes")
	b.ResetTimer()
	for i := range b.N {
		err := db.Update(func(tx *bolt.Tx) error {
			bk := tx.Bucket(name)
			bk.FillPercent = evFill
			return bk.Put(seqKey(Seq(i+1)), val)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
