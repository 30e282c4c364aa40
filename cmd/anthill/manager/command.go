package manager

import (
	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

// NewCommand returns the command "manager". getenv and build describe the
// process.
func NewCommand(getenv func(string) string, build string) *cobra.Command {
	o := NewOptions(getenv)
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the operator",
		Long: `Run the operator: look after the GlusterClusters, GlusterNodes and
GlusterVolumes of the API server, and carry out what they need through the
journal.

It ends with status 0 after SIGTERM or SIGINT, and with another one when its
lease is lost, when another process of the same instance takes over, or when its
journal cannot be used. A damaged journal is kept aside and a new one is begun.`,
		Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return Run(cmd.Context(), o, build, cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
