package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
)

// A world is a cluster of nodes whose gates count how often they are asked.
type world struct {
	mu      sync.Mutex
	cluster v1alpha1.GlusterCluster
	nodes   []v1alpha1.GlusterNode
	asked   int
	now     time.Time
	ended   uint64
	during  func() // called while a server is asked
}

func newWorld(nodes int) *world {
	w := &world{now: time.Unix(1000, 0)}
	w.cluster.Namespace, w.cluster.Name, w.cluster.Status.PoolID = "ns", "c", "pool"
	for i := range nodes {
		n := v1alpha1.GlusterNode{}
		n.Namespace, n.Name, n.Spec.Cluster, n.Generation = "ns", fmt.Sprintf("n%d", i), "c", 1
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (w *world) cache() *Cache {
	roster := &kube.Roster{Cache: reader{w}, Dialer: dialer{w}}
	return &Cache{Observer: &Observer{Roster: roster}, Max: 5 * time.Second, Now: func() time.Time { return w.now },
		Ended: func(string) uint64 { return w.ended }}
}

// asks counts the servers that f has asked.
func (w *world) asks(f func()) int {
	before := w.asked
	f()
	return w.asked - before
}

type reader struct{ *world }

func (r reader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("nothing is read one at a time")
}

func (r reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch l := list.(type) {
	case *v1alpha1.GlusterClusterList:
		l.Items = []v1alpha1.GlusterCluster{r.cluster}
	case *v1alpha1.GlusterNodeList:
		l.Items = append(l.Items, r.nodes...)
	}
	return nil
}

type dialer struct{ *world }

func (dialer) NeedsLogin() bool { return false }

func (d dialer) Server(*v1alpha1.GlusterNode, *kube.Login) (gate.Server, error) { return d, nil }

func (d dialer) Do(context.Context, gate.Request) (gate.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.during != nil {
		d.during()
	}
	return gate.Reply{Version: gate.ProtocolVersion, State: &gate.ServerState{UUID: "u"}}, nil
}

func (dialer) Install(context.Context, []byte) error { return errors.New("nothing is installed") }

func TestCache(t *testing.T) {
	const fresh, old = 0, 3 // servers asked
	cases := map[string]struct {
		reason      string
		between     func(w *world, c *Cache)
		step, plans int
	}{
		"SameMoment": {"both look at what was seen a moment ago", func(*world, *Cache) {}, fresh, fresh},
		"SomeSeconds": {"planning wants to see what others do, a step does not", func(w *world, _ *Cache) {
			w.now = w.now.Add(4 * time.Second)
		}, fresh, old},
		"TooOld": {"no guard rests on what is older than Max", func(w *world, _ *Cache) {
			w.now = w.now.Add(6 * time.Second)
		}, old, old},
		"Changed":        {"something was done to the pool", func(_ *world, c *Cache) { c.Changed("pool") }, old, old},
		"OtherPool":      {"to another pool", func(_ *world, c *Cache) { c.Changed("other") }, fresh, fresh},
		"OperationEnded": {"its effect must be seen by whoever plans without it", func(w *world, _ *Cache) { w.ended++ }, fresh, old},
		"NodeEdited":     {"the server may be another one", func(w *world, _ *Cache) { w.nodes[1].Generation++ }, old, old},
		"NodeReplaced":   {"a node of the same name is another one", func(w *world, _ *Cache) { w.nodes[1].UID = "new" }, old, old},
		"OrderOfNodes":   {"is no difference", func(w *world, _ *Cache) { w.nodes[0], w.nodes[2] = w.nodes[2], w.nodes[0] }, fresh, fresh},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			step := func(w *world, c *Cache) int {
				return w.asks(func() {
					obs, err := c.Observed(t.Context(), "pool")
					if err != nil || len(obs.Servers) != 3 {
						t.Fatalf("%d servers, %v", len(obs.Servers), err)
					}
				})
			}
			plan := func(w *world, c *Cache) int {
				return w.asks(func() {
					if n := len(c.Pool(t.Context(), &w.cluster, w.nodes).Servers); n != 3 {
						t.Fatalf("%d servers", n)
					}
				})
			}
			w := newWorld(3)
			c := w.cache()
			if n := plan(w, c); n != 3 {
				t.Fatalf("the first look asked %d servers", n)
			}
			tc.between(w, c)
			if n := step(w, c); n != tc.step {
				t.Errorf("%s: a step asked %d servers, want %d", tc.reason, n, tc.step)
			}
			w = newWorld(3)
			c = w.cache()
			if n := step(w, c); n != 3 {
				t.Fatalf("the first look asked %d servers", n)
			}
			tc.between(w, c)
			if n := plan(w, c); n != tc.plans {
				t.Errorf("%s: planning asked %d servers, want %d", tc.reason, n, tc.plans)
			}
		})
	}
}

func TestCacheDoesNotKeepWhatAChangeOvertook(t *testing.T) {
	w := newWorld(3)
	c := w.cache()
	w.during = func() { c.Changed("pool") }
	c.Pool(t.Context(), &w.cluster, w.nodes)
	w.during = nil
	if n := w.asks(func() { c.Pool(t.Context(), &w.cluster, w.nodes) }); n != 3 {
		t.Errorf("the pool was changed while it was looked at, and then %d servers were asked", n)
	}
}

func TestCacheDoesNotKeepWhatWasGivenUp(t *testing.T) {
	w := newWorld(3)
	c := w.cache()
	ctx, cancel := context.WithCancel(t.Context())
	w.during = cancel
	if _, err := c.Observed(ctx, "pool"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	w.during = nil
	if n := w.asks(func() { c.Pool(t.Context(), &w.cluster, w.nodes) }); n != 3 {
		t.Errorf("after an observation that was given up %d servers were asked", n)
	}
}

func TestCacheWithoutPool(t *testing.T) {
	w := newWorld(3)
	c := w.cache()
	w.cluster.Status.PoolID = ""
	for range 2 {
		if n := w.asks(func() { c.Pool(t.Context(), &w.cluster, w.nodes) }); n != 3 {
			t.Errorf("clusters without a pool have nothing in common, and %d servers were asked", n)
		}
	}
	if _, err := c.Observed(t.Context(), "pool"); !errors.Is(err, kube.ErrNoPool) {
		t.Errorf("%v", err)
	}
}
