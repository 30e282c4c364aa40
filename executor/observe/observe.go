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
	// Pods and Landscape tell of nodes that are pods; nil: nobody asks Kubernetes.
	Pods      *kube.PodReader
	Landscape *kube.Landscape
	// Ties tells what depends on what is being deleted; nil: nobody asks.
	Ties *kube.Ties
}

// Leaving tells what in Kubernetes the cluster, or volumes of it, depend on that
// are being deleted. It is not shared with others: what it says must not be old.
func (o *Observer) Leaving(ctx context.Context, cluster *v1alpha1.GlusterCluster) *planner.Leaving {
	if o.Ties == nil {
		return nil
	}
	return o.Ties.Leaving(ctx, cluster)
}

// Pool observes the servers of a cluster's nodes. It never fails as a whole: a
// server that cannot be asked says why in its place.
func (o *Observer) Pool(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed {
	return o.observe(ctx, cluster.Status.PoolID, nodes)
}

func (o *Observer) observe(ctx context.Context, pool string, nodes []v1alpha1.GlusterNode) planner.Observed {
	servers := o.Roster.Reach(ctx, nodes)
	out := planner.Observed{Servers: make(map[string]planner.Server, len(servers)), GateDigest: o.Digest}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallelMax)
	for _, s := range servers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			seen := Server(ctx, pool, s)
			if n := named(nodes, s.Node); n.IsPod() && o.Pods != nil {
				seen = o.pod(ctx, n, seen)
			}
			mu.Lock()
			defer mu.Unlock()
			out.Servers[s.Node] = seen
		})
	}
	wg.Wait()
	o.landscape(ctx, nodes, &out)
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
