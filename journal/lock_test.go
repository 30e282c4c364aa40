package journal

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLocked: another process holds the journal, then is killed.
func TestLocked(t *testing.T) {
	path := testPath(t)
	cmd := child(t, "hold", path, 0)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	o := testOptions(t)
	o.LockWait = 50 * time.Millisecond
	_, oerr := Open(t.Context(), path, o)
	_, rerr := OpenReader(t.Context(), path)
	_, verr := Verify(t.Context(), path)
	for what, err := range map[string]error{"Open": oerr, "OpenReader": rerr, "Verify": verr} {
		var le *LockedError
		if !IsLocked(err) || !errors.As(err, &le) || le.PID != cmd.Process.Pid || !strings.Contains(err.Error(), "in use by process") {
			t.Errorf("%s: %v; want ErrLocked naming process %d", what, err, cmd.Process.Pid)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.LockWait = time.Hour
	if _, err := Open(ctx, path, o); !errors.Is(err, context.Canceled) || !IsLocked(err) {
		t.Errorf("Open with an ended context: %v", err)
	}
	// A waiter gets in as soon as the holder is killed.
	opened := make(chan error, 1)
	go func() {
		j, err := Open(context.Background(), path, o)
		if err == nil {
			err = j.Close()
		}
		opened <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := <-opened; err != nil {
		t.Errorf("waiting for a killed holder: %v", err)
	}
	mustVerify(t, path)
}

// TestReadersKeepWritersAway: a file reader's shared lock.
func TestReadersKeepWritersAway(t *testing.T) {
	path := testPath(t)
	j, err := Open(t.Context(), path, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatalf("a second reader: %v", err)
	}
	o := testOptions(t)
	o.LockWait = 30 * time.Millisecond
	if _, err := Open(t.Context(), path, o); !IsLocked(err) {
		t.Errorf("Open beside readers: %v, want ErrLocked", err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if _, err := a.Events(t.Context(), 1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("reading after Close: %v", err)
	}
	if j, err = Open(t.Context(), path, o); err != nil {
		t.Fatalf("Open after them: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestPlaces(t *testing.T) {
	shm := memoryDir(t)
	networkFS[unix.TMPFS_MAGIC] = "a stand-in"
	defer delete(networkFS, unix.TMPFS_MAGIC)
	file := filepath.Join(shm, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	leftover := filepath.Join(shm, "left.db")
	if err := os.WriteFile(leftover+".tmp", []byte("half a journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(shm, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	allowed := Options{AllowNetworkFS: true}
	cases := map[string]struct {
		reason string
		path   string
		o      Options
		want   error
	}{
		"Network":      {"locks and mappings there are emulated", filepath.Join(shm, "a.db"), Options{}, ErrNetworkFS},
		"Allowed":      {"somebody knows better", filepath.Join(shm, "b.db"), allowed, nil},
		"Leftover":     {"a process was killed while it made a journal", leftover, allowed, nil},
		"NoDirectory":  {"it is not ours to make", filepath.Join(shm, "no", "a.db"), allowed, os.ErrNotExist},
		"NotDirectory": {"below a file", filepath.Join(file, "a.db"), allowed, unix.ENOTDIR},
		"Directory":    {"a directory is there", shm, allowed, unix.EISDIR},
		"Pipe":         {"opening it would block", fifo, allowed, ErrUsage},
		"TinySize":     {"too small to work", filepath.Join(shm, "c.db"), Options{AllowNetworkFS: true, MaxSize: 1}, ErrUsage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := Open(t.Context(), tc.path, tc.o)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s: %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil {
				return
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(tc.path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the temporary file is still there", tc.reason)
			}
			mustVerify(t, tc.path)
		})
	}
	if _, err := OpenReader(t.Context(), filepath.Join(shm, "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenReader of nothing: %v", err)
	}
	for _, path := range []string{shm, fifo} {
		if _, err := Verify(t.Context(), path); err == nil || IsCorrupt(err) {
			t.Errorf("Verify of %q: %v", path, err)
		}
	}
}
