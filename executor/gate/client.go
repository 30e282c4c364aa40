package gate

import (
	"context"
	"errors"
	"fmt"
)

// A Transport carries one request to the gate of one server and its reply back.
//
// An error is one of: ErrNotStarted (wrapped: the request did not reach a gate,
// nothing happened), ErrNotInstalled (wrapped: the server was reached, it has
// no gate), or anything else: the reply was lost and a mutating request may
// have happened. Do is safe for concurrent use; it returns soon after ctx ends.
type Transport interface {
	Do(ctx context.Context, req Request) (Reply, error)
}

// An Installer puts the gate on a server and tells its digest. Only the
// transport knows how; idempotent, atomic (rename), digest is of the file.
type Installer interface {
	Install(ctx context.Context, binary []byte) error
}

// A Server is one server as the executor reaches it.
type Server interface {
	Transport
	Installer
}

// Errors of transports.
var (
	ErrNotStarted   = errors.New("the request did not reach the server")
	ErrNotInstalled = errors.New("the server has no gate")
)

// A FencedError says that somebody else owns the server.
type FencedError struct {
	Owner Owner
	Text  string
}

func (e *FencedError) Error() string { return fmt.Sprintf("fenced: %s", e.Text) }

// A BusyError says that an earlier command still runs on the server.
type BusyError struct{ Text string }

func (e *BusyError) Error() string { return e.Text }
