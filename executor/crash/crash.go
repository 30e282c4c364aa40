// Package crash is the registry of crash points: the places where the process
// may be told to die, so that tests can kill the real binary at each of them.
// Without the environment variables below a point is one atomic load.
//
//	ANTHILL_CRASH_AT=n      the process sends itself SIGKILL at the n-th point it
//	                        reaches (from 1, over all points)
//	ANTHILL_CRASH_AT=NAME#n the same at the n-th time it reaches the point NAME,
//	                        with its labels as the trace has them
//	ANTHILL_CRASH_TRACE=f   every point reached is appended to file f, one a
//	                        line: its number, a blank and NAME#n
package crash

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Environment variables.
const (
	EnvAt    = "ANTHILL_CRASH_AT"
	EnvTrace = "ANTHILL_CRASH_TRACE"
)

var (
	armed   atomic.Bool
	mu      sync.Mutex
	reached int
	times   map[string]int // by name
	killAt  int            // 0: by name
	killed  string         // NAME#n
	trace   *os.File
)

// Arm reads the environment. It is called once, by main.
func Arm() error {
	mu.Lock()
	defer mu.Unlock()
	if s := os.Getenv(EnvAt); s != "" {
		name, number, named := strings.Cut(s, "#")
		if !named {
			number = s
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || named && name == "" {
			return fmt.Errorf("%s=%q: a number from 1, or NAME#number, is wanted", EnvAt, s)
		}
		if killAt = n; named {
			killAt, killed = 0, fmt.Sprintf("%s#%d", name, n)
		}
	}
	if f := os.Getenv(EnvTrace); f != "" {
		file, err := os.OpenFile(f, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("%s: %w", EnvTrace, err)
		}
		trace = file
	}
	times = map[string]int{}
	armed.Store(killAt > 0 || killed != "" || trace != nil)
	return nil
}

// Here marks a crash point. Labels tell hits of one point apart (operation
// kind, step). Safe for concurrent use.
func Here(point string, labels ...string) {
	if !armed.Load() {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	reached++
	name := point
	if len(labels) > 0 {
		name += "/" + strings.Join(labels, "/")
	}
	times[name]++
	name = fmt.Sprintf("%s#%d", name, times[name])
	if trace != nil {
		fmt.Fprintf(trace, "%d %s\n", reached, name)
	}
	if reached == killAt || name == killed {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way: nothing may happen after this point
	}
}
