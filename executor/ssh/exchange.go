package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gluster/anthill/executor/gate"
)

// An exchange is one command on a server: input in, output and exit code out.
type exchange struct {
	command string
	input   []byte
	outMax  int
	// abort closes the session when the caller gives up. Otherwise the command
	// keeps its session and its slot until it ends, as sshd counts it too.
	abort bool

	mu        sync.Mutex
	begun     bool // input may have left
	abandoned bool
	close     func()
}

// A result is how an exchange went. Without sent the server did not get the
// whole input.
type result struct {
	stdout, stderr []byte
	exit           int // -1: the server told none
	sent           bool
	err            error // of the session, if it did not end by itself
}

var errLost = errors.New("the connection was lost")

// busyPause is between two tries to open a session that sshd refuses: it
// counts one that just ended for a moment longer than we do, and its limit may
// be below ours.
const busyPause = 25 * time.Millisecond

// run carries x out. The error is that nothing was begun, typed; everything
// later is in the result. When ctx ends first the result says whether the
// input may have left.
func (p *Pool) run(ctx context.Context, ep Endpoint, x *exchange) (result, error) {
	for last := false; ; last = true {
		c, err := p.get(ctx, ep)
		if err != nil {
			return result{}, err
		}
		res, err := p.runOn(ctx, c, x)
		// A connection that died since it was last used shows it only now.
		// Nothing was sent on it, so a new one may take its place.
		if last || !errors.Is(err, errLost) || ctx.Err() != nil {
			return res, err
		}
		c.cut()
		<-c.done
	}
}

// runOn carries x out on a connection that get returned.
func (p *Pool) runOn(ctx context.Context, c *conn, x *exchange) (result, error) {
	if err := p.slot(ctx, c); err != nil {
		p.release(c)
		return result{}, err
	}
	type answer struct {
		res result
		err error
	}
	got := make(chan answer, 1)
	if !p.spawn(func() {
		res, err := x.talk(c, p.o.SessionWait)
		<-c.slots
		p.release(c)
		got <- answer{res, err}
	}) {
		return result{}, &UnreachableError{Addr: c.addr, Err: errClosed}
	}
	select {
	case a := <-got:
		return a.res, a.err
	case <-ctx.Done():
		if x.abandon() {
			return result{exit: -1, sent: true, err: ctx.Err()}, nil
		}
		return result{}, &UnreachableError{Addr: c.addr, Err: fmt.Errorf("the session did not begin: %w", ctx.Err())}
	}
}

// slot waits for one of the connection's sessions.
func (p *Pool) slot(ctx context.Context, c *conn) error {
	timer := time.NewTimer(p.o.SessionWait)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-c.done:
		return &UnreachableError{Addr: c.addr, Err: errLost}
	case <-timer.C:
	case <-ctx.Done():
	}
	return &gate.BusyError{Text: fmt.Sprintf("all %d sessions to %s are taken", cap(c.slots), c.addr)}
}

// talk runs in a goroutine of its own: none of its calls ends with a context,
// all end with the connection.
func (x *exchange) talk(c *conn, wait time.Duration) (result, error) {
	lost := func(err error) error {
		return &UnreachableError{Addr: c.addr, Err: fmt.Errorf("opening a session: %w: %w", errLost, err)}
	}
	s, err := x.open(c, wait)
	if err != nil {
		if _, ok := errors.AsType[*gate.BusyError](err); ok {
			return result{}, err
		}
		return result{}, lost(err)
	}
	defer s.Close()
	stdout, stderr := &gate.Window{Max: x.outMax}, &gate.Window{Max: stderrMax, Last: true}
	s.Stdout, s.Stderr = stdout, stderr
	in, err := s.StdinPipe()
	if err == nil {
		err = s.Start(x.command)
	}
	if err != nil {
		return result{}, lost(err)
	}
	if !x.begin(func() { s.Close() }) {
		return result{}, lost(context.Canceled)
	}
	res := result{exit: -1}
	// A failed write is not the end: the command may have said why it left.
	_, werr := in.Write(x.input)
	if werr == nil {
		werr = in.Close()
		if errors.Is(werr, io.EOF) {
			werr = nil // the command ended with the last byte
		}
		res.sent = true
	}
	err = s.Wait()
	res.stdout, res.stderr = stdout.Bytes, stderr.Bytes
	var exit *ssh.ExitError
	switch {
	case err == nil:
		res.exit = 0
	case errors.As(err, &exit) && exit.Signal() == "":
		res.exit = exit.ExitStatus()
	default:
		res.err = errors.Join(werr, err)
	}
	return res, nil
}

// open opens a session, and again while the server refuses, until wait is over.
func (x *exchange) open(c *conn, wait time.Duration) (*ssh.Session, error) {
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		s, err := c.client.NewSession()
		var refused *ssh.OpenChannelError
		if !errors.As(err, &refused) {
			return s, err
		}
		select {
		case <-c.done:
			return nil, err
		case <-late.C:
			return nil, &gate.BusyError{Text: fmt.Sprintf("%s opens no further session (%s)", c.addr, refused.Reason)}
		case <-time.After(busyPause):
		}
		if x.left() {
			return nil, context.Canceled
		}
	}
}

func (x *exchange) left() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.abandoned
}

// begin claims the right to send the input; false when the caller has left.
func (x *exchange) begin(closeSession func()) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.abandoned {
		return false
	}
	x.begun, x.close = true, closeSession
	return true
}

// abandon reports whether the input may have left; if not, it never will.
func (x *exchange) abandon() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.abandoned = true
	if x.begun && x.abort {
		x.close()
	}
	return x.begun
}

const stderrMax = 4 << 10
