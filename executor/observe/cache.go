package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// A Cache lets planner and steps share what they see of a pool: an observation
// is a process on every server, and they would often look at the same moment.
// It remembers nothing beyond Max, nor beyond a change that somebody made to the
// pool, nor for other nodes than it was asked about; and for planning nothing
// beyond the end of an operation, whose effect must not be missing both from
// what is open and from what is seen. Safe for concurrent use; what it returns
// is shared and must not be changed.
type Cache struct {
	Observer *Observer
	// Max is the age up to which an observation supports a step; at most
	// steps.FreshMax.
	Max time.Duration
	// PlanMax is the same for planning, which wants to see what happens outside
	// too. Default: one second.
	PlanMax time.Duration
	Now     func() time.Time
	// Ended changes whenever an operation of the pool has ended. Default: no
	// operation ever does.
	Ended func(pool string) uint64

	mu    sync.Mutex
	pools map[string]*entry
}

// planMax is the default of Cache.PlanMax.
const planMax = time.Second

type entry struct {
	mu      sync.Mutex // held while observing: one look at a time
	obs     planner.Observed
	of      string // the nodes it is of
	ended   uint64 // Ended, before obs was begun
	taken   time.Time
	changed uint64 // counts Changed; guarded by Cache.mu
	at      uint64 // changed, when obs was begun
}

func (c *Cache) entry(pool string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pools == nil {
		c.pools = map[string]*entry{}
	}
	e, ok := c.pools[pool]
	if !ok {
		e = &entry{}
		c.pools[pool] = e
	}
	return e
}

// Observed returns what the pool's servers see, not older than Max and begun
// after the last Changed. See steps.World.
func (c *Cache) Observed(ctx context.Context, pool string) (planner.Observed, error) {
	nodes, err := c.Observer.Roster.Nodes(ctx, pool)
	if err != nil {
		return planner.Observed{}, err
	}
	obs := c.observe(ctx, pool, nodes, c.Max, false)
	return obs, ctx.Err()
}

// Pool observes the servers of a cluster's nodes as Observer.Pool does, but may
// return what was seen up to PlanMax ago.
func (c *Cache) Pool(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed {
	if cluster.Status.PoolID == "" {
		return c.Observer.Pool(ctx, cluster, nodes)
	}
	max := c.PlanMax
	if max == 0 {
		max = planMax
	}
	return c.observe(ctx, cluster.Status.PoolID, nodes, max, true)
}

// Leaving is what the Observer tells, never from memory.
func (c *Cache) Leaving(ctx context.Context, cluster *v1alpha1.GlusterCluster) *planner.Leaving {
	return c.Observer.Leaving(ctx, cluster)
}

func (c *Cache) observe(ctx context.Context, pool string, nodes []v1alpha1.GlusterNode, max time.Duration, plans bool) planner.Observed {
	e := c.entry(pool)
	e.mu.Lock()
	defer e.mu.Unlock()
	c.mu.Lock()
	changed := e.changed
	c.mu.Unlock()
	ended := uint64(0)
	if c.Ended != nil {
		ended = c.Ended(pool)
	}
	of := names(nodes)
	if !e.taken.IsZero() && e.at == changed && e.of == of && c.Now().Sub(e.taken) <= max && (!plans || e.ended == ended) {
		return e.obs
	}
	begun := c.Now()
	obs := c.Observer.observe(ctx, pool, nodes)
	if ctx.Err() == nil { // else servers seem silent that were not waited for
		e.obs, e.of, e.taken, e.at, e.ended = obs, of, begun, changed, ended
	}
	return obs
}

// names tells one set of nodes, and what they say about their servers, from
// another.
func names(nodes []v1alpha1.GlusterNode) string {
	all := make([]string, len(nodes))
	for i := range nodes {
		all[i] = fmt.Sprintf("%s %s %d", nodes[i].Name, nodes[i].UID, nodes[i].Generation)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Changed makes what was observed before not count any more.
func (c *Cache) Changed(pool string) {
	e := c.entry(pool)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.changed++
}
