package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/image"
	"github.com/gluster/anthill/test/local"
)

func newBuild(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build every binary that is not built yet, and start nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cluster.Build(cmd.Context(), o.config())
		},
	}
}

func newUp(o *options) *cobra.Command {
	cfg := cluster.Config{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Make the cluster run; bring back what was killed, stopped or cut off",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := o.config()
			cfg.Checkout, cfg.Instance, cfg.Log = named.Checkout, named.Instance, named.Log
			env, err := cluster.Up(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			return printStatus(cmd, env, "table")
		},
	}
	f := cmd.Flags()
	f.IntVar(&cfg.Nodes, "nodes", 3, "number of nodes, 1 to 16")
	f.IntVar(&cfg.MemoryMiB, "memory-mib", 3072, "what the pods of one node may use together")
	f.IntVar(&cfg.Servers, "servers", 0, "GlusterFS servers outside Kubernetes beside them")
	f.StringSliceVar(&cfg.Suites, "suites", []string{image.Gluster10}, "Debians of the node images: bookworm has GlusterFS 10.3, trixie 11.1")
	f.BoolVar(&cfg.Fresh, "fresh", false, "take down what exists first")
	f.BoolVar(&cfg.KeepFailed, "keep-failed", true, "leave a half-failed cluster to be looked at")
	return cmd
}

func newDown(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Take the cluster down, whatever state it is in",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cluster.Down(cmd.Context(), o.config())
		},
	}
}

func newStatus(o *options) *cobra.Command {
	format := "table"
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what runs, and what is unhealthy and why; exit code 1 when something is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := cluster.Inspect(o.config())
			if err != nil {
				return err
			}
			return printStatus(cmd, env, format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	return cmd
}

func printStatus(cmd *cobra.Command, env *cluster.Env, format string) error {
	return local.Report(cmd.OutOrStdout(), env.Status(cmd.Context()), format)
}

func newLogs(o *options) *cobra.Command {
	lines := 20
	cmd := &cobra.Command{
		Use:   "logs [COMPONENT...]",
		Short: "Print the ends of the logs: etcd, kube-scheduler, n1 ... (default: all)",
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := cluster.Inspect(o.config())
			if err != nil {
				return err
			}
			return local.ReportLogs(cmd.OutOrStdout(), env.LogFiles(), args, lines)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "lines of each log")
	return cmd
}

func newKubeconfig(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the administrator's kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := cluster.Open(o.config())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), env.Kubeconfig())
			return nil
		},
	}
}

func newImages(o *options) *cobra.Command {
	var suites []string
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Build the checkout again and give its images to all nodes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := cluster.Open(o.config())
			if err != nil {
				return err
			}
			return env.LoadImages(cmd.Context(), suites...)
		},
	}
	cmd.Flags().StringSliceVar(&suites, "suites", nil, "Debians of the node images (default: those that the nodes have)")
	return cmd
}
