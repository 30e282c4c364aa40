package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the gluster command, the gate's process and the
// tree of processes a command may leave, told apart by argv[0].
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case "gluster":
		os.Exit(fakeGluster(os.Args[1:]))
	case "gate":
		var o Options
		if err := json.Unmarshal([]byte(os.Getenv("GATE_TEST_OPTIONS")), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		os.Exit(mainWith(o))
	case "sleeper":
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	// Mounts of the tests live in a mount namespace that dies with them.
	if os.Geteuid() == 0 && os.Getenv("GATE_TEST_NS") == "" {
		os.Exit(inNamespace())
	}
	goleak.VerifyTestMain(m)
}

func inNamespace() int {
	runtime.LockOSThread() // the death signal is that of a thread
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), "GATE_TEST_NS=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return 0
}

// fakeGluster notes each run in GATE_TEST_LOG and does what the last word says.
func fakeGluster(args []string) int {
	note := func(what string) {
		f, err := os.OpenFile(os.Getenv("GATE_TEST_LOG"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return
		}
		defer f.Close()
		fmt.Fprintln(f, what)
	}
	do := args[len(args)-1]
	if len(args) > 3 && args[0] == "get-state" {
		if os.Getenv("GATE_TEST_HANG") != "" {
			time.Sleep(time.Minute)
		}
		if err := os.WriteFile(filepath.Join(args[2], do), []byte("[Global]\nMYUUID: u\n"), 0o600); err != nil {
			return 1
		}
		fmt.Println("glusterd state dumped to", filepath.Join(args[2], do))
		return 0
	}
	if do == "--version" {
		fmt.Println("glusterfs 10.3\nRepository revision: git://git.gluster.org/glusterfs.git")
		return 0
	}
	note("begin " + do)
	defer note("end " + do)
	arg := ""
	if i := strings.IndexByte(do, ':'); i >= 0 {
		do, arg = do[:i], do[i+1:]
	}
	switch do {
	case "fail":
		fmt.Fprintln(os.Stderr, "volume set: failed")
		return 3
	case "sleep":
		d, _ := time.ParseDuration(arg)
		time.Sleep(d)
	case "wait": // for a file to appear
		for range 3000 {
			if _, err := os.Stat(arg); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	case "flood":
		line := strings.Repeat("x", 1023) + "\n"
		for range 4 * OutputBytesMax / 1024 {
			fmt.Print(line)
		}
	case "brood": // leaves a process behind that keeps the output open
		cmd := exec.Command("/proc/self/exe")
		cmd.Args[0] = "sleeper"
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			return 9
		}
		note(fmt.Sprintf("pid %d", cmd.Process.Pid))
		if arg == "stay" {
			time.Sleep(time.Minute)
		}
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	fmt.Println("<cliOutput/>")
	return 0
}

// needRoot skips a test of mounts and trusted xattrs where nobody may make
// them; the whole suite runs as root.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
}
