package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group makes cmd a command that only holds others. Without a subcommand its
// help goes to standard error and the command fails: a script that lost its
// verb must not succeed.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names := subcommands(cmd)
		if len(args) == 0 {
			cmd.SetOut(cmd.ErrOrStderr())
			_ = cmd.Help()
			return Usagef("a command is missing: %s is accepted", list(names))
		}
		if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
			return Usagef("unknown command %q: did you mean %s?", args[0], list(s))
		}
		return Usagef("unknown command %q: %s is accepted", args[0], list(names))
	}
	return cmd
}

func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Args accepts exactly the named arguments, for example Args("OP").
func Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usagef("%s is missing: accepted is: %s", names[len(args)], cmd.UseLine())
		case len(args) > len(names) && len(names) == 0:
			return Usagef("unexpected argument %q: %s takes none", args[0], cmd.Name())
		case len(args) > len(names):
			return Usagef("unexpected argument %q: accepted is: %s", args[len(names)], cmd.UseLine())
		}
		return nil
	}
}

// FlagError turns what pflag says about a flag into a usage error that says
// what is accepted. It fits cobra's SetFlagErrorFunc.
func FlagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if len(name) == 1 || unknown.GetSpecifiedShortnames() != "" {
			name = "-" + name
		} else {
			name = "--" + name
		}
		return Usagef("unknown flag %s: %s is accepted", name, list(flags(cmd)))
	case errors.As(err, &invalid):
		why := invalid.Unwrap()
		return Usagef("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), plain(invalid.GetFlag(), why))
	case errors.As(err, &missing):
		return Usagef("--%s needs a value: %s", missing.GetFlag().Name, missing.GetFlag().Usage)
	}
	return Usagef("%w", err)
}

// plain keeps the texts of our own values and replaces those of strconv.
func plain(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "int", "int64", "uint64":
		return "a number is accepted"
	case "bool":
		return "true or false is accepted"
	}
	return err.Error()
}

func flags(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// list writes a, b or c.
func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return fmt.Sprintf("%s or %s", strings.Join(names[:n-1], ", "), names[n-1])
	}
}
