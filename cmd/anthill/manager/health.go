package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// health serves /healthz and /readyz from the first moment on, while the
// process still waits for its journal or its lease. Ready means that the
// journal is open and verified and the epoch is open: the operator works. What
// gluster does has no part in it. Safe for concurrent use.
type health struct {
	mu      sync.Mutex
	waiting string // what readiness waits for; empty: ready
}

func newHealth() *health { return &health{waiting: "starting"} }

// wait says what readiness waits for now; empty: nothing.
func (h *health) wait(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = what
}

func (h *health) ready() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if what := h.ready(); what != "" {
			http.Error(w, "not ready: "+what, http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}

// serve listens at addr, unless it is "0", and returns what stops it.
func (h *health) serve(ctx context.Context, addr string) (stop func(), err error) {
	if addr == "0" {
		return func() {}, nil
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serving health probes: %w", err)
	}
	srv := &http.Server{Handler: h.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			h.wait("health probes ended: " + err.Error())
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
		<-done
	}, nil
}
