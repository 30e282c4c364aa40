package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// proc names one process for good: a process id alone may be used again.
type proc struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, from /proc/PID/stat
	Argv  string `json:"argv"`  // for people
}

// stat is the part of /proc/PID/stat that is needed here.
type stat struct {
	state  byte
	parent int
	start  uint64
}

// readStat fails when there is no such process.
func readStat(pid int) (stat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The second field, the command, may contain blanks and parentheses.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("reading the state of process %d: no command", pid)
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("reading the state of process %d: %d fields", pid, len(fields))
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return stat{state: fields[0][0], parent: parent, start: start}, nil
}

// newProc names the running process pid.
func newProc(pid int, argv string) (proc, error) {
	st, err := readStat(pid)
	if err != nil {
		return proc{}, err
	}
	return proc{PID: pid, Start: st.start, Argv: argv}, nil
}

// alive tells whether the process runs: neither gone nor waiting to be reaped.
func (p proc) alive() bool {
	if p.PID == 0 {
		return false
	}
	st, err := readStat(p.PID)
	return err == nil && st.start == p.Start && st.state != 'Z' && st.state != 'X'
}

// exists tells whether the process is there, if only to be reaped.
func (p proc) exists() bool {
	st, err := readStat(p.PID)
	return err == nil && st.start == p.Start
}

// open returns a descriptor of the process, or -1 when it is gone.
func (p proc) open() (int, error) {
	if p.PID == 0 {
		return -1, nil
	}
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return -1, nil
	}
	if err != nil {
		return -1, fmt.Errorf("opening process %d: %w", p.PID, err)
	}
	// Looked at after opening: the descriptor is of this process or of none.
	if !p.exists() {
		unix.Close(fd)
		return -1, nil
	}
	return fd, nil
}

// signal sends a signal; a process that is gone gets none.
func (p proc) signal(sig syscall.Signal) error {
	fd, err := p.open()
	if err != nil || fd < 0 {
		return err
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("sending %v to process %d: %w", sig, p.PID, err)
	}
	return nil
}

// kill sends SIGKILL and waits until the process has ended. For pid 1 of a
// namespace that is when the last process of the namespace has.
func (p proc) kill(ctx context.Context) error {
	fd, err := p.open()
	if err != nil || fd < 0 {
		return err
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("killing process %d: %w", p.PID, err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 50)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("waiting for the end of process %d: %w", p.PID, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for the end of process %d (%s): %w", p.PID, p.Argv, context.Cause(ctx))
		}
	}
}

// A Process is a process of a machine, as the host sees it.
type Process struct {
	PID   int      // on the host
	Inner int      // inside the machine
	Argv  []string // empty for one that has ended and is not reaped
	State byte     // R, S, D, T (stopped) ... as in proc(5)
	start uint64
}

// Name is the last element of argv[0].
func (p Process) Name() string {
	if len(p.Argv) == 0 {
		return ""
	}
	return filepath.Base(p.Argv[0])
}

// processesIn lists the processes of the pid namespace whose first process is
// first. It reads /proc and so is a snapshot: processes may start meanwhile.
func processesIn(first proc) ([]Process, error) {
	ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", first.PID))
	if err != nil {
		return nil, fmt.Errorf("finding the processes of %d: %w", first.PID, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err != nil || own != ns {
			continue
		}
		st, err := readStat(pid)
		if err != nil {
			continue
		}
		p := Process{PID: pid, State: st.state, start: st.start, Inner: innerPID(pid)}
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(line) > 0 {
			p.Argv = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		}
		out = append(out, p)
	}
	return out, nil
}

// innerPID is the process id in the innermost namespace, 0 when unknown.
func innerPID(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(ids)
			n, _ := strconv.Atoi(fields[len(fields)-1])
			return n
		}
	}
	return 0
}

// bootID identifies this boot of the machine.
func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
