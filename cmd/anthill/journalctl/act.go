package journalctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// Limits of what a person may write into the journal.
const (
	reasonMax = 1024
	personMax = 128
)

// An actOptions holds what every decision needs.
type actOptions struct {
	verb      string
	step      string // resolve
	outcome   string // resolve
	reason    string
	as        string
	ifVersion uint64
	out       *cli.Output
}

func newRetryCommand(b *base) *cobra.Command {
	return newActCommand(b, "retry", "Let a suspended operation go on, or an abandoned one be planned again")
}

func newCancelCommand(b *base) *cobra.Command {
	return newActCommand(b, "cancel", "End an operation that has not passed its pivot; what was done is undone")
}

func newAbandonCommand(b *base) *cobra.Command {
	return newActCommand(b, "abandon", "Let go of a planned or suspended operation as it stands")
}

func newActCommand(b *base, verb, short string) *cobra.Command {
	o := &actOptions{verb: verb}
	cmd := &cobra.Command{
		Use:   verb + " OP --reason TEXT",
		Short: short,
		Args:  cli.Args("OP"),
		RunE:  func(cmd *cobra.Command, args []string) error { return o.run(cmd, b, args[0]) },
	}
	o.addFlags(cmd)
	return cmd
}

func newResolveCommand(b *base) *cobra.Command {
	o := &actOptions{verb: "resolve"}
	var done, notDone bool
	cmd := &cobra.Command{
		Use:   "resolve OP/STEP --done|--not-done --reason TEXT",
		Short: "Settle a step whose outcome cannot be told: you looked, and it is done or not",
		Args:  cli.Args("OP/STEP"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op, step, ok := strings.Cut(args[0], "/")
			if !ok || step == "" {
				return cli.Usagef("%q: OP/STEP is accepted, for example %s/add-brick", args[0], op)
			}
			if done == notDone {
				return cli.Usagef("one of --done and --not-done is required")
			}
			o.step, o.outcome = step, journal.OutcomeDone
			if notDone {
				o.outcome = journal.OutcomeNotDone
			}
			return o.run(cmd, b, op)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&done, "done", false, "its effect is there")
	cmd.Flags().BoolVar(&notDone, "not-done", false, "its effect is not there and cannot come any more")
	return cmd
}

func (o *actOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "why, for the record (required)")
	f.StringVar(&o.as, "as", "", "who decides; default: you")
	f.Uint64Var(&o.ifVersion, "if-version", 0, "only if the operation still has this version, as show prints it")
	o.out = cli.NewOutput()
	o.out.AddFlags(f)
}

// validate checks what a person wrote and finds out who it is.
func (o *actOptions) validate(b *base) error {
	if err := b.source.validate(); err != nil {
		return err
	}
	if b.source.file != "" {
		return cli.Usagef("%s needs the running operator, which alone may decide and write: --file is accepted only for reading", o.verb)
	}
	o.reason = strings.TrimSpace(o.reason)
	switch {
	case o.reason == "":
		return cli.Usagef("--reason is required: why you decide so, for the record")
	case len(o.reason) > reasonMax || strings.ContainsFunc(o.reason, unicode.IsControl):
		return cli.Usagef("--reason: one line of at most %d bytes is accepted", reasonMax)
	}
	if o.as == "" {
		who, err := b.Person()
		if err != nil {
			return err
		}
		o.as = who
	}
	if o.as == "" || len(o.as) > personMax || strings.ContainsFunc(o.as, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return cli.Usagef("--as %q: a name without spaces of at most %d bytes is accepted", o.as, personMax)
	}
	return nil
}

func (o *actOptions) run(cmd *cobra.Command, b *base, arg string) error {
	if err := o.validate(b); err != nil {
		return err
	}
	return bounded(cmd.Context(), time.Duration(b.source.timeout), func(ctx context.Context) error {
		r, err := b.source.dial(ctx, b.Getenv)
		if errors.Is(err, journal.ErrUnavailable) {
			return fmt.Errorf("%s needs the running operator, which alone may decide and write: %w", o.verb, err)
		}
		if err != nil {
			return err
		}
		defer r.Close()
		p := b.printer(cmd, o.out)
		r.note(p.err)
		return o.act(ctx, r, p, arg)
	})
}

// An actItem is the output of a decision. The JSON is a promise.
type actItem struct {
	Operation string      `json:"operation"`
	Verb      string      `json:"verb"`
	Step      string      `json:"step,omitempty"`
	Outcome   string      `json:"outcome,omitempty"`
	Person    string      `json:"person"`
	Reason    string      `json:"reason"`
	Seq       journal.Seq `json:"seq,omitempty"` // of the event that records it
	Message   string      `json:"message,omitempty"`
}

func (o *actOptions) act(ctx context.Context, r *opened, p *printer, arg string) error {
	id, err := r.resolve(ctx, arg)
	if err != nil {
		return err
	}
	did, err := r.client.Act(ctx, journal.Act{
		Verb: o.verb, Op: id, Step: o.step, Outcome: o.outcome, Reason: o.reason, Person: o.as, IfVersion: o.ifVersion,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		notef(p.err, "the decision may have been recorded: anthill journal show %s tells", id)
		return err
	case err != nil:
		return o.refused(ctx, r, id, fmt.Errorf("%s %s: %w", o.verb, id, err))
	}
	if p.People() {
		text := "operation " + id.String()
		if did.Message != "" {
			text += ": " + did.Message
		}
		if did.Seq != 0 {
			text += fmt.Sprintf(" (event %d)", did.Seq)
		}
		_, err := fmt.Fprintln(p.out, cli.Line(text))
		return err
	}
	d, err := cli.NewDocument(p.out, p.Format.Value, apiVersion, "Decision", r.metadata())
	if err != nil {
		return err
	}
	it := actItem{Operation: id.String(), Verb: o.verb, Step: o.step, Outcome: o.outcome, Person: o.as, Reason: o.reason, Seq: did.Seq, Message: did.Message}
	if err := d.Item(it.Operation, it); err != nil {
		return err
	}
	return d.Close()
}

// refused gives a refusal its exit code: the operation has gone on since the
// person looked, or the outcome of its step is in doubt and has to be settled
// first.
func (o *actOptions) refused(ctx context.Context, r *opened, id journal.OpID, err error) error {
	if !errors.Is(err, journal.ErrRefused) && !journal.IsIllegal(err) {
		return err
	}
	op, _, ferr := r.fold(ctx, id, nil)
	if ferr != nil {
		return err
	}
	if o.ifVersion != 0 && o.ifVersion != op.Ver {
		return &cli.Error{Code: cli.Conflict, Err: err}
	}
	if k := op.Current(); !op.State.Terminal() && k < len(op.Steps) && op.Steps[k].State == view.Unknown {
		return &cli.Error{Code: cli.NeedsDecision, Err: err}
	}
	return err
}
