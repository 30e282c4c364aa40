package main

import (
	"github.com/go-logr/logr"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/node"
	"github.com/gluster/anthill/executor/node/probe"
)

func newNodeCommand() *cobra.Command {
	cmd := cli.Group(&cobra.Command{
		Use:   "node",
		Short: "What runs on a Gluster server",
	})
	cmd.AddCommand(newGateCommand(), newNodeRunCommand(), newProbeCommand())
	return cmd
}

// newNodeRunCommand is the entry point of a pod.
func newNodeRunCommand() *cobra.Command {
	var storage []string
	o := node.Options{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Be the first process of a Gluster pod: mount its devices, keep glusterd running, reap, stop in good order",
		Long: `Be the first process of a Gluster pod: mount the devices this node owns, start
glusterd and start it again when it ends, reap what is left behind. On SIGTERM
bricks are ended so that they close their sockets, glusterd is ended, and file
systems are unmounted.

A device is mounted at ` + gate.BricksDir + `/NAME if it is the file system that the operator
had made or mounted there before. Nothing is ever formatted without it.`,
		Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, arg := range storage {
				s, err := node.ParseStorage(arg)
				if err != nil {
					return cli.Errorf(cli.Usage, "%w", err)
				}
				o.Storage = append(o.Storage, s)
			}
			if err := o.Validate(); err != nil {
				return cli.Errorf(cli.Usage, "%w", err)
			}
			o.Log = logr.FromSlogHandler(zerolog.NewSlogHandler(zerolog.New(cmd.ErrOrStderr())))
			return node.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringArrayVar(&storage, "storage", nil, "a block device and its name, `NAME=DEVICE`; may be repeated")
	cmd.Flags().DurationVar(&o.StopTimeout, "stop-timeout", node.StopTimeoutDefault, "how long stopping may take; less than the pod's grace period")
	return cmd
}

// newProbeCommand is here for its help: package probefirst serves it.
func newProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   probe.Verb,
		Short: "Exit with 0 if the first process of the pod serves: its liveness probe, which glusterd and its bricks cannot fail",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := probe.Main(cmd.Context(), cmd.ErrOrStderr()); code != 0 {
				return cli.Errorf(cli.Code(code), "%s: no", probe.Verb)
			}
			return nil
		},
	}
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
