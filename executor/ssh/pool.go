package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// Options of a Pool; the zero value has the defaults.
type Options struct {
	DialWait       time.Duration // connection and login together; default 10 s
	KeepaliveEvery time.Duration // default 15 s
	KeepaliveWait  time.Duration // for the answer, after which the connection is cut; default 10 s
	IdleClose      time.Duration // a connection nobody used for so long is closed; default 5 min
	SessionWait    time.Duration // for a free session, after which the server is busy; default 30 s
	Sessions       int           // on one connection; default 8, sshd's own limit is 10

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // default net.Dialer
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&o.DialWait, 10*time.Second)
	set(&o.KeepaliveEvery, 15*time.Second)
	set(&o.KeepaliveWait, 10*time.Second)
	set(&o.IdleClose, 5*time.Minute)
	set(&o.SessionWait, 30*time.Second)
	if o.Sessions <= 0 {
		o.Sessions = 8
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	return o
}

// A Pool holds at most one connection per endpoint and makes it when it is
// asked for, again after it was lost. Safe for concurrent use.
type Pool struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[string]*entry
}

// An entry is a connection, or one that is being made.
type entry struct {
	ready chan struct{} // closed when conn or err is set
	conn  *conn
	err   error
}

// NewPool returns an empty pool. Close it.
func NewPool(o Options) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pool{o: o.withDefaults(), ctx: ctx, cancel: cancel, conns: map[string]*entry{}}
}

// Server returns the gate of an endpoint. Nothing is contacted before it is used.
func (p *Pool) Server(e Endpoint) gate.Server { return &server{pool: p, ep: e} }

// Close cuts all connections and waits until nothing of the pool runs. What
// runs on the servers goes on; replies under way are lost.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	for _, e := range p.conns {
		select {
		case <-e.ready:
			if e.conn != nil {
				e.conn.cut()
			}
		default: // its dial ends with p.ctx
		}
	}
	p.mu.Unlock()
	p.wg.Wait()
}

var errClosed = errors.New("the pool of connections is closed")

// spawn starts f, which Close waits for; false when the pool is closed.
func (p *Pool) spawn(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.wg.Go(f)
	return true
}

// get returns a live connection and holds it against idle closing until
// release. One dial serves all who wait; it goes on though one of them leaves.
func (p *Pool) get(ctx context.Context, ep Endpoint) (*conn, error) {
	k := ep.key()
	// A connection that died between look-up and use is dialled anew, once.
	for range 3 {
		e, err := p.entry(k, ep)
		if err != nil {
			return nil, err
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, &UnreachableError{Addr: ep.addr(), Err: fmt.Errorf("still connecting: %w", ctx.Err())}
		}
		if e.err != nil {
			return nil, e.err
		}
		if p.hold(k, e) {
			return e.conn, nil
		}
	}
	return nil, &UnreachableError{Addr: ep.addr(), Err: errors.New("the connection is lost as soon as it is made")}
}

func (p *Pool) entry(k string, ep Endpoint) (*entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &UnreachableError{Addr: ep.addr(), Err: errClosed}
	}
	if e := p.conns[k]; e != nil {
		return e, nil
	}
	e := &entry{ready: make(chan struct{})}
	p.conns[k] = e
	p.wg.Go(func() {
		c, err := dial(p.ctx, ep, p.o)
		p.mu.Lock()
		e.conn, e.err = c, err
		if err != nil {
			delete(p.conns, k)
		} else if p.closed {
			c.cut()
		}
		close(e.ready)
		p.mu.Unlock()
		if err == nil {
			p.watch(k, e)
		}
	})
	return e, nil
}

// hold counts a user of the connection, unless it is gone.
func (p *Pool) hold(k string, e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-e.conn.done:
		p.drop(k, e)
		return false
	default:
	}
	if p.conns[k] != e {
		return false
	}
	e.conn.users++
	return true
}

func (p *Pool) release(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users--
	c.used = time.Now()
}

func (p *Pool) drop(k string, e *entry) {
	if p.conns[k] == e {
		delete(p.conns, k)
	}
}

// watch keeps one connection: it asks for a sign of life, cuts the connection
// when none comes, closes it when nobody uses it, and forgets it at its end.
func (p *Pool) watch(k string, e *entry) {
	c := e.conn
	p.wg.Go(func() {
		_ = c.client.Wait()
		close(c.done)
	})
	tick := time.NewTicker(p.o.KeepaliveEvery)
	defer tick.Stop()
	for alive := true; alive; {
		select {
		case <-c.done:
			alive = false
		case <-tick.C:
			if p.idle(k, e) || !c.answers(p.o.KeepaliveWait) {
				c.cut()
			}
		}
	}
	c.cut()
	p.mu.Lock()
	p.drop(k, e)
	p.mu.Unlock()
}

// idle takes a connection nobody used for long out of the pool.
func (p *Pool) idle(k string, e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.conn.users > 0 || time.Since(e.conn.used) < p.o.IdleClose {
		return false
	}
	p.drop(k, e)
	return true
}
