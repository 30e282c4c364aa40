package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Limits of the server.
const (
	connectionsMax  = 64
	requestBytesMax = 128 << 10
	requestWait     = time.Minute      // for the next request of a connection
	writeWait       = 10 * time.Second // for a client to take what it asked for
	actWait         = 30 * time.Second
	heartbeat       = 5 * time.Second // of a follow that has nothing to say
	verifiesMax     = 1               // at a time; each copies the file
)

// A Server answers readers of a live journal on a unix socket.
type Server struct {
	j      *Journal
	actor  Actor
	path   string
	ln     net.Listener
	slots  chan struct{}
	verify chan struct{}
}

// Listen makes the socket (mode 0600; what an earlier process left is removed)
// and returns a server that answers once Serve runs. actor may be nil: then
// acts are refused. The journal must stay open until Serve has returned.
func Listen(ctx context.Context, j *Journal, socket string, actor Actor) (*Server, error) {
	ln, err := listen(ctx, socket)
	if err != nil {
		return nil, err
	}
	return &Server{
		j: j, actor: actor, path: socket, ln: ln,
		slots: make(chan struct{}, connectionsMax), verify: make(chan struct{}, verifiesMax),
	}, nil
}

// Serve answers until ctx ends, then removes the socket, ends every connection
// and returns nil. It returns an error when the socket fails.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		_ = os.Remove(s.path)
		_ = s.ln.Close() // makes Accept return
	})
	defer stop()
	for {
		conn, err := s.ln.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case err != nil:
			cancel()
			return fmt.Errorf("serving the journal on %q: %w", s.path, err)
		}
		select {
		case s.slots <- struct{}{}:
			wg.Go(func() {
				defer func() { <-s.slots }()
				s.connection(ctx, conn)
			})
		default:
			wg.Go(func() {
				_ = conn.SetDeadline(time.Now().Add(time.Second))
				_ = json.NewEncoder(conn).Encode(wireReply{Error: toWireError(fmt.Errorf("%d connections are open: %w", connectionsMax, ErrUnavailable))})
				_ = conn.Close()
			})
		}
	}
}

// Serve is Listen and Server.Serve in one.
func Serve(ctx context.Context, j *Journal, socket string, actor Actor) error {
	s, err := Listen(ctx, j, socket, actor)
	if err != nil {
		return err
	}
	return s.Serve(ctx)
}

// A peer is one connection, seen from the server.
type peer struct {
	conn net.Conn
	r    *bufio.Reader
}

// connection answers the requests of one connection, one after the other.
func (s *Server) connection(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }() // nothing is buffered
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	p := &peer{conn: conn, r: bufio.NewReaderSize(conn, requestBytesMax)}
	for ctx.Err() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(requestWait))
		line, err := p.r.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				_ = p.reply(nil, fmt.Errorf("request of more than %d bytes: %w", requestBytesMax, ErrUsage))
			}
			return
		}
		var req wireRequest
		if err := json.Unmarshal(line, &req); err != nil {
			_ = p.reply(nil, fmt.Errorf("the request does not decode: %w: %w", ErrUsage, err))
			return
		}
		if err := p.watched(ctx, func(ctx context.Context) error { return s.answer(ctx, p, &req) }); err != nil {
			return
		}
	}
}

// watched runs fn with a context that ends when the client hangs up.
func (p *peer) watched(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	_ = p.conn.SetReadDeadline(time.Time{})
	wg.Go(func() {
		if _, err := p.r.Peek(1); err != nil {
			cancel()
		}
	})
	err := fn(ctx)
	_ = p.conn.SetReadDeadline(time.Unix(1, 0)) // ends the Peek
	wg.Wait()
	return err
}

// reply writes one reply; its error ends the connection.
func (p *peer) reply(ok any, err error) error {
	var rep wireReply
	if err == nil {
		if rep.OK, err = json.Marshal(ok); err != nil {
			err = fmt.Errorf("encoding the answer: %w", err)
		}
	}
	if err != nil {
		rep = wireReply{Error: toWireError(err)}
	}
	b, err := json.Marshal(rep)
	if err != nil {
		return fmt.Errorf("encoding a reply: %w", err)
	}
	return p.write(append(b, '\n'))
}

func (p *peer) write(b []byte) error {
	_ = p.conn.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := p.conn.Write(b); err != nil {
		return fmt.Errorf("writing a reply: %w", err)
	}
	return nil
}

// Write is write as an io.Writer, with a deadline for each piece.
func (p *peer) Write(b []byte) (int, error) {
	if err := p.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// answer answers one request. Its error ends the connection.
func (s *Server) answer(ctx context.Context, p *peer, req *wireRequest) error {
	switch req.Do {
	case doFollow:
		return s.follow(ctx, p, req.From)
	case doSnapshot:
		return s.snapshot(ctx, p)
	}
	v, err := s.ask(ctx, req)
	return p.reply(v, err)
}

// ask answers the requests that have one reply.
func (s *Server) ask(ctx context.Context, req *wireRequest) (any, error) {
	r := s.j.Reader()
	switch req.Do {
	case doInfo:
		return r.Info(ctx)
	case doStats:
		return r.Stats(ctx)
	case doOps:
		f := Filter{}
		if req.Filter != nil {
			f = *req.Filter
		}
		return r.Ops(ctx, req.Cursor, req.Max, f)
	case doEvents:
		list, err := r.Events(ctx, req.From, req.Max)
		return toWire(list), err
	case doOp:
		list, err := s.j.readOpPage(req.Op, req.From)
		return toWire(list), err
	case doEpochs:
		return r.Epochs(ctx)
	case doTombstones:
		return r.Tombstones(ctx)
	case doVerify:
		select {
		case s.verify <- struct{}{}:
			defer func() { <-s.verify }()
			return r.Verify(ctx)
		default:
			return nil, fmt.Errorf("another verification is under way: %w", ErrUnavailable)
		}
	case doAct:
		return s.act(ctx, req.Act)
	}
	return nil, fmt.Errorf("%q is nothing this server does: %w", req.Do, ErrUsage)
}

func (s *Server) act(ctx context.Context, a *Act) (Acted, error) {
	switch {
	case a == nil:
		return Acted{}, fmt.Errorf("the request has no act: %w", ErrUsage)
	case s.actor == nil:
		return Acted{}, fmt.Errorf("nobody carries out acts here: %w", ErrRefused)
	case a.Reason == "" || a.Person == "":
		return Acted{}, fmt.Errorf("an act needs a person and a reason: %w", ErrUsage)
	}
	ctx, cancel := context.WithTimeout(ctx, actWait)
	defer cancel()
	return s.actor.Act(ctx, *a)
}

// follow sends events as they come. An empty reply every few seconds finds out
// whether anybody still listens, and tells the client that this side lives.
func (s *Server) follow(ctx context.Context, p *peer, from Seq) error {
	wake, stop := s.j.Watch()
	defer stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		list, err := s.j.Read(from, PageMax)
		if err != nil {
			return errors.Join(p.reply(nil, err), err)
		}
		if len(list) > 0 {
			from = list[len(list)-1].Seq + 1
			if err := p.reply(toWire(list), nil); err != nil {
				return err
			}
			continue
		}
		select {
		case <-wake:
		case <-beat.C:
			if err := p.reply([]wireEvent{}, nil); err != nil {
				return err
			}
		case <-s.j.stop:
			return errors.Join(p.reply(nil, ErrClosed), ErrClosed)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// snapshot sends the size, the bytes, the manifest.
func (s *Server) snapshot(ctx context.Context, p *peer) error {
	f, m, err := s.j.copyOut(ctx)
	if err != nil {
		return p.reply(nil, err)
	}
	defer func() { _ = f.Close() }() // unlinked; nothing to lose
	if err := p.reply(m, nil); err != nil {
		return err
	}
	sum := newSummer(p)
	if _, err := io.CopyN(sum, &contextReader{ctx, f}, m.Size); err != nil {
		return fmt.Errorf("sending the snapshot: %w", err)
	}
	m.SHA256 = sum.sum()
	return p.reply(m, nil)
}
