package cluster

import (
	"context"

	"github.com/gluster/anthill/test/local"
)

// Down takes down the cluster of cfg, of which only Checkout and Instance
// matter, whatever state it is in: up, half up, half down, or killed. It is no
// error when there is none. Nothing is left: processes, mounts, loop devices,
// links, control groups, files. A cluster that KUBECONFIG names is left alone.
func Down(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	if file := foreign(); file != "" {
		cfg.logf("the cluster of %s is left alone", file)
		return nil
	}
	under := cfg.local()
	if err := local.Down(ctx, under); err != nil {
		return err
	}
	return removeCgroups(ctx, under)
}

// removeCgroups removes the control groups of all nodes, in which nothing runs
// any more.
func removeCgroups(ctx context.Context, under local.Config) error {
	prefix, err := under.Hostname("n")
	if err != nil {
		return err
	}
	return hostCgroups.remove(ctx, prefix+"[0-9]*")
}
