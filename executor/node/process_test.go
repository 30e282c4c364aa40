package node

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProcesses(t *testing.T) {
	proc := t.TempDir()
	stat := func(pid, name, state string) {
		write(t, proc+"/"+pid+"/stat", pid+" ("+name+") "+state+" 1 2 3 "+strings.Repeat("0 ", 15)+"77 0 0")
	}
	stat("1", "anthill", "S")
	stat("20", "glusterfsd", "S")
	stat("21", "dead", "Z")
	stat("22", "odd ) (", "R")
	write(t, proc+"/self/stat", "x")
	got, err := processes(proc)
	want := []process{{1, "77", "anthill"}, {20, "77", "glusterfsd"}, {22, "77", "odd ) ("}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestSignalHitsOnlyTheProcessThatWasSeen(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, live := readProcess("/proc", cmd.Process.Pid)
	if !live {
		t.Fatal("it does not run")
	}
	other := p
	other.start = "1"
	other.signal(unix.SIGKILL)
	if now, live := readProcess("/proc", p.pid); !live || now.pid != p.pid || now.start != p.start {
		t.Error("another run of the pid was hit")
	}
	p.signal(unix.SIGKILL)
	if err := cmd.Wait(); err == nil {
		t.Error("it was not hit")
	}
	process{pid: os.Getpid(), start: "1"}.signal(unix.SIGKILL)
}
