// Command demo shows the main job on one machine: four real GlusterFS servers,
// a real API server, the operator beside them; a pool and a volume made from
// custom resources, grown under a client that writes all the time, with the
// operator killed in the middle.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/narration"
)

// instance names the demo's environment among those of this checkout.
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
	checkout, err := root()
	if err != nil {
		return err
	}
	cfg := local.Config{Checkout: checkout, Instance: instance, Servers: 4, Bricks: 2, APIServer: true, Kubectl: true, Fresh: true}
	if down {
		return local.Down(ctx, cfg)
	}
	if err := local.Preflight(cfg); err != nil {
		return err
	}
	d := &demo{checkout: checkout, keep: keep, tell: narration.New(os.Stdout)}
	cfg.Log = func(line string) { d.tell.Detailf("%s", line) }
	defer func() {
		d.close()
		if keep && err == nil {
			return
		}
		// The context may be the reason why we end.
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if d.env != nil {
			d.tell.Sayf("Taking everything down")
		}
		err = errors.Join(err, local.Down(ctx, cfg))
	}()
	return d.run(ctx, cfg)
}

// root is the checkout: the folder above the test module.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test/kube/go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("run it from within a checkout of Anthill")
}
