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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gluster/anthill/test/await"
)

// setupMax bounds downloading and installing packages.
const setupMax = 10 * time.Minute

// A daemon is what a package may start when it is installed.
type daemon struct {
	path string
	unit string // of systemd
}

// daemons are those of the packages above. The machines run their own; the
// host's are not needed.
var daemons = []daemon{
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
	missing := missingPackages(everything)
	if len(missing) == 0 {
		fmt.Fprintln(out, "setup: every package is there")
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this is not Debian; install what contains: %s", strings.Join(missing, " "))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, setupMax, fmt.Errorf("not within %v", setupMax))
	defer cancel()
	before := running(daemons, initPID)
	units := knownUnits(ctx, daemons)
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
	if err := stopNew(ctx, out, daemons, initPID, before, units); err != nil {
		return err
	}
	if still := missingPackages(everything); len(still) > 0 {
		return fmt.Errorf("installed, but still missing: %s", strings.Join(still, " "))
	}
	fmt.Fprintln(out, "setup: done")
	return nil
}

func apt(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running apt-get %s: %w: %s", args[0], errors.Join(err, context.Cause(ctx)), await.LastLines(string(out), 5))
	}
	return nil
}

// initPID is the parent of a daemon that runs on the host.
const initPID = 1

// running lists the running ones of the daemons that are children of parent, in
// this program's pid namespace: neither a machine's daemon is meant nor one that
// a test or a person runs in the foreground.
func running(daemons []daemon, parent int) map[proc]bool {
	out := map[proc]bool{}
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return out
	}
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		exe, exeErr := os.Readlink(filepath.Join(e, "exe"))
		ns, nsErr := os.Readlink(filepath.Join(e, "ns/pid"))
		pid, pidErr := strconv.Atoi(filepath.Base(e))
		if errors.Join(exeErr, nsErr, pidErr) != nil || ns != own {
			continue
		}
		st, err := readStat(pid)
		if err != nil || st.parent != parent {
			continue
		}
		if slices.ContainsFunc(daemons, func(d daemon) bool { return d.path == exe }) {
			out[proc{PID: pid, Start: st.start, Argv: exe}] = true
		}
	}
	return out
}

// knownUnits tells which of the daemons' units systemd has. Without systemd
// there are none.
func knownUnits(ctx context.Context, daemons []daemon) map[string]bool {
	out := map[string]bool{}
	for _, d := range daemons {
		text, err := exec.CommandContext(ctx, "systemctl", "list-unit-files", "--no-legend", d.unit).Output()
		out[d.unit] = err == nil && len(bytes.TrimSpace(text)) > 0
	}
	return out
}

// disable stops a unit, also at boot. Where systemd is installed but has not
// booted the machine, it starts nothing and only its links are taken away.
func disable(ctx context.Context, unit string) error {
	argv := []string{"disable", unit}
	if _, err := os.Stat("/run/systemd/system"); err == nil { // what sd_booted(3) looks at
		argv = []string{"disable", "--now", unit}
	}
	if text, err := exec.CommandContext(ctx, "systemctl", argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("stopping %s: %w: %s", unit, err, bytes.TrimSpace(text))
	}
	return nil
}

// stopNew stops the daemons that were not there before.
func stopNew(ctx context.Context, out io.Writer, daemons []daemon, parent int, before map[proc]bool, units map[string]bool) error {
	for _, d := range daemons {
		if !units[d.unit] && knownUnits(ctx, daemons)[d.unit] {
			fmt.Fprintf(out, "setup: %s came with its package; stopping it, also at boot\n", d.unit)
			if err := disable(ctx, d.unit); err != nil {
				return err
			}
		}
	}
	for p := range running(daemons, parent) {
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
