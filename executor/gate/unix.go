package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Unix is a Server at the other end of a unix socket, where ServeUnix listens:
// the simulated pool, or a gate on this machine. One connection a request.
type Unix struct {
	path string
}

var _ Server = (*Unix)(nil)

// DialUnix returns the server at path. It connects only when asked.
func DialUnix(path string) *Unix { return &Unix{path: path} }

// Do implements Transport.
func (u *Unix) Do(ctx context.Context, req Request) (Reply, error) {
	return u.do(ctx, req, nil)
}

// Install implements Installer.
func (u *Unix) Install(ctx context.Context, binary []byte) error {
	if len(binary) > BinaryBytesMax {
		return fmt.Errorf("installing the gate: %w: %d bytes are more than %d", ErrNotStarted, len(binary), BinaryBytesMax)
	}
	req := Request{Version: ProtocolVersion, Verb: Install, Size: int64(len(binary))}
	rep, err := u.do(ctx, req, binary)
	if err == nil {
		err = rep.Err(req)
	}
	if err != nil {
		return fmt.Errorf("installing the gate: %w", err)
	}
	return nil
}

func (u *Unix) do(ctx context.Context, req Request, more []byte) (Reply, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return Reply{}, fmt.Errorf("%w: encoding the request: %w", ErrNotStarted, err)
	}
	if len(b) > RequestBytesMax {
		return Reply{}, fmt.Errorf("%w: the request of %d bytes is larger than %d", ErrNotStarted, len(b), RequestBytesMax)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", u.path)
	if err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer conn.Close()
	// The end of ctx ends reading and writing, whatever they wait for.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(append(b, more...)); err != nil {
		// An incomplete request is never carried out.
		return Reply{}, fmt.Errorf("%w: sending the request: %w", ErrNotStarted, errors.Join(ctx.Err(), err))
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		return Reply{}, fmt.Errorf("sending the request: %w", errors.Join(ctx.Err(), err))
	}
	rep, err := Decode(conn)
	if err != nil {
		return Reply{}, fmt.Errorf("reading the reply: %w", errors.Join(ctx.Err(), err))
	}
	if rep.Exit == ExitMissing && rep.Reason == ReasonNotInstalled {
		return Reply{}, ErrNotInstalled
	}
	return rep, nil
}

// A Handler answers requests that come in over a unix socket. Both methods are
// called concurrently. ctx ends with the listener, not with the connection:
// what was begun is seen to its end though nobody waits for the answer.
type Handler interface {
	Handle(ctx context.Context, req Request) Reply
	Install(ctx context.Context, binary []byte) error
}

// Local is a Handler that serves this machine as a gate would.
type Local struct {
	Options Options
	// Binary is where Install puts the gate; empty refuses to install.
	Binary string
}

// Handle implements Handler.
func (l Local) Handle(ctx context.Context, req Request) Reply { return Handle(ctx, req, l.Options) }

// Install implements Handler.
func (l Local) Install(_ context.Context, binary []byte) error {
	if l.Binary == "" {
		return errors.New("this socket does not install gates")
	}
	if err := WriteDurably(l.Binary, binary); err != nil {
		return err
	}
	return os.Chmod(l.Binary, 0o755)
}

const unixConnsMax = 64

// ServeUnix answers requests on ln until ctx ends, at most 64 at a time; then
// it closes ln, waits for the requests under way and returns nil. Any other
// end of ln is its error.
func ServeUnix(ctx context.Context, ln net.Listener, h Handler) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, unixConnsMax)
	for {
		conn, err := ln.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ECONNABORTED) {
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("accepting requests: %w", err)
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			conn.Close()
			return nil
		}
		wg.Go(func() {
			defer func() { <-slots }()
			defer conn.Close()
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			// The end of the listener ends a request that has not arrived yet.
			unread := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
			defer unread()
			rep := answer(ctx, conn, h)
			_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
			_ = Encode(conn, rep)
		})
	}
}

func answer(ctx context.Context, conn io.Reader, h Handler) Reply {
	lr := &io.LimitedReader{R: conn, N: RequestBytesMax + 1}
	d := json.NewDecoder(lr)
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return refuse(ExitUsage, ReasonUsage, "reading the request: %v", err)
	}
	req, rep := parseRequest(raw)
	if rep.Exit != ExitOK {
		return rep
	}
	if req.Verb != Install {
		return h.Handle(ctx, req)
	}
	if req.Size <= 0 || req.Size > BinaryBytesMax {
		return refuse(ExitUsage, ReasonUsage, "a gate of %d bytes is not within 1 and %d", req.Size, BinaryBytesMax)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, io.MultiReader(d.Buffered(), conn), req.Size); err != nil {
		return refuse(ExitUsage, ReasonUsage, "reading the gate: %v", err)
	}
	if err := h.Install(ctx, b.Bytes()); err != nil {
		return refuse(ExitFailed, ReasonState, "%v", err)
	}
	return Reply{Version: ProtocolVersion}
}
