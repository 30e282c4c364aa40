package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// setupMax bounds downloading and installing packages.
const setupMax = 10 * time.Minute

// daemons are what the packages may start when they are installed. The
// machines run their own; the host's are not needed.
var daemons = []struct {
	path string
	unit string
}{
	{"/usr/sbin/glusterd", "glusterd.service"},
	{"/usr/sbin/sshd", "ssh.service"},
}

// Setup installs the Debian packages that are missing, and tells out each thing
// it does. A daemon that only the installation started is stopped again and
// not started at boot; one that was there before is left alone.
func Setup(ctx context.Context, out io.Writer) error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	missing := missingPackages(true)
	if len(missing) == 0 {
		fmt.Fprintln(out, "setup: every package is there")
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this is not Debian; install what contains: %s", strings.Join(missing, " "))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, setupMax, fmt.Errorf("not within %v", setupMax))
	defer cancel()
	before := hostDaemons()
	units := knownUnits(ctx)
	fmt.Fprintf(out, "setup: installing %s\n", strings.Join(missing, " "))
	if err := apt(ctx, append([]string{"install", "-y", "--no-install-recommends"}, missing...)); err != nil {
		fmt.Fprintln(out, "setup: refreshing the lists of packages first")
		if err := apt(ctx, []string{"update"}); err != nil {
			return err
		}
		if err := apt(ctx, append([]string{"install", "-y", "--no-install-recommends"}, missing...)); err != nil {
			return err
		}
	}
	if err := stopNew(ctx, out, before, units); err != nil {
		return err
	}
	if still := missingPackages(true); len(still) > 0 {
		return fmt.Errorf("installed, but still missing: %s", strings.Join(still, " "))
	}
	fmt.Fprintln(out, "setup: done")
	return nil
}

func apt(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running apt-get %s: %w: %s", args[0], errors.Join(err, context.Cause(ctx)), lastLines(string(out), 5))
	}
	return nil
}

// hostDaemons lists the running daemons of the host: those in this program's
// pid namespace, so that no machine's are meant.
func hostDaemons() map[proc]bool {
	out := map[proc]bool{}
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return out
	}
	entries, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, e := range entries {
		exe, err := os.Readlink(e)
		if err != nil {
			continue
		}
		for _, d := range daemons {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(e)))
			ns, nsErr := os.Readlink(filepath.Join(filepath.Dir(e), "ns/pid"))
			if exe != d.path || err != nil || nsErr != nil || ns != own {
				continue
			}
			if p, err := newProc(pid, exe); err == nil {
				out[p] = true
			}
		}
	}
	return out
}

// knownUnits tells which of the daemons' units systemd has. Without systemd
// there are none.
func knownUnits(ctx context.Context) map[string]bool {
	out := map[string]bool{}
	for _, d := range daemons {
		text, err := exec.CommandContext(ctx, "systemctl", "list-unit-files", "--no-legend", d.unit).Output()
		out[d.unit] = err == nil && len(bytes.TrimSpace(text)) > 0
	}
	return out
}

// stopNew stops the daemons that were not there before.
func stopNew(ctx context.Context, out io.Writer, before map[proc]bool, units map[string]bool) error {
	for _, d := range daemons {
		if !units[d.unit] && knownUnits(ctx)[d.unit] {
			fmt.Fprintf(out, "setup: %s came with its package; stopping it, also at boot\n", d.unit)
			if text, err := exec.CommandContext(ctx, "systemctl", "disable", "--now", d.unit).CombinedOutput(); err != nil {
				return fmt.Errorf("stopping %s: %w: %s", d.unit, err, bytes.TrimSpace(text))
			}
		}
	}
	for p := range hostDaemons() {
		if before[p] {
			continue
		}
		fmt.Fprintf(out, "setup: stopping %s, process %d, which its package started\n", p.Argv, p.PID)
		if err := p.signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
	return nil
}
