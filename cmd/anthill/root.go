package main

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/journalctl"
)

// run is the process without the process: it carries out a command line and
// returns the exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	cmd := newRootCommand(filepath.Base(args[0]))
	cmd.SetArgs(args[1:])
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	return int(cli.Report(errOut, cmd.ExecuteContext(ctx)))
}

// pluginName is the file name under which kubectl finds its plugin.
const pluginName = "kubectl-anthill"

func newRootCommand(name string) *cobra.Command {
	cmd := cli.Group(&cobra.Command{
		Use:           "anthill",
		Short:         "Run GlusterFS for Kubernetes",
		SilenceUsage:  true,
		SilenceErrors: true,
	})
	if name == pluginName {
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl anthill"}
	}
	cmd.SetFlagErrorFunc(cli.FlagError)
	cmd.AddCommand(
		journalctl.NewCommand(journalctl.Env{Person: func() (string, error) { return person(name == pluginName) }}),
		newManagerCommand(),
		newNodeCommand(),
		newPlanCommand(),
		newVersionCommand(),
	)
	return cmd
}
