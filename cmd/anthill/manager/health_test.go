package manager

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	h := newHealth()
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		b, _ := io.ReadAll(w.Body)
		return w.Code, string(b)
	}
	cases := map[string]struct {
		reason, waits, path string
		code                int
		body                string
	}{
		"AliveWhileWaiting": {"a process that waits is alive", "waiting for the lease", "/healthz", 200, "ok"},
		"NotReady":          {"it says what it waits for", "waiting for the lease", "/readyz", 503, "not ready: waiting for the lease"},
		"Ready":             {"ready without gluster", "", "/readyz", 200, "ok"},
		"Other":             {"nothing else is served", "", "/metrics", 404, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h.wait(tc.waits)
			code, body := get(tc.path)
			if code != tc.code || !strings.Contains(body, tc.body) {
				t.Errorf("%s: %d %q, want %d %q", tc.reason, code, body, tc.code, tc.body)
			}
		})
	}
}

func TestHealthServesUntilStopped(t *testing.T) {
	h := newHealth()
	stop, err := h.serve(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if stop, err = h.serve(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := h.serve(t.Context(), "256.0.0.1:1"); err == nil {
		t.Error("an address that cannot be listened at is an error at start")
	}
}
