package journalctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

func newVerifyCommand(b *base) *cobra.Command {
	out := cli.NewOutput()
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the journal's structure, hash chain and projections; exit 6 if it is damaged",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.source.validate(); err != nil {
				return err
			}
			return bounded(cmd.Context(), time.Duration(b.source.timeout), func(ctx context.Context) error {
				rep, source, where, err := b.verify(ctx)
				if err != nil {
					return err
				}
				p := b.printer(cmd, out)
				m := metadata{Source: source, Path: where, JournalID: rep.JournalID, HeadSeq: rep.Head.Seq, Epoch: rep.Epoch}
				return buffered(p, func() error { return printReport(p, m, &rep) })
			})
		},
	}
	out.AddFlags(cmd.Flags())
	return cmd
}

// verify checks the live journal, or the file. A file too damaged to open is a
// report with one finding, like any other damage.
func (b *base) verify(ctx context.Context) (rep journal.Report, source, where string, err error) {
	if b.source.file == "" {
		o, err := b.source.dial(ctx, b.Getenv)
		if err == nil {
			defer o.Close()
			rep, err = o.Verify(ctx)
			return rep, "live", o.info.Path, classify(err)
		}
		if b.source.socket != "" || !errors.Is(err, journal.ErrUnavailable) {
			return rep, "", "", err
		}
	}
	where = b.source.file
	if where == "" {
		where = journalPath(b.Getenv)
	}
	if fi, serr := os.Stat(where); serr == nil && !fi.Mode().IsRegular() {
		return rep, "", "", cli.Usagef("%q is not a regular file", where)
	}
	rep, err = journal.Verify(ctx, where)
	var damage *journal.CorruptError
	switch {
	case errors.As(err, &damage):
		rep.Findings = append(rep.Findings, journal.Finding{Seq: damage.Seq, Key: damage.Key, What: damage.What})
		err = nil
	case errors.Is(err, fs.ErrNotExist):
		err = cli.Errorf(cli.Unavailable, "no journal at %q: name its file with --file or %s, or its operator's socket with --socket", where, PathEnv)
	}
	return rep, "file", where, classify(err)
}

// A verifyItem is the output of verify. The JSON is a promise.
type verifyItem struct {
	OK        bool              `json:"ok"`
	JournalID string            `json:"journalID,omitempty"`
	Format    int               `json:"format"`
	Epoch     journal.Epoch     `json:"epoch"`
	Head      journal.Head      `json:"head"`
	TailSeq   journal.Seq       `json:"tailSeq"`
	Events    uint64            `json:"events"`
	Ops       int               `json:"operations"`
	Open      int               `json:"openOperations"`
	FileBytes int64             `json:"fileBytes"`
	Seconds   float64           `json:"seconds"`
	Findings  []journal.Finding `json:"findings"`
}

// printReport prints what was found; damage is an error after the output.
func printReport(p *printer, m metadata, r *journal.Report) error {
	if p.People() {
		if err := reportText(p, m, r); err != nil {
			return err
		}
	} else {
		d, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "VerifyReport", m)
		if err != nil {
			return err
		}
		it := verifyItem{
			OK: r.OK(), JournalID: r.JournalID, Format: r.Format, Epoch: r.Epoch, Head: r.Head, TailSeq: r.Tail, Events: r.Events,
			Ops: r.Ops, Open: r.Open, FileBytes: r.Bytes, Seconds: r.Took.Seconds(), Findings: append([]journal.Finding{}, r.Findings...),
		}
		if err := d.Item(r.JournalID, it); err != nil {
			return err
		}
		if err := d.Close(); err != nil {
			return err
		}
	}
	if n := len(r.Findings); n > 0 {
		return cli.Errorf(cli.Damaged, "journal %q is damaged: %s", m.Path, plural(n, "finding"))
	}
	return nil
}

func reportText(p *printer, m metadata, r *journal.Report) error {
	notef(p.err, "checked %s in %s", cli.Line(m.Path), r.Took.Round(time.Millisecond))
	if r.OK() {
		_, err := fmt.Fprintf(p.out, "%s journal %s, format %d, epoch %d: events %d-%d, %s, %d open, head %s\n",
			p.Paint(cli.Green, "intact"), r.JournalID, r.Format, r.Epoch, r.Tail, r.Head.Seq, plural(r.Ops, "operation"), r.Open, r.Head.Hash)
		return err
	}
	t := cli.Table{Header: []string{"SEQ", "KEY", "WHAT"}}
	if p.NoHeaders {
		t.Header = nil
	}
	for _, f := range r.Findings {
		seq := ""
		if f.Seq != 0 {
			seq = fmt.Sprint(f.Seq)
		}
		t.Row(cli.Cell{Text: seq}, cli.Cell{Text: f.Key}, cli.Cell{Text: f.What, Color: cli.Red})
	}
	return t.Print(p.out, p.Palette)
}

func plural(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
