package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

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

func TestBoundedKeepsTheBeginning(t *testing.T) {
	var b Bounded
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
