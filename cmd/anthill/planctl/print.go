package planctl

import (
	"fmt"
	"io"
	"strings"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// write writes plans in the format asked for.
func write(w io.Writer, o *cli.Output, getenv func(string) string, plans []planned) error {
	if !o.Is(cli.FormatTable) {
		doc, err := cli.NewDocument(w, o.Format.Value, apiVersion, "PlanList", struct{}{})
		if err != nil {
			return err
		}
		for i := range plans {
			if err := doc.Item(plans[i].key.String(), describe(&plans[i])); err != nil {
				return err
			}
		}
		return doc.Close()
	}
	p := &page{palette: o.PaletteFor(w, getenv)}
	for i := range plans {
		if i > 0 {
			p.linef("")
		}
		p.cluster(describe(&plans[i]))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// A page is the text for people.
type page struct {
	b       strings.Builder
	palette cli.Palette
}

func (p *page) linef(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.b.WriteByte('\n')
}

func (p *page) cluster(d *document) {
	pool := ""
	switch {
	case d.NewPool:
		pool = ", a new pool"
	case d.PoolID != "":
		pool = ", pool " + d.PoolID
	}
	p.linef("%s", p.palette.Paint(cli.Bold, "GlusterCluster "+cli.Line(d.Cluster)+pool))
	if len(d.Operations)+len(d.Ends)+len(d.Releases) == 0 {
		p.linef("  nothing to do")
	}
	for _, o := range d.Operations {
		p.operation(o)
	}
	for _, e := range d.Ends {
		p.linef("  would %s %s: %s", e.How, e.Operation, cli.Line(e.Reason))
	}
	for _, r := range d.Releases {
		p.linef("  would let go of %s", cli.Line(r))
	}
	for _, u := range d.UnderWay {
		step := ""
		if u.Step != "" {
			step = ", step " + cli.Line(u.Step)
		}
		p.linef("  under way: %s of %s, %s%s (%s)", cli.Line(u.Kind), cli.Line(u.Target), u.State, step, u.Operation)
	}
	for _, x := range d.Problems {
		p.linef("  %s %s: %s", p.palette.Paint(cli.Yellow, strings.ToLower(word(x.Condition))), cli.Line(x.Object), cli.Line(x.Reason+": "+x.Message))
	}
}

// word says a condition that is not as it should be.
func word(condition string) string {
	if condition == "SpecAccepted" {
		return "refused"
	}
	return condition
}

func (p *page) operation(o operation) {
	p.linef("  %d. %s of %s: %s", o.Number, p.palette.Paint(cli.Green, cli.Line(o.Kind)), cli.Line(o.Target), cli.Line(o.Difference))
	if len(o.After) > 0 {
		p.linef("     after %s", join(o.After))
	}
	for _, id := range o.AfterOpen {
		p.linef("     after operation %s", id)
	}
	for _, id := range o.Supersedes {
		p.linef("     in place of operation %s", id)
	}
	names := make([]string, 0, len(o.Steps))
	for _, s := range o.Steps {
		n := cli.Line(s.ID)
		if s.Stage == journal.Pivot {
			n += " (from here on only forward)"
		}
		names = append(names, n)
	}
	p.linef("     steps: %s", strings.Join(names, ", "))
}

func join(numbers []int) string {
	s := make([]string, len(numbers))
	for i, n := range numbers {
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}
