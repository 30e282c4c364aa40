package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/local"
)

// options are what every verb needs to find the environment.
type options struct {
	checkout string
	instance string
}

// config returns the part of a Config that names the environment.
func (o *options) config() local.Config {
	return local.Config{
		Checkout: o.checkout,
		Instance: o.instance,
		Log:      func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
}

// machine finds a machine of the running environment.
func (o *options) machine(name string) (*local.Env, *local.Machine, error) {
	env, err := local.Open(o.config())
	if err != nil {
		return nil, nil, err
	}
	m := env.Machine(name)
	if m == nil {
		return nil, nil, fmt.Errorf("no machine %q: see status", name)
	}
	return env, m, nil
}

func root() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:           "local",
		Short:         "Real GlusterFS servers and a real API server on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&o.checkout, "checkout", "", "root of the source tree (default: found from the working directory)")
	cmd.PersistentFlags().StringVar(&o.instance, "instance", os.Getenv("ANTHILL_INSTANCE"), "name of the environment among those of this checkout (default $ANTHILL_INSTANCE)")
	cmd.AddCommand(
		newSetup(), newPreflight(o), newUp(o), newDown(o), newStatus(o), newLogs(o), newKubeconfig(o), newExec(o),
		newDisturb(o), newMount(o), newUnmount(o), newWriter(o),
	)
	cmd.AddCommand(machineVerbs(o)...)
	return cmd
}
