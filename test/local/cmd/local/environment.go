package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/local"
)

func newSetup() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Install the Debian packages that are missing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return local.Setup(cmd.Context(), cmd.OutOrStdout())
		},
	}
}

func newPreflight(o *options) *cobra.Command {
	cfg := local.Config{}
	cmd := &cobra.Command{
		Use:   "preflight",
		Short: "Say what this machine lacks, one line each",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := o.config()
			cfg.Checkout, cfg.Instance = named.Checkout, named.Instance
			return local.Preflight(cfg)
		},
	}
	cmd.Flags().IntVar(&cfg.Servers, "servers", 4, "number of servers")
	cmd.Flags().BoolVar(&cfg.APIServer, "apiserver", true, "etcd and kube-apiserver too")
	return cmd
}

func newUp(o *options) *cobra.Command {
	cfg := local.Config{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Make the environment run; bring back what was killed, paused or cut off",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := o.config()
			cfg.Checkout, cfg.Instance, cfg.Log = named.Checkout, named.Instance, named.Log
			env, err := local.Up(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			return printStatus(cmd, env, "table")
		},
	}
	f := cmd.Flags()
	f.IntVar(&cfg.Servers, "servers", 4, "number of servers, 0 to 99")
	f.IntVar(&cfg.Bricks, "bricks", 2, "brick file systems per server")
	f.IntVar(&cfg.BrickMiB, "brick-mib", local.BrickSizeMiB, "size of each")
	f.BoolVar(&cfg.APIServer, "apiserver", true, "run etcd and kube-apiserver")
	f.BoolVar(&cfg.Kubectl, "kubectl", false, "build kubectl too")
	f.BoolVar(&cfg.Fresh, "fresh", false, "take down what exists first")
	f.BoolVar(&cfg.KeepFailed, "keep-failed", true, "leave a half-failed environment to be looked at")
	return cmd
}

func newDown(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Take the environment down, whatever state it is in",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return local.Down(cmd.Context(), o.config())
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
			env, err := local.Inspect(o.config())
			if err != nil {
				return err
			}
			return printStatus(cmd, env, format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	return cmd
}

func printStatus(cmd *cobra.Command, env *local.Env, format string) error {
	return local.Report(cmd.OutOrStdout(), env.Status(cmd.Context()), format)
}

func newLogs(o *options) *cobra.Command {
	lines := 20
	cmd := &cobra.Command{
		Use:   "logs [COMPONENT...]",
		Short: "Print the ends of the logs: etcd, kube-apiserver, s1, c1 ... (default: all)",
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := local.Inspect(o.config())
			if err != nil {
				return err
			}
			return local.ReportLogs(cmd.OutOrStdout(), env.Logs(), args, lines)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "lines of each log")
	return cmd
}

func newKubeconfig(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig [NAMESPACE/SERVICEACCOUNT]",
		Short: "Print the path of the administrator's kubeconfig, or a kubeconfig of a ServiceAccount",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := local.Open(o.config())
			if err != nil {
				return err
			}
			if env.APIServer == nil {
				return errors.New("this environment has no API server")
			}
			if len(args) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), env.APIServer.Kubeconfig())
				return nil
			}
			namespace, name, ok := strings.Cut(args[0], "/")
			if !ok {
				return fmt.Errorf("ServiceAccount %q: want NAMESPACE/NAME", args[0])
			}
			data, err := env.APIServer.ServiceAccountKubeconfig(cmd.Context(), namespace, name)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
}
