package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local/writer"
)

// Deadlines of a mount.
const (
	mountMax   = 3 * time.Minute
	unmountMax = 3 * time.Minute
)

// writerStopMax bounds a writer's last reading of all its files, stalls of a
// volume in trouble included.
const writerStopMax = 3 * time.Minute

// Files of a client, on its own disk.
const (
	writerReportFile = "/var/lib/writer/report.json"
	writerLogFile    = "/var/log/writer.log"
	fuseLogFile      = "/var/log/glusterfs/mount.log"
)

// errVolumeName refuses what cannot be one folder.
var errVolumeName = errors.New("want a volume's name")

// A Mount is a volume mounted through FUSE on a client machine of its own, so
// that nothing is mounted on the host. Killing the machine ends mount and
// writer.
type Mount struct {
	Machine
	volume string
}

// mount returns the mount of a client machine.
func (e *Env) mount(key string) *Mount {
	n, _ := strconv.Atoi(key[1:])
	return &Mount{
		Machine: Machine{env: e, key: key, name: e.hostname("c", n), number: clientFirst + n},
		volume:  e.load().Mounts[key].Volume,
	}
}

// Mounts lists the mounts, dead ones included, in the order of their making.
func (e *Env) Mounts() []*Mount {
	var out []*Mount
	for _, key := range e.clients() {
		out = append(out, e.mount(key))
	}
	return out
}

// Mount mounts a volume on a new client machine, served the volume's layout by
// the running servers, the first preferred.
func (e *Env) Mount(ctx context.Context, volume string) (*Mount, error) {
	if volume == "" || filepath.Base(volume) != volume {
		return nil, fmt.Errorf("mounting %q: %w", volume, errVolumeName)
	}
	key := ""
	err := e.change(func(s *state) error {
		for n := 1; n <= guestFirst-clientFirst; n++ {
			key = "c" + strconv.Itoa(n)
			if _, taken := s.Mounts[key]; !taken {
				s.Mounts[key] = mount{Volume: volume}
				return nil
			}
		}
		return errors.New("no free client address")
	})
	if err != nil {
		return nil, fmt.Errorf("mounting %q: %w", volume, err)
	}
	m := e.mount(key)
	if err := m.up(ctx); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmountMax)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("mounting %q: %w", volume, err), m.forget(ctx))
	}
	return m, nil
}

// Volume is the name of the mounted volume.
func (m *Mount) Volume() string { return m.volume }

// Inner is the mount point on the client machine.
func (m *Mount) Inner() string { return "/mnt/" + m.volume }

// Dir is where the host sees the mounted volume, for reading and writing.
func (m *Mount) Dir() string { return m.Path(m.Inner()) }

func (m *Mount) up(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, mountMax, fmt.Errorf("not within %v", mountMax))
	defer cancel()
	if err := m.create(ctx); err != nil {
		return err
	}
	for _, dir := range []string{m.Inner(), filepath.Dir(writerReportFile)} {
		if err := os.MkdirAll(filepath.Join(m.Root(), dir), 0o755); err != nil {
			return err
		}
	}
	if err := m.SetHosts(); err != nil {
		return err
	}
	argv := []string{"/usr/sbin/glusterfs", "--log-file=" + fuseLogFile, "--process-name=fuse", "--volfile-id=/" + m.volume}
	for _, s := range m.env.Servers() {
		if s.Running() {
			argv = append(argv, "--volfile-server="+s.Name())
		}
	}
	// It ends with exit code 0 whether or not the mount will come about.
	if err := m.start(ctx, [][]string{append(argv, m.Inner())}); err != nil {
		return err
	}
	log := filepath.Join(m.Root(), fuseLogFile)
	return await.Until(ctx, mountMax, m.volume+" is mounted on "+m.name, log, func(ctx context.Context) error {
		out, err := m.Exec(ctx, "stat", "-f", "-c", "%T", m.Inner())
		if err == nil && string(out) != "fuseblk\n" && string(out) != "fuse\n" {
			err = fmt.Errorf("the file system there is %q", out)
		}
		return err
	})
}

// Unmount unmounts the volume, after what was written has reached the bricks,
// and removes the client machine.
func (m *Mount) Unmount(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, unmountMax, fmt.Errorf("not within %v", unmountMax))
	defer cancel()
	var errs []error
	if m.Running() {
		if _, err := m.Exec(ctx, "umount", m.Inner()); err != nil {
			errs = append(errs, fmt.Errorf("unmounting %q: %w", m.volume, err))
		}
	}
	return errors.Join(append(errs, m.forget(ctx))...)
}

// forget kills the client machine and removes what is left of it.
func (m *Mount) forget(ctx context.Context) error {
	if err := m.Kill(ctx); err != nil {
		return err
	}
	if err := removeTree(m.Machine.Dir()); err != nil {
		return err
	}
	return m.env.change(func(s *state) error {
		delete(s.Mounts, m.key)
		delete(s.Procs, m.key)
		return nil
	})
}

// StartWriter starts a writer on the volume, in the background: it goes on when
// this program ends. cfg.Dir is a folder of the volume, default "writer";
// cfg.Report is set. At most one per mount.
func (m *Mount) StartWriter(ctx context.Context, cfg writer.Config) error {
	if p, _ := m.writerProcess(); p.PID != 0 {
		return fmt.Errorf("starting a writer on %q: one is running", m.volume)
	}
	if cfg.Dir == "" {
		cfg.Dir = "writer"
	}
	cfg.Dir = filepath.Join(m.Inner(), cfg.Dir)
	cfg.Report = writerReportFile
	order, err := json.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("starting a writer on %q: %w", m.volume, err)
	}
	if err := os.RemoveAll(filepath.Join(m.Root(), writerReportFile)); err != nil {
		return fmt.Errorf("starting a writer on %q: %w", m.volume, err)
	}
	log, err := os.OpenFile(filepath.Join(m.Root(), writerLogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("starting a writer on %q: %w", m.volume, err)
	}
	defer log.Close()
	// Pid 1 of the machine is this program; its file is not on the machine.
	cmd := m.Command(ctx, "/proc/1/exe", writerArg, string(order))
	cmd.Env = append(cmd.Env, roleVariable+"="+roleWriter)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("starting a writer on %q: %w%s", m.volume, err, await.Tail(log.Name(), await.TailLines))
	}
	return await.Until(ctx, mountMax, "the writer reports", log.Name(), func(context.Context) error {
		_, err := m.WriterReport()
		return err
	})
}

// WriterReport says how the writer of this mount fares, also after it ended.
func (m *Mount) WriterReport() (writer.Report, error) {
	return writer.Load(filepath.Join(m.Root(), writerReportFile))
}

// StopWriter lets the writer read every file once more and end, and returns its
// last report.
func (m *Mount) StopWriter(ctx context.Context) (writer.Report, error) {
	p, err := m.writerProcess()
	if err == nil && p.PID == 0 {
		err = fmt.Errorf("stopping the writer on %q: none is running%s", m.volume, await.Tail(filepath.Join(m.Root(), writerLogFile), await.TailLines))
	}
	if err == nil {
		err = p.signal(unix.SIGTERM)
	}
	if err != nil {
		return writer.Report{}, err
	}
	err = await.Until(ctx, writerStopMax, "the writer on "+m.volume+" ends", filepath.Join(m.Root(), writerLogFile), func(context.Context) error {
		r, err := m.WriterReport()
		switch {
		case err != nil || r.Done:
			return err
		case !p.alive():
			return errors.New("it ended without a last report")
		default:
			return fmt.Errorf("a call is waiting for %d ms", r.WaitingMillis)
		}
	})
	if err != nil {
		return writer.Report{}, err
	}
	return m.WriterReport()
}

// writerArg marks the writer among the processes of its machine.
const writerArg = "anthill-local-writer"

// writerProcess is the zero proc when none is running.
func (m *Mount) writerProcess() (proc, error) {
	all, err := m.Processes()
	if err != nil {
		return proc{}, err
	}
	for _, p := range all {
		if len(p.Argv) > 1 && p.Argv[1] == writerArg {
			return proc{PID: p.PID, Start: p.start, Argv: writerArg}, nil
		}
	}
	return proc{}, nil
}

// runWriter is the writer. The first process only starts the second, which is
// then a child of pid 1, and so of the machine alone.
func runWriter() error {
	if len(os.Args) == 3 {
		cmd := exec.CommandContext(context.Background(), "/proc/self/exe", writerArg, os.Args[2], "run")
		cmd.Env = append(os.Environ(), roleVariable+"="+roleWriter)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	var cfg writer.Config
	if err := json.Unmarshal([]byte(os.Args[2]), &cfg); err != nil {
		return fmt.Errorf("reading the writer's order: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	_, err := writer.Run(ctx, cfg)
	return err
}
