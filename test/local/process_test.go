package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sleeper starts a process of which nothing is expected.
func sleeper(t *testing.T) (*exec.Cmd, proc) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	p, err := newProc(cmd.Process.Pid, "sleep")
	must(t, err)
	return cmd, p
}

func TestProcOfAnotherStartIsLeftAlone(t *testing.T) {
	_, p := sleeper(t)
	other := p
	other.Start--
	if other.alive() {
		t.Error("a process id that is used again counts as alive")
	}
	must(t, other.kill(t.Context()))
	must(t, other.signal(syscall.SIGKILL))
	if !p.alive() {
		t.Error("a process was killed for one that had its id before")
	}
	must(t, proc{}.kill(t.Context()))
}

func TestKillWaitsForTheEnd(t *testing.T) {
	_, p := sleeper(t)
	must(t, p.kill(t.Context()))
	// It is not reaped yet, which must not count as alive either.
	if p.alive() {
		t.Error("a killed process is alive")
	}
	must(t, p.kill(t.Context()))
}

func TestReadStatOfOddCommands(t *testing.T) {
	odd := filepath.Join(t.TempDir(), ") R 1 (")
	must(t, os.Symlink("/bin/sleep", odd))
	cmd := exec.Command(odd, "60")
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	self, err := readStat(os.Getpid())
	must(t, err)
	got, err := readStat(cmd.Process.Pid)
	if err != nil || got.start < self.start {
		t.Errorf("readStat() of a command named %q = %+v, %v; it started after %d", odd, got, err, self.start)
	}
}

func TestStateSurvives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	want := &state{
		Version: stateVersion, ID: "abcdef", Phase: phaseUp, Net: "10.64.0", Servers: 2,
		Procs: map[string]proc{"s1": {PID: 7, Start: 9, Argv: "x"}}, Mounts: map[string]mount{"c1": {Volume: "v"}},
	}
	must(t, want.store(file))
	if diff := cmp.Diff(want, loadState(file)); diff != "" {
		t.Errorf("state read back (-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{"Torn": `{"version":1,`, "OtherVersion": `{"version":2}`, "Empty": ""} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		if got := loadState(file); got != nil {
			t.Errorf("%s: a state file with %q gives %+v, want nothing", name, text, got)
		}
	}
}

func TestLockIsOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	l, err := takeLock(t.Context(), file)
	must(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := takeLock(short, file); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v, want to wait in vain", err)
	}
	// A waiter on the removed file must not take it for the lock.
	l.remove()
	second, err := takeLock(t.Context(), file)
	must(t, err)
	defer second.release()
	if got, err := tryLock(file); got != nil || err != nil {
		t.Errorf("a lock taken after the file was removed: %v, %v; want it held", got, err)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	cases := map[string]struct {
		text, want string
		lines      int
	}{
		"Empty":   {"", "", 2},
		"Fewer":   {"a\n", "a", 2},
		"Exactly": {"a\nb\n", "a\nb", 2},
		"More":    {"a\nb\nc\nd\n", "c\nd", 2},
		"Open":    {"a\nb\nc", "b\nc", 2},
		"Huge":    {strings.Repeat("x", 2*tailBytesMax) + "\nlast\n", "last", 1},
	}
	for name, tc := range cases {
		must(t, os.WriteFile(file, []byte(tc.text), 0o600))
		if got := tailOf(file, tc.lines); got != tc.want {
			t.Errorf("%s: tail is %q, want %q", name, got, tc.want)
		}
	}
	if got := tailOf(file+"-missing", 3); got != "" {
		t.Errorf("the tail of a missing file is %q", got)
	}
}

func TestUntilSaysWhatItWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(file, []byte("the cause\n"), 0o600))
	err := until(t.Context(), 30*time.Millisecond, "it is noon", file, func(context.Context) error { return errors.New("it is not") })
	if err == nil {
		t.Fatal("no error after the deadline")
	}
	for _, part := range []string{"it is noon", "30ms", "it is not", "the cause", file} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not tell %q", err, part)
		}
	}
}

func TestBoundedKeepsTheBeginning(t *testing.T) {
	var b bounded
	for range 3 {
		n, err := b.Write(make([]byte, outputMax/2))
		if n != outputMax/2 || err != nil {
			t.Fatalf("Write() = %d, %v: a full buffer must not end the command", n, err)
		}
	}
	if b.Len() != outputMax {
		t.Errorf("%d bytes kept, want %d", b.Len(), outputMax)
	}
}
