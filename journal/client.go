package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A Client reads a live journal over its server's socket and asks its owner to
// act. Each call is a connection of its own, bounded by its context; a Client
// holds nothing. Errors of the server are *RemoteError; ErrUnavailable: the
// server cannot be reached, or went away.
type Client struct{ path string }

var (
	_ Reader = (*Client)(nil)
	_ Actor  = (*Client)(nil)
)

// Dial returns a client of the server at a socket, once that has answered.
func Dial(ctx context.Context, socket string) (*Client, error) {
	c := &Client{path: socket}
	if _, err := c.Info(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// A call is one request under way.
type call struct {
	conn net.Conn
	r    *bufio.Reader
	stop func() bool
}

// replyBytesMax bounds one reply line: a page of events and its envelope.
const replyBytesMax = 4 * readBytesMax

func (c *Client) begin(ctx context.Context, req wireRequest) (*call, error) {
	conn, err := dial(ctx, c.path)
	if err != nil {
		return nil, err
	}
	k := &call{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
	k.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	b, err := json.Marshal(req)
	if err == nil {
		_, err = conn.Write(append(b, '\n'))
	}
	if err != nil {
		// A server with too many connections says so and hangs up: read that first.
		if rerr := k.read(ctx, nil); errors.As(rerr, new(*RemoteError)) {
			err = rerr
		}
		k.end()
		return nil, lost(ctx, "asking", err)
	}
	return k, nil
}

func (k *call) end() {
	k.stop()
	_ = k.conn.Close() // nothing is buffered
}

// lost says that the connection failed, or why this side gave up.
func lost(ctx context.Context, doing string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s the journal's server: %w", doing, ctx.Err())
	case errors.As(err, new(*RemoteError)):
		return err
	}
	return fmt.Errorf("%s the journal's server: %w: %w", doing, ErrUnavailable, err)
}

// read reads one reply into v.
func (k *call) read(ctx context.Context, v any) error {
	line, err := readLine(k.r)
	if err != nil {
		return lost(ctx, "listening to", err)
	}
	var rep wireReply
	if err := json.Unmarshal(line, &rep); err != nil {
		return fmt.Errorf("the journal's server does not speak our language: %w: %w", ErrUnavailable, err)
	}
	if rep.Error != nil {
		return &RemoteError{Code: rep.Error.Code, Message: rep.Error.Message}
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(rep.OK, v); err != nil {
		return fmt.Errorf("decoding an answer of the journal's server: %w: %w", ErrUnavailable, err)
	}
	return nil
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > replyBytesMax:
			return nil, fmt.Errorf("a reply of more than %d bytes", replyBytesMax)
		}
	}
}

// ask does one request with one reply.
func ask[T any](ctx context.Context, c *Client, req wireRequest) (v T, err error) {
	k, err := c.begin(ctx, req)
	if err != nil {
		return v, err
	}
	defer k.end()
	err = k.read(ctx, &v)
	return v, err
}

// Info identifies the journal.
func (c *Client) Info(ctx context.Context) (Info, error) {
	return ask[Info](ctx, c, wireRequest{Do: doInfo})
}

// Stats returns figures of the journal and of its process.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	return ask[Stats](ctx, c, wireRequest{Do: doStats})
}

// Ops lists operations as Journal.Ops does.
func (c *Client) Ops(ctx context.Context, cursor OpID, max int, f Filter) ([]OpHead, error) {
	return ask[[]OpHead](ctx, c, wireRequest{Do: doOps, Cursor: cursor, Max: max, Filter: &f})
}

// Events reads events as Journal.Read does.
func (c *Client) Events(ctx context.Context, from Seq, max int) ([]Event, error) {
	list, err := ask[[]wireEvent](ctx, c, wireRequest{Do: doEvents, From: from, Max: max})
	return fromWire(list), err
}

// OpEvents reads all events of an operation.
func (c *Client) OpEvents(ctx context.Context, id OpID) ([]Event, error) {
	return readWholeOp(id, func(id OpID, from Seq) ([]Event, error) {
		list, err := ask[[]wireEvent](ctx, c, wireRequest{Do: doOp, Op: id, From: from})
		return fromWire(list), err
	})
}

// Epochs lists all tenures.
func (c *Client) Epochs(ctx context.Context) ([]Tenure, error) {
	return ask[[]Tenure](ctx, c, wireRequest{Do: doEpochs})
}

// Tombstones lists the intents of abandoned operations.
func (c *Client) Tombstones(ctx context.Context) ([]Tombstone, error) {
	return ask[[]Tombstone](ctx, c, wireRequest{Do: doTombstones})
}

// Verify has the server verify a copy.
func (c *Client) Verify(ctx context.Context) (Report, error) {
	return ask[Report](ctx, c, wireRequest{Do: doVerify})
}

// Act asks the journal's owner.
func (c *Client) Act(ctx context.Context, a Act) (Acted, error) {
	return ask[Acted](ctx, c, wireRequest{Do: doAct, Act: &a})
}

// Follow calls fn for each event from a number on until ctx ends, fn fails or
// the server goes away (ErrUnavailable: resume one above the last event seen).
func (c *Client) Follow(ctx context.Context, from Seq, fn func(Event) error) error {
	k, err := c.begin(ctx, wireRequest{Do: doFollow, From: from})
	if err != nil {
		return err
	}
	defer k.end()
	for {
		var list []wireEvent
		if ctx.Err() == nil {
			_ = k.conn.SetReadDeadline(time.Now().Add(4 * heartbeat)) // a silent server is gone
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := k.read(ctx, &list); err != nil {
			return err
		}
		for _, ev := range fromWire(list) {
			if err := fn(ev); err != nil {
				return err
			}
		}
	}
}

// Snapshot writes a copy to w and checks it against the server's manifest.
func (c *Client) Snapshot(ctx context.Context, w io.Writer) (m Manifest, err error) {
	k, err := c.begin(ctx, wireRequest{Do: doSnapshot})
	if err != nil {
		return m, err
	}
	defer k.end()
	if err := k.read(ctx, &m); err != nil {
		return m, err
	}
	sum := newSummer(w)
	if _, err := io.CopyN(sum, k.r, m.Size); err != nil {
		return m, lost(ctx, "reading the snapshot from", err)
	}
	if err := k.read(ctx, &m); err != nil {
		return m, err
	}
	if sum.sum() != m.SHA256 {
		return m, fmt.Errorf("the snapshot arrived damaged: %w", ErrUnavailable)
	}
	return m, nil
}

// Close does nothing: a client holds nothing.
func (c *Client) Close() error { return nil }
