package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/cluster"
)

func newExec(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "exec NODE -- ARGV...",
		Short: "Run a command on a node, outside of any container",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := o.node(args[0])
			if err != nil {
				return err
			}
			c := n.Command(cmd.Context(), args[1:]...)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			// In the terminal's foreground group, so that a shell can be used.
			c.SysProcAttr, c.Cancel = nil, nil
			return c.Run()
		},
	}
}

// nodeVerbs are the verbs that take a node and nothing else.
func nodeVerbs(o *options) []*cobra.Command {
	verbs := []struct {
		use, short string
		do         func(context.Context, *cluster.Node) error
	}{
		{"stop", "SIGKILL a node's kubelet; containers go on", func(ctx context.Context, n *cluster.Node) error { return n.Stop(ctx) }},
		{"kill", "Pull a node's plug", func(ctx context.Context, n *cluster.Node) error { return n.Kill(ctx) }},
		{"cut", "Take a node and its pods off the network", func(ctx context.Context, n *cluster.Node) error { return n.Cut(ctx) }},
		{"restore", "Bring a node back from any of these", func(ctx context.Context, n *cluster.Node) error { return n.Restore(ctx) }},
	}
	var out []*cobra.Command
	for _, v := range verbs {
		out = append(out, &cobra.Command{
			Use:   v.use + " NODE",
			Short: v.short,
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				n, err := o.node(args[0])
				if err != nil {
					return err
				}
				return v.do(cmd.Context(), n)
			},
		})
	}
	return out
}
