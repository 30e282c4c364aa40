package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// serverMax is how long one server may take to answer.
const serverMax = 30 * time.Second

// parallelMax bounds how many servers of one pool are asked at once.
const parallelMax = 32

// An Observer observes pools. Safe for concurrent use.
type Observer struct {
	Roster *kube.Roster
	// Digest is of the gate this operator brings along.
	Digest string
}

// Pool observes the servers of a cluster's nodes. It never fails as a whole: a
// server that cannot be asked says why in its place.
func (o *Observer) Pool(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed {
	return o.observe(ctx, cluster.Status.PoolID, o.Roster.Reach(ctx, nodes))
}

func (o *Observer) observe(ctx context.Context, pool string, servers []kube.Server) planner.Observed {
	out := planner.Observed{Servers: make(map[string]planner.Server, len(servers)), GateDigest: o.Digest}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallelMax)
	for _, s := range servers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			seen := Server(ctx, pool, s)
			mu.Lock()
			defer mu.Unlock()
			out.Servers[s.Node] = seen
		})
	}
	wg.Wait()
	return out
}

// Server asks one server.
func Server(ctx context.Context, pool string, s kube.Server) planner.Server {
	if s.Problem != nil {
		return planner.Server{Reason: s.Problem.Reason, Message: s.Problem.Message}
	}
	ctx, cancel := context.WithTimeout(ctx, serverMax)
	defer cancel()
	state, hello, err := gate.NewClient(s.Gate, pool, "", nil).Observe(ctx, s.Dirs...)
	if errors.Is(err, gate.ErrNotInstalled) {
		return planner.Server{} // reached; nothing is known of it before its gate is there
	}
	if err != nil {
		p := kube.ProblemOf(err)
		return planner.Server{Reason: p.Reason, Message: p.Message}
	}
	return convert(state, hello)
}

// A Cache gives steps observations that are fresh enough to act upon, without
// asking all servers again for each of several looks at the same moment.
type Cache struct {
	Observer *Observer
	Max      time.Duration // age up to which an observation counts; at most steps.FreshMax
	Now      func() time.Time

	mu    sync.Mutex
	pools map[string]*entry
}

type entry struct {
	mu      sync.Mutex // held while observing: one look at a time
	obs     planner.Observed
	taken   time.Time
	changed uint64 // counts Changed
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
// after the last Changed.
func (c *Cache) Observed(ctx context.Context, pool string) (planner.Observed, error) {
	e := c.entry(pool)
	e.mu.Lock()
	defer e.mu.Unlock()
	c.mu.Lock()
	changed := e.changed
	c.mu.Unlock()
	if !e.taken.IsZero() && e.at == changed && c.Now().Sub(e.taken) <= c.Max {
		return e.obs, nil
	}
	servers, err := c.Observer.Roster.Of(ctx, pool)
	if err != nil {
		return planner.Observed{}, err
	}
	begun := c.Now()
	obs := c.Observer.observe(ctx, pool, servers)
	if err := ctx.Err(); err != nil {
		return planner.Observed{}, err
	}
	e.obs, e.taken, e.at = obs, begun, changed
	return obs, nil
}

// Changed makes what was observed before not count any more.
func (c *Cache) Changed(pool string) {
	e := c.entry(pool)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.changed++
}
