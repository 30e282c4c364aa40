package node

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// resolveWait is for one look-up of a name.
const resolveWait = 3 * time.Second

// An obstacle is why a brick of this node cannot start now. glusterd tries each
// brick once, when it starts itself.
type obstacle struct {
	name string // of this server, that does not resolve
	dir  string // of a device, that is not mounted
}

func (b obstacle) String() string {
	if b.name != "" {
		return b.name + " does not resolve"
	}
	return b.dir + " is not mounted"
}

// stops reports whether the brick cannot start because of it.
func (b obstacle) stops(brick gate.LocalBrick) bool {
	return b.name != "" && b.name == brick.Host || b.dir != "" && strings.HasPrefix(brick.Path, b.dir+"/")
}

// obstacles lists what keeps bricks of this node from starting, each once.
func (n *node) obstacles(ctx context.Context) map[obstacle]bool {
	out := map[obstacle]bool{}
	bricks, err := gate.LocalBricks(n.o.Gate)
	if err != nil {
		n.o.Log.Error(err, "the bricks of this node are not known")
		return out
	}
	missing := n.disks.missing()
	resolves := map[string]bool{}
	for _, b := range bricks {
		if _, known := resolves[b.Host]; !known {
			resolves[b.Host] = b.Host == "" || n.resolves(ctx, b.Host)
		}
		if !resolves[b.Host] {
			out[obstacle{name: b.Host}] = true
		}
		for _, dir := range missing {
			if o := (obstacle{dir: dir}); o.stops(b) {
				out[o] = true
			}
		}
	}
	return out
}

func (n *node) resolves(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveWait)
	defer cancel()
	var r gate.Resolver = &net.Resolver{PreferGo: true}
	if n.o.Resolver != nil {
		r = n.o.Resolver
	}
	addrs, err := r.LookupHost(ctx, name)
	return err == nil && len(addrs) > 0
}

// clear waits until nothing keeps bricks from starting, with different patience
// for names, which come by themselves when all pods start at once, and for
// devices. Without bricks there is nothing to wait for.
func (n *node) clear(ctx context.Context) {
	began := time.Now()
	said := false
	for ctx.Err() == nil {
		wait := false
		for o := range n.obstacles(ctx) {
			patience := n.o.MountsWait
			if o.name != "" {
				patience = n.o.NamesWait
			}
			if time.Since(began) < patience {
				wait = true
				if !said {
					n.o.Log.Info("glusterd waits, its bricks could not start", "why", o.String())
				}
			}
		}
		if said = true; !wait || !pause(ctx, min(n.o.Every, time.Second)) {
			return
		}
		n.disks.attach(ctx, n.o.MountsWait)
	}
}

// watch looks after what was missing when glusterd was started, until ctx ends.
func (n *node) watch(ctx context.Context) {
	for pause(ctx, n.o.Every) {
		n.disks.attach(ctx, n.o.MountsWait)
		if err := n.revive(ctx); err != nil && ctx.Err() == nil {
			n.o.Log.Error(err, "bricks that could start now are not started yet")
		}
	}
}

// revive starts glusterd again when what was missing is there, so that it starts
// the bricks it could not start. No command of the operator runs meanwhile.
func (n *node) revive(ctx context.Context) error {
	before := n.blocked()
	if len(before) == 0 {
		return nil
	}
	now := n.obstacles(ctx)
	bricks, err := gate.LocalBricks(n.o.Gate)
	if err != nil {
		return err
	}
	var gone []string
	for o := range before {
		if now[o] {
			continue
		}
		for _, b := range bricks {
			if !b.Alive && o.stops(b) {
				gone = append(gone, o.String())
				break
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	release, err := gate.Hold(ctx, n.o.Gate, attachWait)
	if err != nil {
		return err
	}
	defer release()
	n.o.Log.Info("glusterd is started again for bricks that could not start", "no longer", strings.Join(gone, "; "))
	return n.keeper.restart(ctx, 10*time.Second)
}
