package manager

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gluster/anthill/journal"
)

// journalMetrics are the journal's series, read from it at each scrape.
type journalMetrics struct {
	stats func() (journal.Stats, error)

	events, commits, appends, epoch          *prometheus.Desc
	file, used, free, max, full, ops, commit *prometheus.Desc
	byType                                   *prometheus.Desc
}

var _ prometheus.Collector = (*journalMetrics)(nil)

func newJournalMetrics(stats func() (journal.Stats, error)) *journalMetrics {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("anthill_journal_"+name, help, labels, nil)
	}
	return &journalMetrics{
		stats:   stats,
		events:  d("events_total", "Events ever appended to the journal: the number of the last one."),
		byType:  d("retained_events", "Events that the journal holds, by type.", "type"),
		commits: d("commits_total", "Transactions committed by this process."),
		appends: d("appends_total", "Appends of this process; several share a commit."),
		commit:  d("commit_seconds", "Duration of the last 4096 commits.", "quantile"),
		epoch:   d("epoch", "Epoch that is open, or was last."),
		file:    d("file_bytes", "Size of the journal's file."),
		used:    d("used_bytes", "Pages of the file in use."),
		free:    d("free_bytes", "Pages of the file free for reuse."),
		max:     d("max_bytes", "Largest size the file may have."),
		full:    d("full", "1 while the journal takes no new operations for lack of space."),
		ops:     d("operations", "Operations in the journal, by state.", "state"),
	}
}

// Describe sends the descriptions.
func (m *journalMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.events, m.byType, m.commits, m.appends, m.commit, m.epoch, m.file, m.used, m.free, m.max, m.full, m.ops} {
		ch <- d
	}
}

// Collect reads the journal. When that fails the scrape says so.
func (m *journalMetrics) Collect(ch chan<- prometheus.Metric) {
	s, err := m.stats()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(m.events, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	counter(m.events, uint64(s.Head.Seq))
	counter(m.commits, s.Commits)
	counter(m.appends, s.Appends)
	gauge(m.commit, s.CommitP50.Seconds(), "0.5")
	gauge(m.commit, s.CommitP99.Seconds(), "0.99")
	gauge(m.epoch, float64(s.Epoch))
	gauge(m.file, float64(s.FileBytes))
	gauge(m.used, float64(s.UsedBytes))
	gauge(m.free, float64(s.FreeBytes))
	gauge(m.max, float64(s.MaxBytes))
	full := 0.0
	if s.Full {
		full = 1
	}
	gauge(m.full, full)
	for t, n := range s.ByType {
		gauge(m.byType, float64(n), string(t))
	}
	for state, n := range s.OpsBy {
		gauge(m.ops, float64(n), state)
	}
}
