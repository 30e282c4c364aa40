package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"

	"github.com/gluster/anthill/executor/node/probe"
)

// readyFresh is how long an answer of glusterd's stands for later questions:
// whoever asks, glusterd is asked once a second at most.
const readyFresh = time.Second

// readyConns is how many may ask at the same time. Anybody who reaches the pod
// can, and must not fill the memory of what keeps its bricks.
const readyConns = 16

// A readiness asks glusterd for whoever wants to know, one question at a time,
// and logs when the answer changes.
type readiness struct {
	ask func(context.Context) error
	log logr.Logger
	now func() time.Time

	mu    sync.Mutex
	asked time.Time
	err   error
	said  string // in the log
}

func (r *readiness) get(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && r.now().Sub(r.asked) < readyFresh {
		return r.err
	}
	// Not the caller's context: who hangs up must not leave a wrong answer to the
	// next one.
	r.err = r.ask(context.WithoutCancel(ctx))
	r.asked = r.now()
	said := "glusterd answers"
	if r.err != nil {
		said = "glusterd does not answer"
	}
	if said != r.said {
		r.log.Info(said, "reason", reason(r.err))
		r.said = said
	}
	return r.err
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := r.get(req.Context()); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = io.WriteString(w, "glusterd answers\n")
}

// serveReady answers readiness probes until ctx ends.
func (n *node) serveReady(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.o.ReadyAddress)
	if err != nil {
		return fmt.Errorf("answering readiness probes: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+probe.ReadyPath, &readiness{
		ask: func(ctx context.Context) error { return probe.Ready(ctx, probe.GlusterdSocket) },
		log: n.o.Log, now: time.Now,
	})
	s := &http.Server{Handler: mux, ReadTimeout: probe.Timeout, WriteTimeout: 2 * probe.Timeout, MaxHeaderBytes: 8 << 10}
	s.SetKeepAlivesEnabled(false) // a place is free again after each answer
	context.AfterFunc(ctx, func() { s.Close() })
	go func() {
		if err := s.Serve(netutil.LimitListener(ln, readyConns)); !errors.Is(err, http.ErrServerClosed) {
			n.o.Log.Error(err, "no longer answering readiness probes")
		}
	}()
	return nil
}
