package main

import (
	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/executor/gate"
)

func newNodeCommand() *cobra.Command {
	cmd := cli.Group(&cobra.Command{
		Use:   "node",
		Short: "What runs on a Gluster server",
	})
	cmd.AddCommand(newGateCommand())
	return cmd
}

// newGateCommand is here for its help and its usage errors: the command itself
// never gets this far, package gatefirst serves it.
func newGateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gate",
		Short: "Serve one request of the operator: JSON on standard input, a framed reply on standard output",
		Long: `Serve one request of the operator: JSON on standard input, a framed reply on
standard output.

The operator installs this binary as ` + gate.BinaryPath + ` and is the only
one to call it. The gate keeps its state in ` + gate.StateDir + ` and refuses
operators with a lower fence, and those of another pool.`,
		Args: cli.Args(),
		RunE: func(*cobra.Command, []string) error {
			if code := gate.Main(); code != gate.ExitOK {
				return cli.Errorf(cli.Code(code), "the request was refused, the reply says why")
			}
			return nil
		},
	}
}
