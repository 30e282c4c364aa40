package gate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A process is one run of a program: a pid alone is reused.
type process struct {
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"` // clock ticks since boot
}

// userHZ is the unit of start times in /proc, the same on all of Linux.
const userHZ = 100

// stat is what /proc/PID/stat and comm say.
type stat struct {
	comm  string
	state byte
	start uint64
}

// live reports whether the process runs; a zombie does not.
func (s stat) live() bool { return s.state != 'Z' && s.state != 'X' }

// readStat reads one process below procDir.
func readStat(procDir string, pid int) (stat, error) {
	b, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	// The name is in parentheses and may hold any of them itself.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("reading the state of process %d: no name", pid)
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return stat{}, fmt.Errorf("reading the state of process %d: %d fields", pid, len(f))
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return stat{comm: string(b[open+1 : end]), state: f[0][0], start: start}, nil
}

// thisProcess identifies a running process; zero if it is gone.
func thisProcess(pid int) process {
	s, err := readStat("/proc", pid)
	if err != nil {
		return process{}
	}
	return process{PID: pid, Start: s.start}
}

// alive reports whether it is still that run.
func (p process) alive() bool {
	if p.PID == 0 {
		return false
	}
	s, err := readStat("/proc", p.PID)
	return err == nil && s.start == p.Start && s.live()
}

// age is how long ago the process started, by the clock that counts through
// suspension and cannot be set.
func (p process) age() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano()) - time.Duration(p.Start)*(time.Second/userHZ)
}

// readPIDFile returns the pid in a file, 0 if there is none.
func readPIDFile(path string) int {
	b, err := readBounded(path, 64)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}
