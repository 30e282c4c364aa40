package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gluster/anthill/executor/gate"
)

func TestInstallThenRun(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	s := newPool(t, Options{Dial: w.dial}).Server(d.endpoint())
	if _, err := client(s).Hello(t.Context()); !errors.Is(err, gate.ErrNotInstalled) || !gate.NotStarted(err) {
		t.Errorf("before it is installed: %v", err)
	}
	c := ready(t, s)
	g, err := c.Hello(t.Context())
	if err != nil || g.Owner == nil || g.Owner.Pool != pool {
		t.Fatalf("hello %+v, %v", g, err)
	}
	if fi, err := os.Stat(gate.StateDir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("state folder %v, %v", fi, err)
	}
	res, rec, err := c.Run(t.Context(), gate.Command{Argv: set("x"), Attempt: "a1"})
	if err != nil || string(res.Stdout) != "<cliOutput/>\n" || rec.Ended == 0 {
		t.Errorf("run %+v, %+v, %v", res, rec, err)
	}
	ready(t, s) // again, over itself
	e, err := os.ReadDir(filepath.Dir(gate.BinaryPath))
	if err != nil || len(e) != 1 {
		t.Errorf("the gate's folder holds %v, %v", e, err)
	}
	if w.count() != 1 {
		t.Errorf("%d connections were made", w.count())
	}
}

func TestInstallThatBreaksOffLeavesNothing(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	p := newPool(t, Options{Dial: w.dial})
	s := p.Server(d.endpoint())
	ready(t, s)
	before, err := os.ReadFile(gate.BinaryPath)
	if err != nil {
		t.Fatal(err)
	}
	upload := func(n int64) func() bool {
		return func() bool {
			m, _ := filepath.Glob(filepath.Join(filepath.Dir(gate.BinaryPath), ".gate.*"))
			for _, f := range m {
				if fi, err := os.Stat(f); err == nil && fi.Size() > n {
					return true
				}
			}
			return false
		}
	}
	cases := map[string]struct {
		reason string
		cut    func(cancel func())
	}{
		"CallerLeft": {"the caller's time is over", func(cancel func()) { cancel() }},
		"Connection": {"the connection is cut", func(func()) { w.last().Close() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- s.Install(ctx, make([]byte, 200<<20)) }()
			until(t, "the upload to begin", upload(0))
			tc.cut(cancel)
			if err := <-done; err == nil {
				t.Errorf("%s: done, says the installer", tc.reason)
			}
			until(t, "the half upload to go", func() bool { return !upload(-1)() })
			after, err := os.ReadFile(gate.BinaryPath)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s: the gate changed: %v", tc.reason, err)
			}
		})
	}
}

// On a server without a gate, an upload that breaks off leaves not even a
// folder. While it is under way the server tells so.
func TestFirstInstallThatBreaksOffLeavesNothing(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	s := newPool(t, Options{Dial: w.dial}).Server(d.endpoint())
	watch := newPool(t, Options{}).Server(d.endpoint()).(gate.Watcher)
	installing := func() bool {
		yes, err := watch.Installing(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	if installing() {
		t.Error("before anything was installed an installation is under way")
	}
	done := make(chan error, 1)
	go func() { done <- s.Install(t.Context(), make([]byte, 200<<20)) }()
	until(t, "the upload to begin", func() bool {
		m, _ := filepath.Glob(filepath.Join(filepath.Dir(gate.BinaryPath), ".gate.*"))
		return len(m) > 0
	})
	if !installing() {
		t.Error("no installation is under way during the upload")
	}
	w.last().Close()
	if err := <-done; err == nil {
		t.Error("done, says the installer")
	}
	until(t, "the installation to end", func() bool { return !installing() })
	for _, dir := range []string{filepath.Dir(gate.BinaryPath), gate.StateDir} {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was left: %v", dir, err)
		}
	}
	ready(t, s)
	if installing() {
		t.Error("an installation is under way after it has ended")
	}
}

func TestInstallNeedsRoot(t *testing.T) {
	d := newSSHD(t)
	ep := d.endpoint()
	ep.User = "tester"
	err := newPool(t, Options{}).Server(ep).Install(t.Context(), []byte("gate"))
	var e *gate.InstallError
	if !errors.As(err, &e) || !strings.Contains(e.Text, "only root") {
		t.Errorf("installing as %s: %v", ep.User, err)
	}
	if _, err := os.Stat(filepath.Dir(gate.BinaryPath)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it left something: %v", err)
	}
}

func TestInstallRefusesLinks(t *testing.T) {
	d := newSSHD(t)
	if err := os.Symlink(t.TempDir(), gate.StateDir); err != nil {
		t.Fatal(err)
	}
	err := newPool(t, Options{}).Server(d.endpoint()).Install(t.Context(), []byte("gate"))
	var e *gate.InstallError
	if !errors.As(err, &e) || !strings.Contains(e.Text, "symbolic link") {
		t.Errorf("a link in its place: %v", err)
	}
}

func TestLogin(t *testing.T) {
	d := newSSHD(t)
	other := newKey(t)
	hello := func(t *testing.T, change func(*Endpoint)) error {
		ep := d.endpoint()
		change(&ep)
		_, err := client(newPool(t, Options{DialWait: 5 * time.Second}).Server(ep)).Hello(t.Context())
		if err == nil || !gate.NotStarted(err) {
			t.Fatalf("got %v, which may have happened", err)
		}
		for _, secret := range [][]byte{ep.PrivateKeyPEM, bytes.Split(other.pem, []byte("\n"))[1]} {
			if len(secret) > 0 && strings.Contains(fmt.Sprintf("%+v %#v", err, err), string(secret)) {
				t.Errorf("the error holds the key: %v", err)
			}
		}
		return err
	}
	t.Run("WrongHostKey", func(t *testing.T) {
		var e *HostKeyError
		err := hello(t, func(ep *Endpoint) { ep.HostKeys = []string{other.line} })
		if !errors.As(err, &e) || e.Got != ssh.FingerprintSHA256(d.host.pub) || !slices.Equal(e.Want, []string{ssh.FingerprintSHA256(other.pub)}) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("OtherTypeOfHostKey", func(t *testing.T) {
		var e *HostKeyError
		err := hello(t, func(ep *Endpoint) {
			ep.HostKeys = []string{"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg="}
		})
		if !errors.As(err, &e) || e.Got != "" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NoHostKey", func(t *testing.T) {
		var e *KeyError
		if err := hello(t, func(ep *Endpoint) { ep.HostKeys = nil }); !errors.As(err, &e) || e.What != "host keys" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("OtherKey", func(t *testing.T) {
		var e *LoginError
		err := hello(t, func(ep *Endpoint) { ep.PrivateKeyPEM = other.pem })
		if !errors.As(err, &e) || e.User != "root" || e.Key != ssh.FingerprintSHA256(other.pub) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("UnknownUser", func(t *testing.T) {
		var e *LoginError
		if err := hello(t, func(ep *Endpoint) { ep.User = "nobody-here" }); !errors.As(err, &e) || e.User != "nobody-here" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NoKey", func(t *testing.T) {
		var e *KeyError
		if err := hello(t, func(ep *Endpoint) { ep.PrivateKeyPEM = nil }); !errors.As(err, &e) || e.What != "private key" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("HalfAKey", func(t *testing.T) {
		var e *KeyError
		if err := hello(t, func(ep *Endpoint) { ep.PrivateKeyPEM = other.pem[:len(other.pem)/2] }); !errors.As(err, &e) || e.What != "private key" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NobodyThere", func(t *testing.T) {
		var e *UnreachableError
		if err := hello(t, func(ep *Endpoint) { ep.Port = freePort(t) }); !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NotSSH", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() {
			if c, err := ln.Accept(); err == nil {
				_, _ = c.Write([]byte("220 mail.example ESMTP\r\n"))
				c.Close()
			}
		}()
		var e *UnreachableError
		if err := hello(t, func(ep *Endpoint) { ep.Port = ln.Addr().(*net.TCPAddr).Port }); !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
	})
}

func TestLoginGivesUpOnASilentServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	k := newKey(t)
	ep := Endpoint{Host: "127.0.0.1", Port: ln.Addr().(*net.TCPAddr).Port, PrivateKeyPEM: k.pem, HostKeys: []string{k.line}}
	var e *UnreachableError
	_, err = client(newPool(t, Options{DialWait: 50 * time.Millisecond}).Server(ep)).Hello(t.Context())
	if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// A caller with less patience leaves the dial to others.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(newPool(t, Options{}).Server(ep)).Hello(ctx); !errors.As(err, &e) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestManyShareOneConnection(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	p := newPool(t, Options{Dial: w.dial})
	ready(t, p.Server(d.endpoint()))
	var wg sync.WaitGroup
	for range 24 { // three times what sshd would allow at once
		wg.Go(func() {
			if _, err := client(p.Server(d.endpoint())).Hello(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if w.count() != 1 {
		t.Errorf("%d connections were made", w.count())
	}
	ep := d.endpoint()
	ep.HostKeys = append(ep.HostKeys, newKey(t).line)
	if _, err := client(p.Server(ep)).Hello(t.Context()); err != nil || w.count() != 2 {
		t.Errorf("changed host keys: %d connections, %v", w.count(), err)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	cases := map[string]struct {
		reason string
		config []string
		o      Options
	}{
		"Ours":   {"the pool keeps below sshd's limit", nil, Options{Sessions: 1, SessionWait: 300 * time.Millisecond}},
		"Theirs": {"an sshd with a lower limit", []string{"MaxSessions 1"}, Options{SessionWait: 300 * time.Millisecond}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newSSHD(t, tc.config...)
			s := newPool(t, tc.o).Server(d.endpoint())
			c := ready(t, s)
			release := filepath.Join(t.TempDir(), "go")
			done := make(chan error, 1)
			go func() {
				_, _, err := c.Run(context.Background(), gate.Command{Argv: set("wait:" + release), Attempt: "a1"})
				done <- err
			}()
			began(t, "wait:"+release)
			var e *gate.BusyError
			if _, err := c.Hello(t.Context()); !errors.As(err, &e) || !gate.NotStarted(err) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if err := os.WriteFile(release, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("%s: what held the session: %v", tc.reason, err)
			}
			until(t, "a free session", func() bool { _, err := c.Hello(t.Context()); return err == nil })
		})
	}
}

func TestLostConnection(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      Options
		lose   func(w *wire, cancel func())
	}{
		"Cut":        {"the connection is gone", Options{}, func(w *wire, _ func()) { w.last().Conn.Close() }},
		"Partition":  {"nothing arrives any more, keepalive notices", Options{KeepaliveEvery: 20 * time.Millisecond, KeepaliveWait: 3 * time.Second}, func(w *wire, _ func()) { close(w.last().stalled) }},
		"CallerLeft": {"the caller's time is over", Options{}, func(_ *wire, cancel func()) { cancel() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newSSHD(t)
			w := &wire{}
			tc.o.Dial = w.dial
			c := ready(t, newPool(t, tc.o).Server(d.endpoint()))
			release := filepath.Join(t.TempDir(), "go")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			cmd := gate.Command{Argv: set("wait:" + release), Attempt: "a1"}
			go func() {
				_, _, err := c.Run(ctx, cmd)
				done <- err
			}()
			began(t, "wait:"+release)
			tc.lose(w, cancel)
			if err := <-done; err == nil || gate.NotStarted(err) {
				t.Fatalf("%s: %v, but it has begun", tc.reason, err)
			}
			// The command goes on, and the next connection finds it.
			rec, err := c.Receipt(t.Context(), "a1")
			if err != nil || !rec.Running {
				t.Errorf("%s: receipt %+v, %v", tc.reason, rec, err)
			}
			var busy *gate.BusyError
			if _, _, err := c.Run(t.Context(), cmd); !errors.As(err, &busy) || !busy.Same || gate.NotStarted(err) {
				t.Errorf("%s: sent again: %v", tc.reason, err)
			}
			if err := os.WriteFile(release, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd.LockWait = 20 * time.Second
			res, _, err := c.Run(t.Context(), cmd)
			if err != nil || res.Exit != 0 || string(res.Stdout) != "<cliOutput/>\n" {
				t.Errorf("%s: sent again after its end: %+v, %v", tc.reason, res, err)
			}
			if n := strings.Count(runs(), "begin"); n != 1 {
				t.Errorf("%s: it ran %d times", tc.reason, n)
			}
		})
	}
}

func TestNothingIsSentForACallerWhoLeft(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	c := ready(t, newPool(t, Options{Dial: w.dial}).Server(d.endpoint()))
	close(w.last().stalled) // the session never opens
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := c.Run(ctx, gate.Command{Argv: set("x"), Attempt: "a1"}); err == nil || !gate.NotStarted(err) {
		t.Errorf("got %v", err)
	}
	w.last().Close()
	if _, err := c.Receipt(t.Context(), "a1"); !errors.Is(err, gate.ErrNoReceipt) {
		t.Errorf("receipt: %v", err)
	}
}

func TestDeadlineOverSSH(t *testing.T) {
	d := newSSHD(t)
	c := ready(t, newPool(t, Options{}).Server(d.endpoint()))
	res, _, err := c.Run(t.Context(), gate.Command{Argv: set("sleep:60"), Attempt: "a1", Deadline: 100 * time.Millisecond})
	if err != nil || !res.TimedOut || res.Exit != 128+9 {
		t.Errorf("run %+v, %v", res, err)
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	d := newSSHD(t)
	w := &wire{}
	p := newPool(t, Options{Dial: w.dial, KeepaliveEvery: 10 * time.Millisecond, IdleClose: 30 * time.Millisecond})
	c := ready(t, p.Server(d.endpoint()))
	first := w.last()
	until(t, "the idle connection to be closed", func() bool {
		select {
		case <-first.closed:
			return true
		default:
			return false
		}
	})
	if _, err := c.Hello(t.Context()); err != nil {
		t.Errorf("used again: %v", err)
	}
	p.Close()
	var e *UnreachableError
	if _, err := c.Hello(t.Context()); !errors.As(err, &e) {
		t.Errorf("after Close: %v", err)
	}
}

func TestForcedCommandIsNoGate(t *testing.T) {
	d := newSSHD(t, "ForceCommand echo This account is closed >&2; exit 1")
	_, err := client(newPool(t, Options{}).Server(d.endpoint())).Hello(t.Context())
	if err == nil || errors.Is(err, gate.ErrNotInstalled) || !strings.Contains(err.Error(), "This account is closed") {
		t.Errorf("got %v", err)
	}
}

func TestEndpointKeepsItsSecret(t *testing.T) {
	k := newKey(t)
	ep := Endpoint{Host: "n1", PrivateKeyPEM: k.pem, HostKeys: []string{k.line}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{ep, &ep, []Endpoint{ep}, struct{ E Endpoint }{ep}} {
			if got := fmt.Sprintf(format, v); strings.Contains(got, "PRIVATE") || strings.Contains(got, "50524956") || !strings.Contains(got, "root@n1:22") {
				t.Errorf("%s of %T prints %.200s", format, v, got)
			}
		}
	}
	if b, err := ep.MarshalText(); err != nil || string(b) != "root@n1:22" {
		t.Errorf("text %q, %v", b, err)
	}
}

// BenchmarkHello is a session with the gate in it; BenchmarkSession the same
// session with a command that does nothing.
func BenchmarkHello(b *testing.B) {
	d := newSSHD(b)
	c := ready(b, newPool(b, Options{}).Server(d.endpoint()))
	for b.Loop() {
		if _, err := c.Hello(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSession(b *testing.B) {
	d := newSSHD(b)
	p := newPool(b, Options{})
	for b.Loop() {
		if _, err := p.run(b.Context(), d.endpoint(), &exchange{command: "true", outMax: 4096}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDial(b *testing.B) {
	d := newSSHD(b)
	for b.Loop() {
		p := NewPool(Options{})
		if _, err := p.run(b.Context(), d.endpoint(), &exchange{command: "true", outMax: 4096}); err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}
