package journal

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// commitSamples is how many of the last commits Stats looks at.
const commitSamples = 4096

// commitStats are figures of this process's commits.
type commitStats struct {
	commits, appends uint64
	last             []time.Duration // a ring
}

func (s *commitStats) add(appends int, took time.Duration) {
	if len(s.last) < commitSamples {
		s.last = append(s.last, took)
	} else {
		s.last[s.commits%commitSamples] = took
	}
	s.commits++
	s.appends += uint64(appends)
}

// quantile returns the q-quantile of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Stats returns figures about the journal and this process's use of it.
func (j *Journal) Stats() (Stats, error) {
	j.mu.RLock()
	s := Stats{
		Path: j.path, JournalID: j.ID(), Head: j.led.head, Tail: j.meta.tail.Seq, Epoch: j.led.epoch,
		ByType: maps.Clone(j.led.byType), MaxBytes: j.o.MaxSize, Full: j.full,
		Commits: j.stats.commits, Appends: j.stats.appends,
	}
	last := slices.Clone(j.stats.last)
	open := map[string]int{}
	for _, o := range j.led.ops {
		open[o.State]++
	}
	j.mu.RUnlock()
	slices.Sort(last)
	s.CommitP50, s.CommitP99 = quantile(last, 0.50), quantile(last, 0.99)
	s.complete(open)
	err := j.view(func(tx *bolt.Tx) error {
		s.UsedBytes = tx.Size()
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("reading statistics: %w", err)
	}
	if n := int64(j.db.Stats().FreePageN+j.db.Stats().PendingPageN) * pageSize; n > 0 {
		s.FreeBytes = n
		s.UsedBytes -= n
	}
	info, err := os.Stat(j.path)
	if err != nil {
		return s, fmt.Errorf("reading the size of the journal: %w", err)
	}
	s.FileBytes = info.Size()
	return s, nil
}

// complete derives counts from counts: operations that ended from the events
// that ended them.
func (s *Stats) complete(open map[string]int) {
	s.Events = uint64(s.Head.Seq - s.Tail + 1)
	s.OpsBy = open
	for t, state := range map[Type]string{
		OpCompleted: opCompleted, OpFailed: opFailed, OpCancelled: opCancelled,
		OpSuperseded: opSuperseded, OpAbandoned: opAbandoned,
	} {
		if n := s.ByType[t]; n > 0 {
			s.OpsBy[state] = int(n)
		}
	}
}
