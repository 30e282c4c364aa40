package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/journal"
)

// A mortal is the process of an operator that may end at anything it does to the
// world: an append, a request to a gate, a change in Kubernetes. It ends right
// before it or right after it; from then on nothing it tries has any effect.
type mortal struct {
	mu    sync.Mutex
	count int  // of what it did
	at    int  // at which it ends; 0: it lives
	late  bool // after it, not before it
	dead  bool
	last  string

	// wrong collects what no operator may do.
	wrong []string
	// deletes is called before a pod is let go.
	deletes func(node string)
}

var errDead = errors.New("the operator has ended")

// arm lets it end at its n-th deed from now on.
func (m *mortal) arm(n int, late bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.late = m.count+n, late
}

// reborn is another process.
func (m *mortal) reborn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.dead = 0, false
}

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

func (m *mortal) complainf(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

func (m *mortal) complaints() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.wrong)
}

// before reports whether the deed is done.
func (m *mortal) before(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false
	}
	m.count++
	m.last = what
	m.dead = m.count == m.at && !m.late
	return !m.dead
}

// after reports whether the process is still there to learn of it.
func (m *mortal) after() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = m.dead || m.at != 0 && m.count >= m.at
	return !m.dead
}

func (m *mortal) do(what string, deed func() error) error {
	if !m.before(what) {
		return errDead
	}
	err := deed()
	if !m.after() {
		return errDead
	}
	return err
}

// mortalLog is the journal of a mortal.
type mortalLog struct {
	*journal.Journal
	m *mortal
}

func (m *mortal) log(j *journal.Journal) executor.Log { return mortalLog{j, m} }

// Watch tells of changes a moment late, so that whoever made one is done before
// anybody goes on from it: what happens has an order.
func (l mortalLog) Watch() (<-chan struct{}, func()) {
	in, stop := l.Journal.Watch()
	out, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-in:
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, sync.OnceFunc(func() { close(done); stop() })
}

func (l mortalLog) Append(ctx context.Context, g journal.Guard, events ...journal.Event) (seq journal.Seq, err error) {
	err = l.m.do("append", func() (err error) {
		seq, err = l.Journal.Append(ctx, g, events...)
		if journal.IsIllegal(err) {
			l.m.complainf("an event that contradicts the journal: %v", err)
		}
		return err
	})
	return seq, err
}

// mortalGate is a gate as a mortal reaches it.
type mortalGate struct {
	gate.Server
	m *mortal
}

func (m *mortal) gate(s gate.Server) gate.Server { return mortalGate{s, m} }

var looks = []gate.Verb{gate.Hello, gate.Observe, gate.Read, gate.GetRecv, gate.Resolve, gate.History, gate.Inspect}

func (g mortalGate) Do(ctx context.Context, req gate.Request) (rep gate.Reply, err error) {
	if slices.Contains(looks, req.Verb) {
		if g.m.died() {
			return rep, errDead
		}
		return g.Server.Do(ctx, req)
	}
	err = g.m.do(string(req.Verb), func() (err error) {
		rep, err = g.Server.Do(ctx, req)
		return err
	})
	return rep, err
}

func (g mortalGate) Install(ctx context.Context, binary []byte) error {
	return g.m.do("install", func() error { return g.Server.Install(ctx, binary) })
}

// mortalPods is Kubernetes as a mortal reaches it.
type mortalPods struct {
	Pods
	m *mortal
}

func (m *mortal) pods(p Pods) Pods { return mortalPods{p, m} }

func (p mortalPods) Make(ctx context.Context, want client.Object) error {
	return p.m.do("make "+want.GetName(), func() error { return p.Pods.Make(ctx, want) })
}

func (p mortalPods) DeletePod(ctx context.Context, k kube.PodKey, uid string) error {
	return p.m.do("delete pod of "+k.Node, func() error {
		p.m.deletes(k.Node)
		return p.Pods.DeletePod(ctx, k, uid)
	})
}

func (p mortalPods) RemoveSet(ctx context.Context, k kube.PodKey) error {
	return p.m.do("remove set of "+k.Node, func() error { return p.Pods.RemoveSet(ctx, k) })
}
