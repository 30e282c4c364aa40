package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A process is one run of a program in this pod.
type process struct {
	pid   int
	start string // a pid alone is used again
	comm  string
}

// processes lists what runs; what has ended and waits to be reaped does not.
func processes(proc string) ([]process, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	var out []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, live := readProcess(proc, pid); live {
			out = append(out, p)
		}
	}
	return out, nil
}

func readProcess(proc string, pid int) (process, bool) {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	// The name is in parentheses and may hold any of them itself.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	return process{pid: pid, start: f[19], comm: string(b[open+1 : end])}, true
}

// signal sends a signal to the process and to no other that got its pid.
func (p process) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, live := readProcess("/proc", p.pid); live && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}
