package podexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gluster/anthill/executor/gate"
)

// gateEnv makes this test program a gate: its value is what it answers.
const gateEnv = "ANTHILL_TEST_GATE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(gateEnv); mode != "" {
		os.Exit(actGate(mode))
	}
	// The library's heartbeat of a connection that was closed ends with its next
	// ping, within five seconds.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/client-go/tools/remotecommand.(*heartbeat).start"))
}

// actGate reads the request to its end and answers as a gate of that mode.
func actGate(mode string) int {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	var req gate.Request
	if json.Unmarshal(raw, &req) != nil {
		return 2
	}
	switch mode {
	case "silent":
		return 1
	case "hang":
		time.Sleep(time.Hour)
	case "loud":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("noise "), gate.ReplyBytesMax))
		return 1
	}
	if mode == "chatty" {
		_, _ = io.WriteString(os.Stdout, "a shell may say something first\n")
	}
	_ = gate.Encode(os.Stdout, gate.Reply{Version: gate.ProtocolVersion, Exit: gate.ExitBusy, Reason: gate.ReasonBusy, Error: string(req.Verb)})
	return gate.ExitBusy
}

// An apiServer is the part of an API server that runs commands in containers:
// it runs them on this machine, in folders of its own.
type apiServer struct {
	t    *testing.T
	root string // holds what is /usr/local/lib/anthill and /var/lib/anthill in a container
	http *httptest.Server

	refuse   atomic.Int32 // HTTP status instead of an upgrade
	noRun    atomic.Bool  // upgraded, and then the kubelet cannot be reached
	cutOn    atomic.Value // bytes on stdout after which the connection is cut
	noSocket atomic.Bool  // WebSockets are refused
	dumb     atomic.Bool  // upgraded, and then nothing ever happens
	calls    atomic.Int32
	running  atomic.Int32
	most     atomic.Int32
	said     atomic.Bool // a command wrote something

	mu    sync.Mutex
	conns []io.Closer
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	a := &apiServer{t: t, root: t.TempDir()}
	a.http = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(func() {
		a.mu.Lock()
		for _, c := range a.conns {
			_ = c.Close()
		}
		a.mu.Unlock()
		a.http.Close()
	})
	return a
}

func (a *apiServer) pool(o Options) *Pool {
	p := NewPool(&rest.Config{Host: a.http.URL}, o)
	a.t.Cleanup(p.Close)
	return p
}

func (a *apiServer) server(p *Pool) *server {
	return p.Server(Target{Namespace: "ns", Pod: "n1-0", Container: "glusterd"}).(*server)
}

// installGate puts a gate of that mode where the container has it.
func (a *apiServer) installGate(mode string) {
	a.t.Helper()
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	dir := a.inside("/usr/local/lib/anthill")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		a.t.Fatal(err)
	}
	script := "#!/bin/sh\nexport " + gateEnv + "=" + mode + "\nexec " + self + "\n"
	if err := os.WriteFile(filepath.Join(dir, "gate"), []byte(script), 0o755); err != nil {
		a.t.Fatal(err)
	}
}

// inside is a path of the container on this machine.
func (a *apiServer) inside(path string) string {
	return filepath.Join(a.root, filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// argv is a command with the container's paths replaced.
func (a *apiServer) argv(r *http.Request) []string {
	argv := r.URL.Query()["command"]
	for i := range argv {
		for _, p := range []string{"/usr/local/lib/anthill", "/var/lib/anthill"} {
			argv[i] = strings.ReplaceAll(argv[i], p, a.inside(p))
		}
	}
	return argv
}

func (a *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	a.calls.Add(1)
	if status := a.refuse.Load(); status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status))
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Message: "refused for the test", Code: status})
		return
	}
	if r.URL.Path != "/api/v1/namespaces/ns/pods/n1-0/exec" || r.URL.Query().Get("container") != "glusterd" {
		http.Error(w, "no such pod", http.StatusNotFound)
		return
	}
	if r.Method == http.MethodPost {
		a.spdy(w, r)
		return
	}
	if a.noSocket.Load() {
		http.Error(w, "no WebSockets here", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	a.mu.Lock()
	a.conns = append(a.conns, conn)
	a.mu.Unlock()
	defer conn.Close()
	now := a.running.Add(1)
	defer a.running.Add(-1)
	for was := a.most.Load(); now > was && !a.most.CompareAndSwap(was, now); was = a.most.Load() {
	}
	s := &session{conn: conn, a: a}
	switch {
	case a.dumb.Load():
		_, _, _ = conn.ReadMessage()
		<-r.Context().Done()
	case a.noRun.Load():
		go s.stdin(io.Discard)
		s.status(metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: "error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused"})
	default:
		s.run(a.argv(r))
	}
}

// A session is one command, by the protocol v5.channel.k8s.io.
type session struct {
	a    *apiServer
	mu   sync.Mutex
	conn *websocket.Conn
}

func (s *session) send(channel byte, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, b...))
}

// stdin passes on what the client sends until it closes it.
func (s *session) stdin(w io.Writer) {
	for {
		_, b, err := s.conn.ReadMessage()
		switch {
		case err != nil || len(b) > 0 && b[0] == 255:
			if c, ok := w.(io.Closer); ok {
				_ = c.Close()
			}
			if err != nil {
				return
			}
		case len(b) > 0 && b[0] == 0:
			_, _ = w.Write(b[1:])
		}
	}
}

type channel struct {
	s *session
	n byte
}

func (c channel) Write(b []byte) (int, error) {
	c.s.a.said.Store(true)
	if cut, _ := c.s.a.cutOn.Load().(string); cut != "" && bytes.Contains(b, []byte(cut)) {
		return 0, errors.Join(errors.New("cut for the test"), c.s.conn.Close())
	}
	return len(b), c.s.send(c.n, b)
}

func (s *session) run(argv []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = channel{s, 1}, channel{s, 2}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.status(metav1.Status{Status: metav1.StatusFailure, Message: err.Error()})
		return
	}
	go func() {
		s.stdin(in)
		_ = cmd.Process.Kill() // the connection is gone, and with it the test's interest
	}()
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		s.status(metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: itoa(exit.ExitCode())}}}})
		return
	}
	s.status(metav1.Status{Status: metav1.StatusSuccess})
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func (s *session) status(st metav1.Status) {
	raw, _ := json.Marshal(st)
	_ = s.send(3, raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
}
