package node

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/gluster/anthill/executor/node/probe"
)

func TestReadiness(t *testing.T) {
	var answer error
	asked, log := 0, []string{}
	now := time.Unix(1, 0)
	r := &readiness{
		ask: func(context.Context) error { asked++; return answer },
		log: funcr.New(func(_, args string) { log = append(log, args) }, funcr.Options{}),
		now: func() time.Time { return now },
	}
	for _, tc := range []struct {
		reason string
		answer error
		later  time.Duration
		code   int
		text   string
		asked  int
	}{
		{"it answers", nil, 0, http.StatusOK, "answers", 1},
		{"what was asked just now stands", errors.New("no"), readyFresh - 1, http.StatusOK, "answers", 1},
		{"it no longer does", errors.New("no such file"), 1, http.StatusServiceUnavailable, "no such file", 2},
		{"nor later", errors.New("no such file"), readyFresh, http.StatusServiceUnavailable, "no such file", 3},
		{"it does again", nil, readyFresh, http.StatusOK, "answers", 4},
	} {
		answer, now = tc.answer, now.Add(tc.later)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, probe.ReadyPath, nil))
		if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.text) || asked != tc.asked {
			t.Errorf("%s: code %d, %q, asked %d times", tc.reason, w.Code, w.Body.String(), asked)
		}
	}
	if len(log) != 3 {
		t.Errorf("it is logged when the answer changes, and then only: %q", log)
	}
}

func TestServeReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := &node{o: Options{ReadyAddress: "127.0.0.1:0"}.withDefaults()}
	if err := n.serveReady(ctx); err != nil {
		t.Fatal(err)
	}
	n.o.ReadyAddress = "127.0.0.1:nonsense"
	if err := n.serveReady(ctx); err == nil {
		t.Error("a port that is none: no error")
	}
}
