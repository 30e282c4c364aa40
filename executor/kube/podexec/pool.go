package podexec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gluster/anthill/executor/gate"
)

// Options of a Pool. Zero values mean the defaults.
type Options struct {
	PerPod   int           // streams into one pod; default 8
	InAll    int           // streams in all; default 64: each is a connection to the API server
	SlotWait time.Duration // for a stream to be free; default 10 s
}

func (o Options) withDefaults() Options {
	if o.PerPod == 0 {
		o.PerPod = 8
	}
	if o.InAll == 0 {
		o.InAll = 64
	}
	if o.SlotWait == 0 {
		o.SlotWait = 10 * time.Second
	}
	return o
}

// A Pool runs commands in containers, within limits. Safe for concurrent use.
type Pool struct {
	cfg *rest.Config
	o   Options

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	all    chan struct{}

	mu     sync.Mutex
	closed bool
	pods   map[string]*slots
}

// slots are those of one pod; they are kept while somebody uses or wants one.
type slots struct {
	c     chan struct{}
	users int
}

// NewPool returns a Pool of the API server that cfg reaches. Close it.
func NewPool(cfg *rest.Config, o Options) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	o = o.withDefaults()
	return &Pool{cfg: rest.CopyConfig(cfg), o: o, ctx: ctx, cancel: cancel, all: make(chan struct{}, o.InAll), pods: map[string]*slots{}}
}

// A Target is a container of a pod.
type Target struct {
	Namespace, Pod, Container string
	// Check is called before each command; its error, which satisfies
	// gate.NotStarted, keeps the command from being sent. Default: no check.
	Check func(ctx context.Context) error
}

func (t Target) name() string { return t.Namespace + "/" + t.Pod }

// Server returns the gate in a container. Nobody is contacted before it is used.
func (p *Pool) Server(t Target) gate.Server { return &server{pool: p, target: t} }

// Close gives up all commands and waits until nothing of the Pool runs. What
// runs in the containers goes on; replies under way are lost.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	p.mu.Unlock()
	p.wg.Wait()
}

var errClosed = errors.New("the operator stops")

// spawn starts f, which Close waits for; false when the Pool is closed.
func (p *Pool) spawn(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.wg.Go(f)
	return true
}

// slot waits for one of the pod's streams and one of all.
func (p *Pool) slot(ctx context.Context, pod string) (release func(), err error) {
	late := time.NewTimer(p.o.SlotWait)
	defer late.Stop()
	s, leave := p.use(pod)
	for _, c := range []chan struct{}{s.c, p.all} {
		select {
		case c <- struct{}{}:
			continue
		case <-late.C:
		case <-ctx.Done():
		}
		if c == p.all {
			<-s.c
		}
		leave()
		return nil, &gate.BusyError{Text: fmt.Sprintf("all %d streams to pod %s, or all %d of the operator, are taken", p.o.PerPod, pod, p.o.InAll)}
	}
	return func() {
		<-p.all
		<-s.c
		leave()
	}, nil
}

func (p *Pool) use(pod string) (*slots, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.pods[pod]
	if s == nil {
		s = &slots{c: make(chan struct{}, p.o.PerPod)}
		p.pods[pod] = s
	}
	s.users++
	return s, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(p.pods, pod)
		}
	}
}
