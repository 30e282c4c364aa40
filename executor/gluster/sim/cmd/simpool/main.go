// Simpool serves a simulated pool: the gate of each server on a unix socket of
// its own, and a control socket for faults. It is for tests of the real
// operator binary, and outlives it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gluster/anthill/executor/gluster/sim"
)

type options struct {
	dir, servers, roots, devices, state string
	seed                                uint64
	gates                               bool
	rebalance                           time.Duration
}

func (o options) validate() error {
	if o.dir == "" {
		return errors.New("-dir is missing: the folder for the sockets")
	}
	for s := range strings.SplitSeq(o.servers, ",") {
		if s == "" || strings.ContainsAny(s, "/ ") {
			return fmt.Errorf("-servers %q: want names separated by commas", o.servers)
		}
	}
	return nil
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder for <server>.sock and control.sock")
	flag.StringVar(&o.servers, "servers", "s1,s2,s3", "names of the servers")
	flag.StringVar(&o.roots, "roots", "/bricks/b1,/bricks/b2", "mount points of brick file systems on each")
	flag.StringVar(&o.devices, "devices", "", "names of devices: the servers are pods, and have these instead of -roots")
	flag.StringVar(&o.state, "state", "", "file that keeps the pool's state over restarts; default: none")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of all ids")
	flag.BoolVar(&o.gates, "gates", false, "gates are installed from the start")
	flag.DurationVar(&o.rebalance, "rebalance", 500*time.Millisecond, "how long a rebalance takes")
	flag.Parse()
	if err := o.validate(); err != nil {
		fmt.Fprintln(os.Stderr, "simpool:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "simpool:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	opts := sim.Options{
		Seed: o.seed, Servers: strings.Split(o.servers, ","), Roots: strings.Split(o.roots, ","), Clock: time.Now,
		Gates: o.gates, Rebalance: sim.RebalancePlan{Takes: o.rebalance, Files: 10},
	}
	if o.devices != "" {
		opts.Pods = map[string][]sim.Device{}
		for _, s := range opts.Servers {
			for d := range strings.SplitSeq(o.devices, ",") {
				opts.Pods[s] = append(opts.Pods[s], sim.Device{Name: d})
			}
		}
	}
	p, err := open(opts, o.state)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Errorf("making the folder for sockets: %w", err)
	}
	return p.Serve(ctx, o.dir)
}

// open loads the saved pool, or makes a new one, and keeps it saved.
func open(opts sim.Options, file string) (*sim.Pool, error) {
	if file == "" {
		return sim.New(opts), nil
	}
	var p *sim.Pool
	saved, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		p = sim.New(opts)
	case err != nil:
		return nil, fmt.Errorf("reading the saved pool: %w", err)
	default:
		if p, err = sim.Load(opts, saved); err != nil {
			return nil, err
		}
	}
	p.OnSave(func(b []byte) {
		tmp := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".new")
		err := os.WriteFile(tmp, b, 0o600)
		if err == nil {
			err = os.Rename(tmp, file)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "simpool: saving the pool:", err)
		}
	})
	return p, nil
}
