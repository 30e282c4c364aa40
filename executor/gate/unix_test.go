package gate

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// serve answers at a socket until the test ends.
func serve(t *testing.T, h Handler) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ServeUnix(ctx, ln, h) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return path
}

// handler answers with a function.
type handler struct {
	handle  func(Request) Reply
	install func([]byte) error
}

func (h handler) Handle(_ context.Context, r Request) Reply { return h.handle(r) }
func (h handler) Install(_ context.Context, b []byte) error { return h.install(b) }
func clientOf(t Transport, fence uint64) *Client {
	return NewClient(t, poolA, "op-1", func() uint64 { return fence })
}
func answering(rep Reply) handler {
	return handler{handle: func(Request) Reply { rep.Version = ProtocolVersion; return rep }}
}
func asTarget[T error](err error) (T, bool) { var t T; ok := errors.As(err, &t); return t, ok }

func TestClientOverUnix(t *testing.T) {
	w := newWorld(t)
	w.glusterd(77, 1)
	ctx := t.Context()
	binary := filepath.Join(t.TempDir(), "gate")
	srv := DialUnix(serve(t, Local{Options: w.o, Binary: binary}))
	c := clientOf(srv, 3)

	if err := srv.Install(ctx, []byte("#!gate")); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(binary); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("installed %v, %v", fi, err)
	}
	if _, _, err := c.Run(ctx, Command{Argv: set("ok"), Attempt: "a0"}); !errors.Is(err, ErrUnclaimed) || !NotStarted(err) {
		t.Errorf("before a claim: %v", err)
	}
	want := Owner{Pool: poolA, Instance: "op-1", Fence: 3}
	if o, err := c.Claim(ctx, ClaimMode{Fresh: true}); err != nil || o != want {
		t.Errorf("claim %+v, %v", o, err)
	}
	if g, err := c.Hello(ctx); err != nil || *g.Owner != want || len(g.Digest) != 64 {
		t.Errorf("hello %+v, %v", g, err)
	}
	res, rec, err := c.Run(ctx, Command{Argv: set("fail"), Attempt: "a1", Deadline: 10 * time.Second})
	if err != nil || res.Exit != 3 || rec.Attempt != "a1" || rec.GlusterdStart != "boot-1:77:1" {
		t.Errorf("run %+v, %+v, %v", res, rec, err)
	}
	if r, err := c.Receipt(ctx, "a1"); err != nil || r.Result.Exit != 3 {
		t.Errorf("receipt %+v, %v", r, err)
	}
	if _, err := c.Receipt(ctx, "a9"); !errors.Is(err, ErrNoReceipt) || !NotStarted(err) {
		t.Errorf("receipt of nothing: %v", err)
	}
	if r, err := c.Read(ctx, Command{Argv: []string{"gluster", "--version"}}); err != nil || r.Exit != 0 {
		t.Errorf("read %+v, %v", r, err)
	}
	if _, err := c.Read(ctx, Command{Argv: set("ok")}); !errors.Is(err, ErrRefused) || !NotStarted(err) {
		t.Errorf("a mutation as read: %v", err)
	}
	if s, _, err := c.Observe(ctx, "/nowhere"); err != nil || len(s.Mounts) != 1 || !s.Glusterd.Running {
		t.Errorf("observe %+v, %v", s, err)
	}
	if b, err := c.History(ctx); err != nil || len(b) != 0 {
		t.Errorf("history %q, %v", b, err)
	}
	if r, err := c.Resolve(ctx, "localhost"); err != nil || len(r) != 1 || !r[0].Local {
		t.Errorf("resolve %+v, %v", r, err)
	}
	if _, err := c.Register(ctx, "r1", 0, "/nowhere"); err == nil {
		t.Error("registered a directory that is not there")
	} else if e, ok := asTarget[*MountError](err); !ok || len(e.Mounts) != 1 || !NotStarted(err) {
		t.Errorf("register: %v", err)
	}
	b := BrickPath{Root: "/", Volume: vol, Leaf: "0-0-0"}
	if _, err := c.MakeBrick(ctx, "m1", 0, b); !errors.Is(err, ErrRefused) {
		t.Errorf("a brick in /: %v", err)
	}
	b.Root = "/nowhere"
	for name, err := range map[string]error{
		"make":    third(c.MakeBrick(ctx, "m1", 0, b)),
		"reclaim": third(c.Reclaim(ctx, "c1", 0, b, poolA)),
		"retire":  third(c.Retire(ctx, "t1", 0, BrickPath{Root: b.Root, Volume: vol})),
		"inspect": third(c.Inspect(ctx, b)),
	} {
		if _, ok := asTarget[*MountError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := clientOf(srv, 2)
	if _, _, err := old.Run(ctx, Command{Argv: set("ok"), Attempt: "a2"}); err == nil {
		t.Error("an old fence was served")
	} else if e, ok := asTarget[*FencedError](err); !ok || e.Owner != want || e.Reason != ReasonLowerFence || !NotStarted(err) {
		t.Errorf("an old fence: %v", err)
	}
}

func third(_ BrickInfo, err error) error { return err }

func TestReplyErr(t *testing.T) {
	cases := map[string]struct {
		reason  string
		rep     Reply
		want    error
		started bool
	}{
		"OK":          {"nothing wrong", Reply{}, nil, true},
		"Unclaimed":   {"", Reply{Exit: ExitFailed, Reason: ReasonUnclaimed}, ErrUnclaimed, false},
		"NotFresh":    {"", Reply{Exit: ExitFailed, Reason: ReasonNotFresh}, ErrNotFresh, false},
		"NoReceipt":   {"", Reply{Exit: ExitFailed, Reason: ReasonNoReceipt}, ErrNoReceipt, false},
		"NoGluster":   {"", Reply{Exit: ExitMissing, Reason: ReasonNoGluster}, ErrNoGluster, false},
		"Usage":       {"", Reply{Exit: ExitUsage, Reason: ReasonUsage}, ErrRefused, false},
		"Version":     {"", Reply{Exit: ExitUsage, Reason: ReasonVersion}, ErrRefused, false},
		"Reused":      {"", Reply{Exit: ExitUsage, Reason: ReasonAttemptReused}, ErrRefused, false},
		"Interrupted": {"it may have happened", Reply{Exit: ExitFailed, Reason: ReasonInterrupted}, ErrInterrupted, true},
		"State":       {"nobody knows how far it came", Reply{Exit: ExitFailed, Reason: ReasonState}, ErrState, true},
		"Novel":       {"a reason of a newer gate", Reply{Exit: 9, Reason: "novel"}, ErrState, true},
		"Busy":        {"another attempt", Reply{Exit: ExitBusy, Reason: ReasonBusy, Receipt: &Receipt{Attempt: "b"}}, &BusyError{Running: "b"}, false},
		"BusySame":    {"this very attempt", Reply{Exit: ExitBusy, Reason: ReasonBusy, Receipt: &Receipt{Attempt: "a"}}, &BusyError{Running: "a", Same: true}, true},
		"Fenced":      {"", Reply{Exit: ExitFenced, Reason: ReasonForeignPool, Owner: &Owner{Pool: "p"}}, &FencedError{Owner: Owner{Pool: "p"}, Reason: ReasonForeignPool}, false},
		"Mount":       {"", Reply{Exit: ExitFailed, Reason: ReasonMount, Mounts: []Mount{{Dir: "/b"}}}, &MountError{Mounts: []Mount{{Dir: "/b"}}}, false},
		"Brick":       {"", Reply{Exit: ExitFailed, Reason: ReasonBrick, Brick: &BrickInfo{Path: "/b"}}, &BrickError{Brick: BrickInfo{Path: "/b"}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.rep.Err(Request{Attempt: "a"})
			if _, ok := errors.AsType[errHarmless](tc.want); ok || errors.Is(tc.want, ErrInterrupted) || errors.Is(tc.want, ErrState) {
				if !errors.Is(got, tc.want) {
					t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
				}
			} else if d := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(BusyError{}, "Text"), cmpopts.IgnoreFields(FencedError{}, "Text"),
				cmpopts.IgnoreFields(MountError{}, "Text"), cmpopts.IgnoreFields(BrickError{}, "Text")); d != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, d)
			}
			if NotStarted(got) == tc.started {
				t.Errorf("%s: NotStarted(%v) is %t", tc.reason, got, !tc.started)
			}
		})
	}
}

func TestUnixTellsNotStartedFromLost(t *testing.T) {
	ctx := t.Context()
	req := Request{Version: ProtocolVersion, Verb: Hello}
	if _, err := DialUnix(filepath.Join(t.TempDir(), "none")).Do(ctx, req); !errors.Is(err, ErrNotStarted) {
		t.Errorf("nobody listens: %v", err)
	}
	missing := answering(Reply{Exit: ExitMissing, Reason: ReasonNotInstalled})
	if _, err := DialUnix(serve(t, missing)).Do(ctx, req); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("no gate: %v", err)
	}
	big := req
	big.Names = []string{string(bytes.Repeat([]byte("x"), RequestBytesMax))}
	if _, err := DialUnix(serve(t, missing)).Do(ctx, big); !errors.Is(err, ErrNotStarted) {
		t.Errorf("too large: %v", err)
	}

	// The peer takes the request and dies before it answers.
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for name, reply := range map[string]string{"nothing": "", "half": "\nANTHILL-GATE/1 00000010"} {
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			b := make([]byte, 4096)
			_, _ = conn.Read(b)
			_, _ = conn.Write([]byte(reply))
		}()
		if _, err := DialUnix(path).Do(ctx, req); err == nil || NotStarted(err) {
			t.Errorf("%s came back: %v", name, err)
		}
	}
}

// A caller that leaves does not end what it began, and is not held up by it.
func TestUnixCallerLeaves(t *testing.T) {
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	srv := DialUnix(serve(t, handler{handle: func(Request) Reply {
		close(begun)
		<-release
		close(ended)
		return Reply{Version: ProtocolVersion}
	}}))
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() {
		_, err := srv.Do(ctx, Request{Version: ProtocolVersion, Verb: Hello})
		got <- err
	}()
	<-begun
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) || NotStarted(err) {
		t.Errorf("left: %v", err)
	}
	close(release)
	<-ended
}

func TestUnixInstall(t *testing.T) {
	var got []byte
	srv := DialUnix(serve(t, handler{install: func(b []byte) error {
		if len(b) == 1 {
			return errors.New("disk full")
		}
		got = b
		return nil
	}}))
	want := bytes.Repeat([]byte("gate"), 1<<20)
	if err := srv.Install(t.Context(), want); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes arrived: %v", len(got), len(want), err)
	}
	if err := srv.Install(t.Context(), []byte("x")); err == nil {
		t.Error("a failed install was reported as done")
	}
	if err := srv.Install(t.Context(), nil); err == nil {
		t.Error("an empty gate was accepted")
	}
}
