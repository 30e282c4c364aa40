package probe

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

// Where the first process of a pod says over HTTP whether glusterd answers: with
// status 200, or 503 and the reason. Beside glusterd's own ports, 24007 and 24008.
const (
	ReadyPort = 24006
	ReadyPath = "/ready"
)

// GlusterdSocket is where glusterd listens for commands.
const GlusterdSocket = "/run/glusterd.socket"

// Timeout is how long a probe takes at most. What asks should wait longer.
const Timeout = 5 * time.Second

// Ready reports whether glusterd answers on its socket: nil if it does.
func Ready(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	conn, err := dial(ctx, socket)
	if err != nil {
		return fmt.Errorf("asking glusterd: %w", err)
	}
	defer conn.Close()
	xid := uint32(os.Getpid())
	if _, err := conn.Write(call(xid)); err != nil {
		return fmt.Errorf("asking glusterd: %w", err)
	}
	if err := answered(conn, xid); err != nil {
		return fmt.Errorf("asking glusterd: %w", err)
	}
	return nil
}

// dial connects; all that is done with the connection ends with ctx.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}
