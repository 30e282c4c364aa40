package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A gate serves one request.
type gate struct{ Options }

// Main is the gate's process: it serves the request on standard input and
// returns the exit code. Neither the end of its input, nor a hang-up, nor a
// closed output stops it: what it began it sees to its end.
func Main() int { return mainWith(Options{}) }

func mainWith(o Options) int {
	// Ignored rather than caught, and so ignored by the child too: a command
	// whose reader is gone must not die before it is through.
	signal.Ignore(syscall.SIGPIPE)
	// Caught rather than ignored: children start with the default action.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	return Serve(context.Background(), os.Stdin, os.Stdout, o)
}

// Serve reads one request from in, carries it out and writes the framed reply
// to out. It returns the exit code, which is the reply's. ctx ends waiting and
// reading; a mutation that began runs to its end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) int {
	o = o.withDefaults()
	req, rep := readRequest(in, o.RequestWait)
	if rep.Exit == ExitOK {
		rep = Handle(ctx, req, o)
	}
	// The caller may be gone; the receipt is what counts then.
	_ = Encode(out, rep)
	return rep.Exit
}

// readRequest returns the request, or the reply that refuses it.
func readRequest(in io.Reader, wait time.Duration) (Request, Reply) {
	type read struct {
		raw json.RawMessage
		err error
	}
	// One value, not the whole stream: a client that keeps its end open is served.
	c := make(chan read, 1)
	go func() {
		var r read
		lr := &io.LimitedReader{R: in, N: RequestBytesMax + 1}
		r.err = json.NewDecoder(lr).Decode(&r.raw)
		if r.err != nil && lr.N <= 0 {
			r.err = fmt.Errorf("larger than %d bytes", RequestBytesMax)
		}
		c <- r
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case r := <-c:
		if r.err != nil {
			return Request{}, refuse(ExitUsage, ReasonUsage, "reading the request: %v", r.err)
		}
		if len(r.raw) > RequestBytesMax {
			return Request{}, refuse(ExitUsage, ReasonUsage, "reading the request: larger than %d bytes", RequestBytesMax)
		}
		return parseRequest(r.raw)
	case <-timer.C:
		return Request{}, refuse(ExitUsage, ReasonUsage, "no request arrived in time")
	}
}

// parseRequest looks at the version first: a newer request's unknown fields
// are no news.
func parseRequest(raw []byte) (Request, Reply) {
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return Request{}, refuse(ExitUsage, ReasonUsage, "reading the request: %v", err)
	}
	if v.Version != ProtocolVersion {
		return Request{}, refuse(ExitUsage, ReasonVersion, "protocol version %d is unknown, this gate speaks %d", v.Version, ProtocolVersion)
	}
	var req Request
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		return Request{}, refuse(ExitUsage, ReasonUsage, "reading the request: %v", err)
	}
	return req, Reply{}
}

// Handle carries out one request on this server. The rules of Serve hold.
func Handle(ctx context.Context, req Request, o Options) Reply {
	g := &gate{o.withDefaults()}
	rep, err := g.dispatch(ctx, req)
	if err != nil {
		if r, ok := errors.AsType[*refusal](err); ok {
			rep = r.Reply
		} else {
			rep = refuse(ExitFailed, ReasonState, "%v", err)
		}
	}
	rep.Version = ProtocolVersion
	return rep
}

func (g *gate) dispatch(ctx context.Context, req Request) (Reply, error) {
	if req.Version != ProtocolVersion {
		return Reply{}, refusef(ExitUsage, ReasonVersion, "protocol version %d is unknown, this gate speaks %d", req.Version, ProtocolVersion)
	}
	if err := checkRequest(req); err != nil {
		return Reply{}, err
	}
	switch req.Verb {
	case Hello:
		return g.hello()
	case Observe:
		return g.observe(ctx, req)
	case Read:
		return g.read(ctx, req)
	case GetRecv:
		return g.receipt(req)
	case Resolve:
		return g.resolve(ctx, req)
	case History:
		return g.history()
	case Inspect:
		return g.inspect(req)
	case Claim:
		return g.claim(ctx, req)
	case Run:
		return g.run(ctx, req)
	case MakeBrick:
		return g.mutate(ctx, req, g.makeBrick)
	case Drop:
		return g.mutate(ctx, req, g.drop)
	case Release:
		return g.release(ctx, req)
	case Retire:
		return g.mutate(ctx, req, g.retire)
	case Reclaim:
		return g.mutate(ctx, req, g.reclaim)
	case Register:
		return g.mutate(ctx, req, g.register)
	case FormatDevice:
		return g.mutateBy(ctx, req, g.format)
	case MountDevice:
		return g.mutate(ctx, req, g.mount)
	}
	return Reply{}, refusef(ExitUsage, ReasonUsage, "verb %q is unknown", req.Verb)
}

func (g *gate) hello() (Reply, error) {
	owner, err := g.owner()
	if err != nil {
		return Reply{}, err
	}
	digest, err := g.digest()
	if err != nil {
		return Reply{}, err
	}
	return Reply{Owner: owner, Digest: digest}, nil
}

// digest is the SHA-256 of the gate's own file.
func (g *gate) digest() (string, error) {
	return g.fact("gate-digest", g.Exe, g.computeDigest)
}

func (g *gate) computeDigest() (string, error) {
	f, err := os.Open(g.Exe)
	if err != nil {
		return "", fmt.Errorf("reading the gate's own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading the gate's own file: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A refusal is a reply on its way out as an error.
type refusal struct{ Reply }

func (r *refusal) Error() string { return r.Reply.Error }

func refuse(exit int, why Reason, format string, args ...any) Reply {
	return Reply{Version: ProtocolVersion, Exit: exit, Reason: why, Error: fmt.Sprintf(format, args...)}
}

func refusef(exit int, why Reason, format string, args ...any) *refusal {
	return &refusal{refuse(exit, why, format, args...)}
}
