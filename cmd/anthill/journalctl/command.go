package journalctl

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

// Where the journal is when nothing says otherwise.
const (
	// PathEnv names the environment variable with the path of the journal file.
	PathEnv = "ANTHILL_JOURNAL"
	// DefaultPath is the operator's own default.
	DefaultPath = "/var/lib/anthill/operator/journal.db"
)

// An Env is what the commands need of the process around them. Zero fields
// have the defaults named.
type Env struct {
	Getenv func(string) string    // default os.Getenv
	Now    func() time.Time       // default time.Now; ages only
	Local  *time.Location         // default time.Local
	Person func() (string, error) // who decides without --as; default: nobody, --as is then required
}

func (e Env) withDefaults() Env {
	if e.Getenv == nil {
		e.Getenv = os.Getenv
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Local == nil {
		e.Local = time.Local //nolint:gosmopolitan // times are for the person who looks, where that person is
	}
	if e.Person == nil {
		e.Person = func() (string, error) { return "", cli.Usagef("it is not known who you are: --as NAME is required") }
	}
	return e
}

// A base is what all commands of the group share.
type base struct {
	Env
	source source
}

// NewCommand returns the command "journal" with its subcommands.
func NewCommand(env Env) *cobra.Command {
	b := &base{Env: env.withDefaults()}
	cmd := cli.Group(&cobra.Command{
		Use:   "journal",
		Short: "Show what the journal says, and decide where a person has to",
		Long: `Show what the operator's journal says, and decide where a person has to.

The journal is found in this order: --file, --socket, else the file named by
` + PathEnv + ` (default ` + DefaultPath + `):
its operator's socket beside it, or the file itself if no operator runs.
An OP is the id of an operation or a unique prefix of at least 6 characters.

Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict, 5 journal
unavailable or locked, 6 journal damaged, 8 timeout, 9 a decision is needed
first, 130 interrupted.`,
	})
	b.source.addFlags(cmd.PersistentFlags())
	cmd.AddCommand(
		newLsCommand(b),
		newShowCommand(b),
		newEventsCommand(b),
		newTailCommand(b),
		newVerifyCommand(b),
		newStatsCommand(b),
		newRetryCommand(b),
		newResolveCommand(b),
		newCancelCommand(b),
		newAbandonCommand(b),
	)
	return cmd
}

// A printer is where one command prints.
type printer struct {
	*cli.Output
	cli.Palette
	env Env
	out io.Writer
	err io.Writer
}

func (b *base) printer(cmd *cobra.Command, o *cli.Output) *printer {
	return &printer{Output: o, Palette: o.PaletteFor(cmd.OutOrStdout(), b.Getenv), env: b.Env, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
}

// when writes a point in time for people: an age, or with --utc the time.
func (p *printer) when(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case p.UTC:
		return p.Time(t, p.env.Local)
	}
	return cli.Age(p.env.Now().Sub(t))
}

// ago is when for the middle of a sentence.
func (p *printer) ago(t time.Time) string {
	if p.UTC || t.IsZero() {
		return p.when(t)
	}
	return p.when(t) + " ago"
}

// date writes a point in time with its age, or with --utc the time alone.
func (p *printer) date(t time.Time) string {
	s := p.Time(t, p.env.Local)
	if t.IsZero() || p.UTC {
		return s
	}
	return s + " (" + cli.Age(p.env.Now().Sub(t)) + " ago)"
}
