package kube

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// Gates lets fencing ask and raise the gates of a pool's servers.
type Gates struct {
	Servers  Servers
	Instance string
}

var _ executor.Gates = (*Gates)(nil)

// askMax is how long one server may take to say who owns it.
const askMax = 15 * time.Second

// Survey observes all servers at once: who owns them, and whom their glusterds
// see connected.
func (g *Gates) Survey(ctx context.Context, pool string) ([]executor.Guard, error) {
	servers, err := g.Servers.Of(ctx, pool)
	if err != nil {
		return nil, err
	}
	guards := make([]executor.Guard, len(servers))
	uuids := make([]string, len(servers))
	connected := make([][]string, len(servers))
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() {
			guards[i], uuids[i], connected[i] = g.ask(ctx, pool, servers[i])
		})
	}
	wg.Wait()
	for i := range guards {
		if uuids[i] == "" {
			uuids[i] = servers[i].UUID
		}
		for j := range guards {
			if i != j && uuids[i] != "" && slices.Contains(connected[j], uuids[i]) {
				guards[i].Connected = true
			}
		}
	}
	return guards, nil
}

func (g *Gates) ask(ctx context.Context, pool string, s Server) (executor.Guard, string, []string) {
	guard := executor.Guard{Node: s.Node}
	if s.Problem != nil {
		guard.Err = s.Problem
		return guard, "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	state, hello, err := gate.NewClient(s.Gate, pool, g.Instance, nil).Observe(ctx)
	switch {
	case errors.Is(err, gate.ErrNotInstalled):
		return guard, "", nil // nobody can change it through a gate that is not there
	case err != nil:
		guard.Err = err
		return guard, "", nil
	}
	if o := hello.Owner; o != nil && o.Pool == pool {
		guard.Claimed, guard.Instance, guard.Fence = true, o.Instance, o.Fence
	}
	var peers []string
	if view, err := gluster.ParseState(state.State); err == nil {
		for _, p := range view.Peers {
			if p.Connected {
				peers = append(peers, p.UUID)
			}
		}
	}
	return guard, state.UUID, peers
}

// Raise raises the fence of one server's gate.
func (g *Gates) Raise(ctx context.Context, pool, node string, fence uint64, takeOver string) error {
	servers, err := g.Servers.Of(ctx, pool)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(servers, func(s Server) bool { return s.Node == node })
	if i < 0 {
		return executor.Errorf(executor.Transient, "NodeGone", "there is no GlusterNode %s any more", node)
	}
	if p := servers[i].Problem; p != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, askMax+raiseWait)
	defer cancel()
	c := gate.NewClient(servers[i].Gate, pool, g.Instance, func() uint64 { return fence })
	_, err = c.Claim(ctx, gate.ClaimMode{TakeOver: takeOver, LockWait: raiseWait})
	if _, ok := errors.AsType[*gate.FencedError](err); ok {
		return executor.Errorf(executor.Fenced, executor.ReasonSucceeded, "%w", err)
	}
	return err
}

// raiseWait is how long raising waits for a command that still runs there.
const raiseWait = 30 * time.Second
