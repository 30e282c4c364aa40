package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
)

// roleVariable makes this program one of its own children.
const roleVariable = "ANTHILL_LOCAL_ROLE"

// Roles of a child.
const (
	roleExec   = "exec"   // wait for the order, then become another program
	roleInit   = "init"   // pid 1 of a machine
	roleWriter = "writer" // the process that writes and re-reads a volume
)

// Descriptors a child starts with.
const (
	orderFD = 3 // its order, JSON; an end of file without one means that its parent died
	readyFD = 4 // closed when it serves, after writing ready
)

const readyLine = "ready\n"

// The dispatch is in init and not in a function for main to call because a
// program that forgot to call it, a test binary say, would run itself again
// and again.
func init() {
	role := os.Getenv(roleVariable)
	if role == "" {
		return
	}
	os.Unsetenv(roleVariable)
	var err error
	switch role {
	case roleExec:
		err = runExec()
	case roleInit:
		err = runInit()
	case roleWriter:
		err = runWriter()
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "anthill-local:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// readOrder waits for the parent's order. The parent gives it only after it
// recorded this process.
func readOrder(into any) error {
	f := os.NewFile(orderFD, "order")
	defer f.Close()
	syscall.CloseOnExec(readyFD)
	if err := json.NewDecoder(f).Decode(into); err != nil {
		return fmt.Errorf("waiting for the order of the parent: %w", err)
	}
	return nil
}

// sayReady tells the parent that the child serves.
func sayReady() error {
	f := os.NewFile(readyFD, "ready")
	_, err := io.WriteString(f, readyLine)
	return errors.Join(err, f.Close())
}

// execOrder is what a child with roleExec becomes.
type execOrder struct {
	Argv   []string
	Env    []string
	Dir    string
	Mounts []Mounted // for this program only; needs a mount namespace of its own
}

func runExec() error {
	var o execOrder
	if err := readOrder(&o); err != nil {
		return err
	}
	if len(o.Mounts) > 0 {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("making mounts private: %w", err)
		}
	}
	for _, m := range o.Mounts {
		if err := m.mount("/"); err != nil {
			return err
		}
	}
	if err := os.Chdir(o.Dir); err != nil {
		return err
	}
	if err := sayReady(); err != nil {
		return err
	}
	return syscall.Exec(o.Argv[0], o.Argv, o.Env)
}

// A birth describes a child to start.
type birth struct {
	role    string
	argv    string // for people
	cloning uintptr
	log     string // file its output is appended to
	order   any
	record  func(proc) error                         // makes the child known; runs before it does anything
	prepare func(ctx context.Context, pid int) error // between that and the order; may be nil
}

// bear starts a child in a session of its own, so that it outlives this
// program and no terminal's signal reaches it, and waits until it is ready.
func (b birth) bear(ctx context.Context) (p proc, err error) {
	log, err := os.OpenFile(b.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return proc{}, fmt.Errorf("opening the log of %s: %w", b.argv, err)
	}
	defer log.Close()
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return proc{}, fmt.Errorf("starting %s: %w", b.argv, err)
	}
	defer orderW.Close()
	readyR, readyW, err := os.Pipe()
	if err != nil {
		orderR.Close()
		return proc{}, fmt.Errorf("starting %s: %w", b.argv, err)
	}
	defer readyR.Close()

	// It outlives ctx.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe")
	cmd.Args = []string{"anthill-local", b.argv}
	cmd.Env = append(machineEnv(), roleVariable+"="+b.role)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{orderR, readyW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: b.cloning}
	err = cmd.Start()
	orderR.Close()
	readyW.Close()
	if err != nil {
		return proc{}, fmt.Errorf("starting %s: %w", b.argv, err)
	}
	p, err = newProc(cmd.Process.Pid, b.argv)
	go func() { _ = cmd.Wait() }() // reaps; how the child ended is asked elsewhere
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), machineEndMax)
			defer cancel()
			err = errors.Join(err, p.kill(ctx))
		}
	}()
	if err == nil {
		err = b.record(p)
	}
	if err == nil && b.prepare != nil {
		err = b.prepare(ctx, p.PID)
	}
	if err == nil {
		err = json.NewEncoder(orderW).Encode(b.order)
	}
	if err != nil {
		return p, fmt.Errorf("starting %s: %w", b.argv, err)
	}
	err = awaitReady(ctx, readyR, b)
	return p, err
}

// awaitReady waits for the child's word.
func awaitReady(ctx context.Context, ready *os.File, b birth) error {
	stop := context.AfterFunc(ctx, func() {
		// A pipe has deadlines, and one in the past ends the read.
		_ = ready.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	line, err := io.ReadAll(io.LimitReader(ready, int64(len(readyLine))))
	switch {
	case string(line) == readyLine:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("waiting until %s is ready: %w%s", b.argv, context.Cause(ctx), await.Tail(b.log, await.TailLines))
	case err != nil:
		return fmt.Errorf("waiting until %s is ready: %w", b.argv, err)
	default:
		return fmt.Errorf("%s ended while starting%s", b.argv, await.Tail(b.log, await.TailLines))
	}
}

// machineEnv is the environment of every child and every command on a machine:
// nothing of the caller's gets in.
func machineEnv() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LC_ALL=C", "TERM=" + strings.TrimSpace(os.Getenv("TERM")),
	}
}
