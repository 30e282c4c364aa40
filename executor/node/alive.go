package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/executor/node/probe"
)

// serveAlive answers liveness probes until ctx ends.
func serveAlive(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("answering probes: %w", err)
	}
	// What an earlier process of this container left.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("answering probes: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("answering probes: %w", err)
	}
	context.AfterFunc(ctx, func() { ln.Close() })
	go func() {
		for ctx.Err() == nil {
			conn, err := ln.Accept()
			if err != nil {
				pause(ctx, 50*time.Millisecond) // out of files
				continue
			}
			// A few bytes, which fit into the socket whoever reads them.
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(conn, probe.Greeting)
			conn.Close()
		}
	}()
	return nil
}
