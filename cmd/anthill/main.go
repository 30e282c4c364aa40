// Command anthill runs GlusterFS for Kubernetes: the operator, the gate on its
// servers and the tools to look at both. Called as kubectl-anthill it is a
// kubectl plugin.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	// First: they take over before the rest is initialised if a gate or a probe
	// is wanted.
	_ "github.com/gluster/anthill/cmd/anthill/gatefirst"
	_ "github.com/gluster/anthill/cmd/anthill/probefirst"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks, the second one ends.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}
