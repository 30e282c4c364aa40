package pods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// gluster speaks to the glusterd of a node, as a person would in its pod.
func (p *trial) gluster(node string) *gluster.Client {
	return gluster.NewClient(gluster.RunnerFunc(func(ctx context.Context, c gluster.Command) (gluster.Output, error) {
		out, err := p.Env.Exec(ctx, p.container(node), c.Argv...)
		if exit, ok := errors.AsType[*cluster.ExitError](err); ok {
			return gluster.Output{Exit: exit.Code, Stdout: out, Stderr: exit.Stderr}, nil
		}
		return gluster.Output{Stdout: out}, err
	}))
}

// members are the identities of a pool's servers, as each of them sees all, by
// node: its own first.
func (p *trial) members(ctx context.Context) (map[string]string, error) {
	nodes, err := p.nodes(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i := range nodes {
		name := nodes[i].Name
		peers, err := p.gluster(name).PoolList(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking %s for its pool: %w", name, err)
		}
		own, all := "", []string{}
		for _, peer := range peers {
			switch {
			case peer.Self():
				own = peer.UUID
			case !peer.Member():
				return nil, fmt.Errorf("%s sees %s %q, connected: %v", name, peer.Hostname, peer.State, peer.Connected)
			}
			all = append(all, peer.UUID)
		}
		slices.Sort(all)
		out[name] = own + " of " + strings.Join(all, ",")
	}
	return out, nil
}

// sound waits until no brick has anything to heal for another, twice, with files
// written in between, the client is connected to every brick and every server
// sees every other: then one server may go, and nobody notices.
func (p *trial) sound(ctx context.Context) error {
	return p.until(ctx, "the pool is sound", func(ctx context.Context) error {
		if err := p.clean(ctx); err != nil {
			return err
		}
		if err := p.progress(ctx); err != nil {
			return err
		}
		if _, err := p.members(ctx); err != nil {
			return err
		}
		return p.clean(ctx)
	})
}

// progress waits until the client has written some more files.
func (p *trial) progress(ctx context.Context) error {
	before, err := p.client.Report(ctx)
	if err != nil {
		return err
	}
	return p.until(ctx, "the client has written more", func(ctx context.Context) error {
		now, err := p.client.Report(ctx)
		if err == nil && now.Written < before.Written+3 {
			err = fmt.Errorf("%d files since; a call waits for %d ms", now.Written-before.Written, now.WaitingMillis)
		}
		return err
	})
}

// clean fails unless the client has all bricks and none has anything to heal.
func (p *trial) clean(ctx context.Context) error {
	bricks, err := p.gluster(NodeName(pool, 0)).HealInfoSummary(ctx, volume)
	if err != nil {
		return err
	}
	for _, b := range bricks {
		if !b.Clean() {
			return fmt.Errorf("brick %s is %s with %d entries to heal (counted: %v)", b.Brick, b.Status, b.Total, b.Counted)
		}
	}
	return p.client.connected(ctx, len(bricks))
}

// connected fails unless the client is connected to so many bricks, by what its
// translators say of themselves.
func (c *Client) connected(ctx context.Context, bricks int) error {
	out, err := c.site.Env.Exec(ctx, c.ref, "/bin/sh", "-c", `grep -h '^connected' "$0"/.meta/graphs/active/*-client-*/private`, mountPoint)
	if err != nil {
		return fmt.Errorf("asking the client for its connections: %w", err)
	}
	said := lines(out)
	up := 0
	for _, l := range said {
		if strings.HasSuffix(strings.ReplaceAll(l, " ", ""), "=1") {
			up++
		}
	}
	if up != bricks || len(said) != bricks {
		return fmt.Errorf("the client is connected to %d of %d bricks, the volume has %d", up, len(said), bricks)
	}
	return nil
}

// changes are the commands that glusterds were given and that change something,
// by node.
func (p *trial) changes(t *testing.T) map[string][]rig.Command {
	t.Helper()
	nodes, err := p.nodes(t.Context())
	must(t, err)
	out := map[string][]rig.Command{}
	for i := range nodes {
		name := nodes[i].Name
		text, err := p.Env.Exec(t.Context(), p.container(name), "cat", rig.CommandLog)
		must(t, err)
		out[name] = rig.ChangesIn(text)
	}
	return out
}

// untouched fails if anybody gave a command that changes something since.
func (p *trial) untouched(t *testing.T, before map[string][]rig.Command) {
	t.Helper()
	for node, now := range p.changes(t) {
		if n := len(before[node]); len(now) != n {
			t.Errorf("glusterd of %s was told to change something: %v", node, now[min(n, len(now)):])
		}
	}
}

// same fails unless every server is who it was and sees whom it saw.
func (p *trial) same(t *testing.T, before map[string]string) {
	t.Helper()
	now, err := p.members(t.Context())
	must(t, err)
	if len(now) != len(before) {
		t.Errorf("the pool has %d servers, it had %d", len(now), len(before))
	}
	for node, was := range before {
		if now[node] != was {
			t.Errorf("%s is %s, it was %s", node, now[node], was)
		}
	}
}
