package gate

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// heir finds the child of a gate that was killed: the leader of a session that
// has the lock's file open and is no gate, which may only be waiting for it.
// Zero if there is none. It compares names only: a file that is open in some
// other process may be on a file system that hangs.
func (g *gate) heir() process {
	lock, err := filepath.EvalSymlinks(g.lockPath())
	if err != nil {
		return process{}
	}
	all, err := os.ReadDir("/proc")
	if err != nil {
		return process{}
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid != pid {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		if program(dir) != program("/proc/self") && opened(dir, lock) {
			return thisProcess(pid)
		}
	}
	return process{}
}

// program is what a process runs, also after that was replaced.
func program(dir string) string {
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(exe, " (deleted)")
}

// opened reports whether a process has a file open.
func opened(dir, path string) bool {
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && to == path {
			return true
		}
	}
	return false
}
