package ssh

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
)

// The test binary is also the gate that the tests install, told apart by its
// name. The tests run in a mount namespace where the gate's two paths, root's
// home and the gluster command are the tests' own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "gate" {
		os.Exit(gate.Main())
	}
	if os.Geteuid() == 0 {
		if os.Getenv("SSH_TEST_NS") == "" {
			os.Exit(inNamespace())
		}
		if err := furnish(); err != nil {
			fmt.Fprintln(os.Stderr, "furnishing the namespace:", err)
			os.Exit(99)
		}
	}
	goleak.VerifyTestMain(m)
}

func inNamespace() int {
	runtime.LockOSThread() // the death signal is that of a thread
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), "SSH_TEST_NS=1")
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

// gluster is a command that waits for a file or fails, as its last word says.
const gluster = `#!/bin/sh
for last; do :; done
echo "begin $last" >>/root/runs
case $last in
wait:*) while [ ! -e "${last#wait:}" ]; do sleep 0.01; done ;;
sleep:*) sleep "${last#sleep:}" ;;
esac
echo "<cliOutput/>"
echo "end $last" >>/root/runs
`

// furnish mounts what the tests own. It all ends with the namespace.
func furnish() error {
	for _, d := range []string{"/usr/local/lib", "/usr/local/sbin", "/var/lib", "/run", "/root"} {
		if err := unix.Mount("tmpfs", d, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mounting on %s: %w", d, err)
		}
	}
	files := map[string]struct {
		path, text string
		mode       os.FileMode
	}{
		// Root's shell prints what would break an unframed reply.
		"rc":      {"/root/.bashrc", "printf 'Welcome to \\033[1mthis\\033[0m server, no newline here'\n", 0o600},
		"gluster": {"/root/gluster", gluster, 0o755},
		"passwd":  {"/root/passwd", "root:x:0:0:root:/root:/bin/bash\nsshd:x:64001:64001::/run/sshd:/usr/sbin/nologin\ntester:x:64002:64002::/:/bin/sh\n", 0o644},
		"shadow":  {"/root/shadow", "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\ntester:*:19000:0:99999:7:::\n", 0o600},
	}
	for _, f := range files {
		if err := os.WriteFile(f.path, []byte(f.text), f.mode); err != nil {
			return err
		}
	}
	target := "/usr/sbin/gluster"
	if _, err := os.Stat(target); err != nil {
		target = "/usr/local/sbin/gluster"
		if err := os.WriteFile(target, nil, 0o755); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"/root/gluster": target, "/root/passwd": "/etc/passwd", "/root/shadow": "/etc/shadow"} {
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("binding over %s: %w", to, err)
		}
	}
	return os.Mkdir("/run/sshd", 0o755)
}
