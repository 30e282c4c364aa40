// Command demo shows the main job where it is meant to be done: a Kubernetes of
// real nodes, the operator installed from deploy/, a cluster of ten lines whose
// servers are pods, a volume that a client pod mounts, grown under that client
// with the operator's pod killed in the middle.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/narration"
)

// instance names the demo's cluster among those of this checkout.
const instance = "demo"

func main() {
	keep := flag.Bool("keep", false, "leave everything up at the end")
	down := flag.Bool("down", false, "take down what an earlier demo left up, and end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *keep, *down); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, keep, down bool) (err error) {
	cfg := cluster.Config{Instance: instance, Fresh: true}
	if down {
		return cluster.Down(ctx, cfg)
	}
	d := &demo{tell: narration.New(os.Stdout), keep: keep}
	cfg.Log = func(line string) { d.tell.Detailf("%s", line) }
	defer func() {
		d.follow.Stop()
		if keep && err == nil || d.site != nil && !d.site.Env.Ours() {
			return
		}
		// The context may be the reason why we end.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
		defer cancel()
		if d.site != nil {
			d.tell.Sayf("Taking everything down")
		}
		err = errors.Join(err, cluster.Down(ctx, cfg))
	}()
	return d.run(ctx, cfg)
}
