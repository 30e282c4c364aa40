package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/loop"
)

// Paths on a server.
const (
	glusterdPath    = "/usr/sbin/glusterd"
	glusterdSocket  = "/run/glusterd.socket"
	glusterdPIDFile = "/run/glusterd.pid"
	glusterdLogFile = "/var/log/glusterfs/glusterd.log"
	sshdPath        = "/usr/sbin/sshd"
	sshdLogFile     = "/var/log/sshd.log"
)

// glusterdReadyMax is how long glusterd may take until it answers.
const glusterdReadyMax = 3 * time.Minute

var (
	glusterdArgv = []string{glusterdPath, "-p", glusterdPIDFile}
	sshdArgv     = []string{sshdPath, "-E", sshdLogFile, "-f", "/etc/ssh/sshd_config"}
)

// A Server is a machine with sshd, glusterd and brick file systems. See
// Machine for what can be done to it as a whole.
type Server struct{ Machine }

// Bricks lists where the server's brick file systems are mounted.
func (s *Server) Bricks() []string {
	var out []string
	for _, d := range s.disks {
		out = append(out, d.Dir)
	}
	return out
}

// HostKey is the server's ssh host key, a line of authorized_keys(5) without a
// comment.
func (s *Server) HostKey() (string, error) {
	data, err := os.ReadFile(filepath.Join(s.Root(), "etc/ssh/ssh_host_ed25519_key.pub"))
	if err != nil {
		return "", fmt.Errorf("reading the host key of %s: %w", s.name, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// Gluster runs the gluster command line on the server, with --mode=script, and
// returns its standard output. See Exec.
func (s *Server) Gluster(ctx context.Context, args ...string) ([]byte, error) {
	return s.Exec(ctx, append([]string{"gluster", "--mode=script"}, args...)...)
}

// create makes the server's root, disks and ssh configuration.
func (s *Server) create(ctx context.Context) error {
	if err := s.Machine.create(ctx); err != nil {
		return err
	}
	return s.configureSSH()
}

// Start brings a server up that is down, with the disks it had, and waits
// until glusterd answers.
func (s *Server) Start(ctx context.Context) error {
	if err := s.start(ctx, [][]string{sshdArgv, glusterdArgv}); err != nil {
		return err
	}
	return s.AwaitGlusterd(ctx)
}

// AwaitGlusterd waits until glusterd answers. That its port is open proves
// nothing: it listens long before it serves.
func (s *Server) AwaitGlusterd(ctx context.Context) error {
	log := filepath.Join(s.Root(), glusterdLogFile)
	return await.Until(ctx, glusterdReadyMax, "glusterd on "+s.name+" answers", log, func(ctx context.Context) error {
		// Cheaper to ask than the command, while there cannot be an answer.
		if _, err := os.Stat(s.Path(glusterdSocket)); err != nil {
			return err
		}
		_, err := s.Gluster(ctx, "--timeout=5", "pool", "list")
		return err
	})
}

// isGlusterd picks the management daemon. The brick and heal daemons are
// glusterfsd and glusterfs.
func isGlusterd(p Process) bool { return p.Name() == "glusterd" }

// isListener picks the sshd that accepts connections, not those that serve one.
func isListener(p Process) bool {
	return len(p.Argv) > 0 && strings.HasPrefix(p.Argv[0], "sshd: "+sshdPath)
}

// isSession picks the sshd processes that serve a connection.
func isSession(p Process) bool {
	return len(p.Argv) > 0 && strings.HasPrefix(p.Argv[0], "sshd: ") && !isListener(p)
}

// StopGlusterd ends glusterd with SIGTERM and waits for its end; bricks and
// self-heal daemons go on.
func (s *Server) StopGlusterd(ctx context.Context) error {
	return s.end(ctx, "glusterd", syscall.SIGTERM, isGlusterd)
}

// KillGlusterd ends glusterd with SIGKILL; see StopGlusterd.
func (s *Server) KillGlusterd(ctx context.Context) error {
	return s.end(ctx, "glusterd", unix.SIGKILL, isGlusterd)
}

// StartGlusterd starts glusterd and waits until it answers.
func (s *Server) StartGlusterd(ctx context.Context) error {
	if err := s.daemon(ctx, glusterdArgv); err != nil {
		return err
	}
	return s.AwaitGlusterd(ctx)
}

// PauseGlusterd stops glusterd alone (SIGSTOP): connections stay, answers stop.
func (s *Server) PauseGlusterd() error { return s.some("glusterd", unix.SIGSTOP, isGlusterd) }

// ResumeGlusterd undoes PauseGlusterd.
func (s *Server) ResumeGlusterd() error { return s.some("glusterd", unix.SIGCONT, isGlusterd) }

// StopSSH makes sshd accept no more connections and ends those it serves. The
// commands they run go on, as they do when a connection breaks.
func (s *Server) StopSSH(ctx context.Context) error {
	if err := s.end(ctx, "sshd", unix.SIGKILL, isListener); err != nil {
		return err
	}
	_, err := s.KillSSHSessions()
	return err
}

// StartSSH undoes StopSSH.
func (s *Server) StartSSH(ctx context.Context) error { return s.daemon(ctx, sshdArgv) }

// KillSSHSessions ends the sshd processes of all connections with SIGKILL and
// returns how many processes there were. The commands go on.
func (s *Server) KillSSHSessions() (int, error) { return s.Signal(unix.SIGKILL, isSession) }

// end signals processes and waits until none is left.
func (s *Server) end(ctx context.Context, what string, sig syscall.Signal, match func(Process) bool) error {
	if err := s.some(what, sig, match); err != nil {
		return err
	}
	return await.Until(ctx, machineEndMax, what+" on "+s.name+" ends", "", func(context.Context) error {
		all, err := s.Processes()
		if err != nil {
			return err
		}
		for _, p := range all {
			if match(p) {
				return fmt.Errorf("process %d is still there, state %c", p.PID, p.State)
			}
		}
		return nil
	})
}

// some signals processes of which there must be one.
func (s *Server) some(what string, sig syscall.Signal, match func(Process) bool) error {
	n, err := s.Signal(sig, match)
	if err == nil && n == 0 {
		err = fmt.Errorf("sending %v to %s on %s: it does not run", sig, what, s.name)
	}
	return err
}

// daemon runs a command that leaves a daemon behind.
func (s *Server) daemon(ctx context.Context, argv []string) error {
	if !s.Running() {
		return fmt.Errorf("starting %q on %s: it is not running", argv[0], s.name)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, machineStartMax, fmt.Errorf("not within %v", machineStartMax))
	defer cancel()
	log, err := os.OpenFile(s.initLog(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("starting %q on %s: %w", argv[0], s.name, err)
	}
	defer log.Close()
	cmd := s.Command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("starting %q on %s: %w%s", argv[0], s.name, errors.Join(err, context.Cause(ctx)), await.Tail(s.initLog(), await.TailLines))
	}
	return nil
}

// UnmountBrick takes brick file system n (from 1) away under whatever uses it,
// as a disk that is pulled: lazily, so that users keep their open files, and
// new ones see the folder below, on the root file system.
func (s *Server) UnmountBrick(ctx context.Context, n int) error {
	d, err := s.disk(n)
	if err != nil {
		return err
	}
	_, err = s.Exec(ctx, "umount", "-l", d.Dir)
	return err
}

// MountBrick undoes UnmountBrick, once nothing uses the file system any more.
func (s *Server) MountBrick(ctx context.Context, n int) error {
	d, err := s.disk(n)
	if err != nil {
		return err
	}
	if err := s.awaitUnused(ctx, d); err != nil {
		return err
	}
	device, hold, err := loop.Attach(d.Image)
	if err != nil {
		return err
	}
	defer hold.Close()
	if err := copyDevice(device, s.Path(device)); err != nil {
		return err
	}
	_, err = s.Exec(ctx, "mount", "-t", "xfs", device, d.Dir)
	return err
}

// awaitUnused waits until the image of d backs no loop device.
func (s *Server) awaitUnused(ctx context.Context, d disk) error {
	return await.Until(ctx, machineEndMax, d.Dir+" of "+s.name+" is free", "", func(context.Context) error {
		loops, err := loop.Below(s.Dir())
		if err != nil {
			return err
		}
		for device, file := range loops {
			if file == d.Image {
				return fmt.Errorf("%s still holds it: end what uses the folder", device)
			}
		}
		return nil
	})
}

func (s *Server) disk(n int) (disk, error) {
	if n < 1 || n > len(s.disks) {
		return disk{}, fmt.Errorf("brick file system %d of %s: there are %d", n, s.name, len(s.disks))
	}
	return s.disks[n-1], nil
}
