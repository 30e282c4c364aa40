package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

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

// errVolumeMode is returned for what a PersistentVolume cannot be.
var errVolumeMode = errors.New("want Block or Filesystem")

func newDevice(o *options) *cobra.Command {
	sizeMiB, mode := 400, string(corev1.PersistentVolumeBlock)
	cmd := &cobra.Command{
		Use:   "device NODE NAME",
		Short: "Give a node one more disk, make its PersistentVolume, and print both names",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted := corev1.PersistentVolumeMode(mode)
			if wanted != corev1.PersistentVolumeBlock && wanted != corev1.PersistentVolumeFilesystem {
				return fmt.Errorf("mode %q: %w", mode, errVolumeMode)
			}
			n, err := o.node(args[0])
			if err != nil {
				return err
			}
			d, err := n.AddDevice(args[1], sizeMiB)
			if err != nil {
				return err
			}
			v, err := d.PersistentVolume(cmd.Context(), wanted)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", d.Path(), v.Name)
			return nil
		},
	}
	cmd.Flags().IntVar(&sizeMiB, "mib", sizeMiB, "its size")
	cmd.Flags().StringVar(&mode, "mode", mode, "Block, or Filesystem, which the kubelet makes an XFS")
	return cmd
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
