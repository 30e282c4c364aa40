package node

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gluster/anthill/executor/node/probe"
)

func TestAlive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run/node.sock")
	if err := probe.Alive(t.Context(), path); err == nil {
		t.Error("nobody serves: no error")
	}
	for range 2 { // over what an earlier one left
		ctx, cancel := context.WithCancel(t.Context())
		if err := serveAlive(ctx, path); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := probe.Alive(t.Context(), path); err != nil {
				t.Error(err)
			}
		}
		cancel()
		until(t, "the socket to close", func() bool { return probe.Alive(t.Context(), path) != nil })
		write(t, path, "left")
	}
}
