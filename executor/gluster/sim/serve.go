package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// Socket is where a server of a served pool listens.
func Socket(dir, server string) string { return filepath.Join(dir, server+".sock") }

// ControlSocket is where a served pool takes orders; see Control.
func ControlSocket(dir string) string { return filepath.Join(dir, "control.sock") }

// lookEvery is how often Serve looks whether a server can be reached.
const lookEvery = 20 * time.Millisecond

// Serve serves every server's gate and the control socket in dir until ctx
// ends; a server that is off, or dark, has no socket. The pool should have a
// real clock. What was begun is seen to its end although nobody waits for it.
func (p *Pool) Serve(ctx context.Context, dir string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	control, err := listen(ctx, ControlSocket(dir))
	if err != nil {
		return err
	}
	wg.Go(func() { acceptAll(ctx, control, p.controlConn) })
	for _, name := range p.Servers() {
		wg.Go(func() {
			if err := p.serveOne(ctx, &wg, dir, name); err != nil {
				cancel(err)
			}
		})
	}
	<-ctx.Done()
	p.quit()
	wg.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// serveOne listens while the server can be reached.
func (p *Pool) serveOne(ctx context.Context, wg *sync.WaitGroup, dir, name string) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if p.reachable(name) {
			if err := p.serveWhile(ctx, wg, dir, name); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

// serveWhile leaves commands that run on to wg: a server can come back before
// they end.
func (p *Pool) serveWhile(ctx context.Context, wg *sync.WaitGroup, dir, name string) error {
	ln, err := listen(ctx, Socket(dir, name))
	if err != nil {
		return err
	}
	here, leave := context.WithCancel(ctx)
	defer leave()
	wg.Go(func() { acceptAll(here, ln, func(ctx context.Context, c net.Conn) { p.gateConn(ctx, name, c) }) })
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil && p.reachable(name) {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

// quit ends all waiting, for good.
func (p *Pool) quit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
}

func (p *Pool) reachable(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.server(name)
	return s != nil && !s.Away && !s.Dark
}

func listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	return ln, nil
}

const connsMax = 64

// acceptAll serves connections until ctx ends and all of them are done.
func acceptAll(ctx context.Context, ln net.Listener, serve func(context.Context, net.Conn)) {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, connsMax)
	for {
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(lookEvery) // out of files
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			defer conn.Close()
			cut := context.AfterFunc(ctx, func() { conn.Close() })
			defer cut()
			serve(ctx, conn)
		})
	}
}

// gateConn answers one request; the connection just ends when the reply is
// lost.
func (p *Pool) gateConn(ctx context.Context, name string, conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	d := json.NewDecoder(&io.LimitedReader{R: conn, N: gate.RequestBytesMax + 1})
	var req gate.Request
	if err := d.Decode(&req); err != nil {
		_ = gate.Encode(conn, gate.Reply{
			Version: gate.ProtocolVersion, Exit: gate.ExitUsage, Reason: gate.ReasonUsage, Error: "reading the request: " + err.Error(),
		})
		return
	}
	if req.Verb == gate.Install {
		_ = gate.Encode(conn, p.installConn(name, req, io.MultiReader(d.Buffered(), conn)))
		return
	}
	rep, lost := p.Handle(ctx, name, req)
	if lost {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
	_ = gate.Encode(conn, rep)
}

func (p *Pool) installConn(name string, req gate.Request, r io.Reader) gate.Reply {
	fail := func(err error) gate.Reply {
		return gate.Reply{Version: gate.ProtocolVersion, Exit: gate.ExitFailed, Reason: gate.ReasonState, Error: err.Error()}
	}
	if req.Size <= 0 || req.Size > gate.BinaryBytesMax {
		return fail(fmt.Errorf("a gate of %d bytes", req.Size))
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, req.Size); err != nil {
		return fail(err)
	}
	if err := p.Install(name, b.Bytes()); err != nil {
		return fail(err)
	}
	return gate.Reply{Version: gate.ProtocolVersion}
}

// Transport reaches a server's gate within the process, for simulations that
// own their time. A lost reply is an error at once.
func (p *Pool) Transport(name string) gate.Server { return &transport{p, name} }

type transport struct {
	p    *Pool
	name string
}

// Do implements gate.Transport.
func (t *transport) Do(ctx context.Context, req gate.Request) (gate.Reply, error) {
	if err := ctx.Err(); err != nil {
		return gate.Reply{}, fmt.Errorf("%w: %w", gate.ErrNotStarted, err)
	}
	if !t.p.reachable(t.name) {
		return gate.Reply{}, fmt.Errorf("%w: server %q does not answer", gate.ErrNotStarted, t.name)
	}
	rep, lost := t.p.Handle(ctx, t.name, req)
	if lost {
		return gate.Reply{}, fmt.Errorf("asking server %q to %s: %w", t.name, req.Verb, ErrReplyLost)
	}
	if rep.Exit == gate.ExitMissing && rep.Reason == gate.ReasonNotInstalled {
		return gate.Reply{}, gate.ErrNotInstalled
	}
	return rep, nil
}

// Install implements gate.Installer.
func (t *transport) Install(_ context.Context, binary []byte) error {
	if !t.p.reachable(t.name) {
		return fmt.Errorf("%w: server %q does not answer", gate.ErrNotStarted, t.name)
	}
	return t.p.Install(t.name, binary)
}
