package journalctl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

func newStatsCommand(b *base) *cobra.Command {
	out := cli.NewOutput()
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show figures: operations by state, events by type, sizes, commit times",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.read(cmd, out, func(ctx context.Context, r *opened, p *printer) error {
				s, err := r.Stats(ctx)
				if err != nil {
					return fmt.Errorf("reading figures: %w", err)
				}
				if p.People() {
					return statsText(p, &s)
				}
				d, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "Stats", r.metadata())
				if err != nil {
					return err
				}
				if err := d.Item(s.JournalID, newStatsItem(&s)); err != nil {
					return err
				}
				return d.Close()
			})
		},
	}
	out.AddFlags(cmd.Flags())
	return cmd
}

// A statsItem is the output of stats. The JSON is a promise.
type statsItem struct {
	JournalID string                  `json:"journalID"`
	Head      journal.Head            `json:"head"`
	TailSeq   journal.Seq             `json:"tailSeq"`
	Epoch     journal.Epoch           `json:"epoch"`
	Events    uint64                  `json:"events"`
	ByType    map[journal.Type]uint64 `json:"eventsByType"`
	ByState   map[string]int          `json:"operationsByState"`
	FileBytes int64                   `json:"fileBytes"`
	UsedBytes int64                   `json:"usedBytes"`
	FreeBytes int64                   `json:"freeBytes"`
	MaxBytes  int64                   `json:"maxBytes,omitempty"` // live only
	Full      bool                    `json:"full"`
	Writer    *writerItem             `json:"writer,omitempty"` // live only
}

// A writerItem is about the process that serves the journal.
type writerItem struct {
	Commits          uint64  `json:"commits"`
	Appends          uint64  `json:"appends"`
	CommitP50Seconds float64 `json:"commitP50Seconds"`
	CommitP99Seconds float64 `json:"commitP99Seconds"`
}

func newStatsItem(s *journal.Stats) statsItem {
	it := statsItem{
		JournalID: s.JournalID, Head: s.Head, TailSeq: s.Tail, Epoch: s.Epoch, Events: s.Events, ByType: s.ByType, ByState: s.OpsBy,
		FileBytes: s.FileBytes, UsedBytes: s.UsedBytes, FreeBytes: s.FreeBytes, MaxBytes: s.MaxBytes, Full: s.Full,
	}
	if s.Commits > 0 {
		it.Writer = &writerItem{Commits: s.Commits, Appends: s.Appends, CommitP50Seconds: s.CommitP50.Seconds(), CommitP99Seconds: s.CommitP99.Seconds()}
	}
	return it
}

func statsText(p *printer, s *journal.Stats) error {
	t := cli.Table{}
	row := func(label, format string, args ...any) { t.Row(cli.Text(label, fmt.Sprintf(format, args...))...) }
	row("journal", "%s", s.JournalID)
	row("epoch", "%d", s.Epoch)
	row("events", "%d (%d-%d)", s.Events, s.Tail, s.Head.Seq)
	row("head", "%s", s.Head.Hash)
	row("file", "%s, %s in use, %s free", cli.Bytes(s.FileBytes), cli.Bytes(s.UsedBytes), cli.Bytes(s.FreeBytes))
	if s.MaxBytes > 0 {
		full := ""
		if s.Full {
			full = ", full: nothing new is begun"
		}
		row("limit", "%s%s", cli.Bytes(s.MaxBytes), full)
	}
	if s.Commits > 0 {
		row("commits", "%d for %d appends, p50 %s, p99 %s", s.Commits, s.Appends,
			s.CommitP50.Round(time.Microsecond), s.CommitP99.Round(time.Microsecond))
	}
	for _, state := range opStates {
		if n := s.OpsBy[state]; n > 0 {
			row("operations "+state, "%d", n)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(s.OpsBy)) {
		if !slices.Contains(opStates, state) {
			row("operations "+state, "%d", s.OpsBy[state])
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(s.ByType)) {
		row("events "+string(typ), "%d", s.ByType[typ])
	}
	return t.Print(p.out, p.Palette)
}
