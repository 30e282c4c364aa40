package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// serveTest serves a journal until the test ends and returns its client.
func serveTest(t *testing.T, j *Journal, socket string, actor Actor) *Client {
	t.Helper()
	s, err := Listen(t.Context(), j, socket, actor)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
		if _, err := os.Lstat(socket); err == nil {
			t.Error("the socket is still there")
		}
	})
	c, err := Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadersAgree asks the same of a live journal in process, over the socket,
// and of a snapshot's file.
func TestReadersAgree(t *testing.T) {
	j := openTest(t, testPath(t), testOptions(t))
	for n := range 8 {
		runOp(t, j, n+1)
	}
	if _, err := j.Append(t.Context(), Guard{},
		mustEvent(t, OpPlanned, testID(20), testPlan(20)), mustEvent(t, OpAbandoned, testID(20), Decision{Reason: "no <b>"}),
		mustEvent(t, OpPlanned, testID(21), testPlan(21)), mustEvent(t, FenceRaised, uuid.Nil, Fence{Scope: "p", Fence: 3})); err != nil {
		t.Fatal(err)
	}
	client := serveTest(t, j, SocketPath(j.Path()), nil)
	path := testPath(t)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := client.Snapshot(t.Context(), f)
	if err != nil || m.Head != j.Head() {
		t.Fatalf("Snapshot: %+v, %v", m, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := t.Context()
	questions := map[string]func(Reader) (any, error){
		"Head":       func(r Reader) (any, error) { i, err := r.Info(ctx); return i.Head, err },
		"Events":     func(r Reader) (any, error) { return r.Events(ctx, 3, 20) },
		"AllEvents":  func(r Reader) (any, error) { return r.Events(ctx, 0, 0) },
		"NoEvents":   func(r Reader) (any, error) { l, err := r.Events(ctx, 1<<40, 0); return len(l), err },
		"Ops":        func(r Reader) (any, error) { return r.Ops(ctx, uuid.Nil, 0, Filter{}) },
		"OpsPage":    func(r Reader) (any, error) { return r.Ops(ctx, testID(7), 3, Filter{}) },
		"OpsGone":    func(r Reader) (any, error) { return r.Ops(ctx, testID(15), 2, Filter{}) },
		"OpsPast":    func(r Reader) (any, error) { return r.Ops(ctx, testID(1<<20), 3, Filter{}) },
		"OpsOpen":    func(r Reader) (any, error) { return r.Ops(ctx, uuid.Nil, 0, Filter{Open: true}) },
		"OpsState":   func(r Reader) (any, error) { return r.Ops(ctx, uuid.Nil, 0, Filter{States: []string{"abandoned"}}) },
		"OpsPrefix":  func(r Reader) (any, error) { return r.Ops(ctx, uuid.Nil, 0, Filter{Prefix: "00000005"}) },
		"Op":         func(r Reader) (any, error) { return r.OpEvents(ctx, testID(3)) },
		"Epochs":     func(r Reader) (any, error) { return r.Epochs(ctx) },
		"Tombstones": func(r Reader) (any, error) { return r.Tombstones(ctx) },
		"Counts": func(r Reader) (any, error) {
			s, err := r.Stats(ctx)
			return []any{s.Events, s.ByType, s.OpsBy, s.Head}, err
		},
		"Verify": func(r Reader) (any, error) {
			v, err := r.Verify(ctx)
			return []any{v.Ops, v.Open, v.Events, v.Findings, v.Head}, err
		},
		"Snapshot": func(r Reader) (any, error) {
			var b bytes.Buffer
			m, err := r.Snapshot(ctx, &b)
			if err == nil && (Hash(sum256(b.Bytes())) != m.SHA256 || m.Size != int64(b.Len())) {
				err = errors.New("the manifest does not describe the copy")
			}
			return m.Head, err
		},
	}
	for name, ask := range questions {
		t.Run(name, func(t *testing.T) {
			want, err := ask(j.Reader())
			if err != nil {
				t.Fatalf("in process: %v", err)
			}
			for source, r := range map[string]Reader{"socket": client, "file": file} {
				got, err := ask(r)
				if err != nil {
					t.Errorf("%s: %v", source, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s answers otherwise (-process +%s):\n%s", source, source, diff)
				}
			}
		})
	}
	if got, err := j.Ops(testID(1<<20), 3, Filter{}); err != nil || len(got) != 3 || got[0].ID != testID(21) || got[2].ID != testID(8) {
		t.Errorf("a cursor past the newest: %v, %v", got, err)
	}
	for source, r := range map[string]Reader{"process": j.Reader(), "socket": client, "file": file} {
		if _, err := r.OpEvents(ctx, testID(999)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: no such operation: %v", source, err)
		}
	}
	if got, err := j.Ops(uuid.Nil, 0, Filter{}); err != nil || len(got) != 10 || got[0].ID != testID(21) || got[9].ID != testID(1) {
		t.Errorf("operations are not listed newest first: %v, %v", got, err)
	}
}

// TestFollowOverSocket follows while 64 writers append, breaks off and resumes.
func TestFollowOverSocket(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	client := serveTest(t, j, SocketPath(j.Path()), nil)
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() { runOp(t, j, w+1) })
	}
	next := Seq(1)
	brokeOff := errors.New("broke off")
	for round := range 3 {
		err := client.Follow(t.Context(), next, func(ev Event) error {
			if ev.Seq != next {
				return fmt.Errorf("event %d where %d is due", ev.Seq, next)
			}
			if next++; next == Seq(100*(round+1)) {
				return brokeOff
			}
			return nil
		})
		if !errors.Is(err, brokeOff) {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	for range 20 {
		if ops, err := client.Ops(t.Context(), uuid.Nil, 10, Filter{}); err != nil || len(ops) == 0 {
			t.Errorf("listing while writing: %d, %v", len(ops), err)
		}
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	err := client.Follow(ctx, next, func(ev Event) error {
		if ev.Seq == 2+64*11 {
			cancel()
		}
		return nil
	})
	cancel()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("following to the end: %v", err)
	}
}

func TestActs(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	actor := ActorFunc(func(_ context.Context, a Act) (Acted, error) {
		switch a.Verb {
		case VerbRetry:
			return Acted{Seq: 7, Message: a.Person + ": " + a.Reason}, nil
		case VerbCancel:
			return Acted{}, fmt.Errorf("operation %s is past its pivot: %w", a.Op, ErrIllegal)
		case VerbAbandon:
			return Acted{}, fmt.Errorf("version %d: %w", a.IfVersion, ErrConflict)
		}
		return Acted{}, errors.New("no idea")
	})
	client := serveTest(t, j, SocketPath(j.Path()), actor)
	cases := map[string]struct {
		reason string
		act    Act
		want   Acted
		err    error
		code   string
	}{
		"Done":     {"carried out", Act{Verb: VerbRetry, Op: testID(1), Person: "ann", Reason: "disk replaced"}, Acted{Seq: 7, Message: "ann: disk replaced"}, nil, ""},
		"Illegal":  {"keeps its meaning", Act{Verb: VerbCancel, Op: testID(1), Person: "ann", Reason: "r"}, Acted{}, ErrIllegal, "illegal"},
		"Conflict": {"keeps its meaning", Act{Verb: VerbAbandon, IfVersion: 4, Person: "ann", Reason: "r"}, Acted{}, ErrConflict, "conflict"},
		"Other":    {"has no sentinel", Act{Verb: "dance", Person: "ann", Reason: "r"}, Acted{}, nil, "internal"},
		"NoReason": {"people say why", Act{Verb: VerbRetry, Person: "ann"}, Acted{}, ErrUsage, "usage"},
		"NoPerson": {"people say who", Act{Verb: VerbRetry, Reason: "r"}, Acted{}, ErrUsage, "usage"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := client.Act(t.Context(), tc.act)
			var re *RemoteError
			if errors.As(err, &re); (tc.code == "") != (err == nil) || tc.code != "" && (re == nil || re.Code != tc.code) || tc.err != nil && !errors.Is(err, tc.err) {
				t.Errorf("%s: error %#v, want code %q", tc.reason, err, tc.code)
			}
			if got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNoActor(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	client := serveTest(t, j, SocketPath(j.Path()), nil)
	if _, err := client.Act(t.Context(), Act{Verb: VerbRetry, Person: "p", Reason: "r"}); !errors.Is(err, ErrRefused) {
		t.Errorf("acting without an actor: %v, want ErrRefused", err)
	}
}

// TestBadClients says things no client of ours would.
func TestBadClients(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	socket := SocketPath(j.Path())
	client := serveTest(t, j, socket, nil)
	cases := map[string]struct {
		reason, send, want string
	}{
		"NotJSON":   {"no request", "GET / HTTP/1.1\n", `"code":"usage"`},
		"Unknown":   {"nothing this server does", `{"do":"drop"}` + "\n", `"code":"usage"`},
		"TooLong":   {"bounded", strings.Repeat("x", requestBytesMax+1) + "\n", `"code":"usage"`},
		"Several":   {"one after the other", `{"do":"info"}` + "\n" + `{"do":"nope"}` + "\n", `"code":"usage"`},
		"NoAct":     {"an act without one", `{"do":"act"}` + "\n", `"code":"usage"`},
		"BadCursor": {"not an id", `{"do":"ops","cursor":"x"}` + "\n", `"code":"usage"`},
		"HangsUp":   {"says nothing", "", ""},
		"HalfLine":  {"hangs up in a line", `{"do":`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			go func() {
				_, _ = io.WriteString(conn, tc.send)
				_ = conn.(*net.UnixConn).CloseWrite()
			}()
			got, _ := io.ReadAll(conn)
			if !strings.Contains(string(got), tc.want) {
				t.Errorf("%s: answered %q, want %s", tc.reason, got, tc.want)
			}
		})
	}
	if _, err := client.Info(t.Context()); err != nil {
		t.Errorf("after them: %v", err)
	}
}

// TestTooManyConnections opens more than there are slots for.
func TestTooManyConnections(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	socket := SocketPath(j.Path())
	client := serveTest(t, j, socket, nil)
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for len(conns) < connectionsMax {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, `{"do":"info"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || strings.Contains(line, `"unavailable"`) {
			_ = conn.Close() // an earlier connection has not let go of its slot yet
			continue
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, `{"do":"follow","from":3}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Info(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("one connection too many: %v, want ErrUnavailable", err)
	}
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, FenceRaised, uuid.Nil, Fence{Scope: "p", Fence: 1})); err != nil {
		t.Fatal(err)
	}
	for i, conn := range conns {
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, `"seq":3`) {
			t.Errorf("follower %d heard %q, %v", i, line, err)
		}
	}
}

func TestSocketPlace(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	if got, want := SocketPath("/a/b/journal.db"), "/a/b/journal.sock"; got != want {
		t.Errorf("SocketPath = %q, want %q", got, want)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		prepare func(path string) error
		want    error
	}{
		"Free": {"nothing is there", func(string) error { return nil }, nil},
		"Stale": {"a killed process left it", func(p string) error {
			ln, err := listen(t.Context(), p)
			if err == nil {
				err = ln.Close()
			}
			return err
		}, nil},
		"File": {"not ours to remove", func(p string) error { return os.WriteFile(p, nil, 0o600) }, os.ErrExist},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(long, name+".sock")
			if err := tc.prepare(path); err != nil {
				t.Fatal(err)
			}
			if tc.want != nil {
				if _, err := Listen(t.Context(), j, path, nil); !errors.Is(err, tc.want) {
					t.Errorf("%s: %v, want %v", tc.reason, err, tc.want)
				}
				return
			}
			c := serveTest(t, j, path, nil)
			if _, err := c.Info(t.Context()); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			info, err := os.Lstat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: mode %v, %v; want 0600", tc.reason, info.Mode(), err)
			}
		})
	}
	if _, err := Dial(t.Context(), filepath.Join(t.TempDir(), "nobody.sock")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody listens: %v, want ErrUnavailable", err)
	}
}

// TestServerGoes ends the server, and the journal, under a follower.
func TestServerGoes(t *testing.T) {
	path := testPath(t)
	j, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(t.Context(), j, SocketPath(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	client, err := Dial(t.Context(), SocketPath(path))
	if err != nil {
		t.Fatal(err)
	}
	err = client.Follow(t.Context(), 1, func(Event) error { cancel(); return nil })
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("the server went: %v, want ErrUnavailable", err)
	}
	if err := errors.Join(<-served, j.Close()); err != nil {
		t.Error(err)
	}
}
