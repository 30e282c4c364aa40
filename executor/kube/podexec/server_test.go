package podexec

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

var hello = gate.Request{Version: gate.ProtocolVersion, Verb: gate.Hello}

func TestDo(t *testing.T) {
	cases := map[string]struct {
		reason string
		mode   string // of the gate; empty: there is none
		spoil  func(a *apiServer)
		want   error
		// started: it may have happened.
		replied, started bool
	}{
		"Reply":      {reason: "a reply is a reply, whatever the exit code", mode: "plain", replied: true, started: true},
		"Junk":       {reason: "what precedes it is skipped", mode: "chatty", replied: true, started: true},
		"NoGate":     {reason: "the shell says 127", want: gate.ErrNotInstalled},
		"NoReply":    {reason: "the gate got it and died", mode: "silent", started: true},
		"TooMuch":    {reason: "output without end is no reply", mode: "loud", started: true},
		"Forbidden":  {reason: "nobody was asked", mode: "plain", spoil: func(a *apiServer) { a.refuse.Store(http.StatusForbidden) }},
		"NoPod":      {reason: "nobody was asked", mode: "plain", spoil: func(a *apiServer) { a.refuse.Store(http.StatusNotFound) }},
		"NoKubelet":  {reason: "the connection was upgraded, and nobody was at its end", mode: "plain", spoil: func(a *apiServer) { a.noRun.Store(true) }},
		"CutBefore":  {reason: "cut before the request left", mode: "plain", spoil: func(a *apiServer) { a.cutOn.Store(begins) }},
		"CutReply":   {reason: "cut in the middle of the reply", mode: "plain", started: true, spoil: func(a *apiServer) { a.cutOn.Store("ANTHILL-GATE") }},
		"ServerGone": {reason: "no API server", mode: "plain", spoil: func(a *apiServer) { a.http.Close() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPIServer(t)
			if tc.mode != "" {
				a.installGate(tc.mode)
			}
			if tc.spoil != nil {
				tc.spoil(a)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			rep, err := a.server(a.pool(Options{})).Do(ctx, hello)
			if (err == nil) != tc.replied {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if tc.replied && rep.Error != string(gate.Hello) {
				t.Errorf("%s: reply %+v", tc.reason, rep)
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil && gate.NotStarted(err) == tc.started {
				t.Errorf("%s: not started is %v: %v", tc.reason, gate.NotStarted(err), err)
			}
			if ctx.Err() != nil {
				t.Errorf("%s: it ended only with its deadline", tc.reason)
			}
		})
	}
}

// The end of the context ends everything, and tells whether the request left.
func TestDoEndsWithItsContext(t *testing.T) {
	cases := map[string]struct {
		reason  string
		mode    string
		dumb    bool
		started bool
	}{
		"Hanging": {"the gate has it", "hang", false, true},
		"Silence": {"an API server that upgrades and then says nothing", "plain", true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPIServer(t)
			a.installGate(tc.mode)
			a.dumb.Store(tc.dumb)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			_, err := a.server(a.pool(Options{})).Do(ctx, hello)
			if err == nil || !errors.Is(err, context.DeadlineExceeded) || gate.NotStarted(err) == tc.started {
				t.Errorf("%s: not started is %v: %v", tc.reason, gate.NotStarted(err), err)
			}
			if d := time.Since(begun); d > 15*time.Second {
				t.Errorf("%s: it took %s", tc.reason, d)
			}
		})
	}
}

// Where WebSockets are refused, by rights or by a proxy, SPDY does.
func TestFallback(t *testing.T) {
	a := newAPIServer(t)
	a.installGate("plain")
	a.noSocket.Store(true)
	s := a.server(a.pool(Options{}))
	if rep, err := s.Do(t.Context(), hello); err != nil || rep.Error != string(gate.Hello) {
		t.Errorf("%+v, %v", rep, err)
	}
	if a.calls.Load() != 2 {
		t.Errorf("%d calls, want a refused one and another", a.calls.Load())
	}
	a.installGate("hang")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Do(ctx, hello); !errors.Is(err, context.DeadlineExceeded) || gate.NotStarted(err) {
		t.Errorf("a gate that hangs: %v", err)
	}
}

func TestCheckKeepsTheRequest(t *testing.T) {
	a := newAPIServer(t)
	a.installGate("plain")
	refused := &UnreachableError{Pod: "ns/n1-0", Err: errors.New("another pod has taken its place")}
	p := a.pool(Options{})
	s := p.Server(Target{Namespace: "ns", Pod: "n1-0", Container: "glusterd", Check: func(context.Context) error { return refused }})
	if _, err := s.Do(t.Context(), hello); !errors.Is(err, refused) || a.calls.Load() != 0 {
		t.Errorf("%v after %d calls", err, a.calls.Load())
	}
}

func TestRequestTooLarge(t *testing.T) {
	a := newAPIServer(t)
	req := hello
	req.Attempt = string(make([]byte, gate.RequestBytesMax))
	if _, err := a.server(a.pool(Options{})).Do(t.Context(), req); !errors.Is(err, gate.ErrNotStarted) || a.calls.Load() != 0 {
		t.Errorf("%v after %d calls", err, a.calls.Load())
	}
}

// No more commands run than there are slots; who waits too long is told.
func TestLimits(t *testing.T) {
	a := newAPIServer(t)
	a.installGate("hang")
	p := a.pool(Options{PerPod: 3, InAll: 2, SlotWait: 200 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	errs := make(chan error, 6)
	for range 6 {
		wg.Go(func() {
			_, err := a.server(p).Do(ctx, hello)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	busy := 0
	for err := range errs {
		if _, ok := errors.AsType[*gate.BusyError](err); ok {
			busy++
		}
	}
	if busy != 4 || a.most.Load() != 2 {
		t.Errorf("%d were told to wait, want 4; %d ran at once, want 2", busy, a.most.Load())
	}
	p.Close() // waits for the streams
	if len(p.pods) != 0 || len(p.all) != 0 {
		t.Errorf("%d pods and %d streams are still counted", len(p.pods), len(p.all))
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	a := newAPIServer(t)
	a.installGate("hang")
	p := a.pool(Options{})
	done := make(chan error, 1)
	go func() {
		_, err := a.server(p).Do(t.Context(), hello)
		done <- err
	}()
	// Not right after the connection was made: a connection that is closed before
	// the library began to read leaves goroutines of its own behind.
	for !a.said.Load() {
		time.Sleep(time.Millisecond)
	}
	p.Close()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a reply came from a gate that hangs")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a command outlives the Pool")
	}
	if _, err := a.server(p).Do(t.Context(), hello); !gate.NotStarted(err) {
		t.Errorf("after Close: %v", err)
	}
}

// The real installer, in folders of its own.
func TestInstall(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the installer wants root, as in a container")
	}
	a := newAPIServer(t)
	s := a.server(a.pool(Options{}))
	if _, err := s.Do(t.Context(), hello); !errors.Is(err, gate.ErrNotInstalled) {
		t.Fatalf("before: %v", err)
	}
	binary := make([]byte, 1<<20)
	for i := range binary {
		binary[i] = byte(i * 7)
	}
	if err := s.Install(t.Context(), binary); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(a.inside("/usr/local/lib/anthill") + "/gate")
	if err != nil || sha256.Sum256(got) != sha256.Sum256(binary) {
		t.Errorf("%d bytes were installed, %v", len(got), err)
	}
	if yes, err := s.Installing(t.Context()); yes || err != nil {
		t.Errorf("installing: %v, %v", yes, err)
	}
	if err := s.Install(t.Context(), nil); !gate.NotStarted(err) {
		t.Errorf("an empty gate: %v", err)
	}
	// Another installation holds the folder.
	if err := os.RemoveAll(a.inside("/var/lib/anthill")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.inside("/var/lib/anthill"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *gate.InstallError
	if err := s.Install(t.Context(), binary); !errors.As(err, &failed) || failed.Text == "" {
		t.Errorf("a file in the way: %v", err)
	}
}
