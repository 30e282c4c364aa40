package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/cluster"
)

// options are what every verb needs to find the cluster.
type options struct {
	checkout string
	instance string
}

// config returns the part of a Config that names the cluster.
func (o *options) config() cluster.Config {
	return cluster.Config{
		Checkout: o.checkout,
		Instance: o.instance,
		Log:      func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
}

// node finds a node of the running cluster.
func (o *options) node(name string) (*cluster.Node, error) {
	env, err := cluster.Open(o.config())
	if err != nil {
		return nil, err
	}
	if n := env.NodeNamed(name); n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("no node %q: see status", name)
}

func root() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:           "cluster",
		Short:         "A real Kubernetes with real kubelets on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&o.checkout, "checkout", "", "root of the source tree (default: found from the working directory)")
	cmd.PersistentFlags().StringVar(&o.instance, "instance", os.Getenv("ANTHILL_INSTANCE"), "name of the cluster among those of this checkout (default $ANTHILL_INSTANCE)")
	cmd.AddCommand(newBuild(o), newUp(o), newDown(o), newStatus(o), newLogs(o), newKubeconfig(o), newImages(o), newExec(o), newDevice(o))
	cmd.AddCommand(nodeVerbs(o)...)
	return cmd
}
