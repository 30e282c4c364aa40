package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/atomicfile"
	"github.com/gluster/anthill/test/loop"
)

// Deadlines of what is waited for on a machine.
const (
	machineStartMax = 3 * time.Minute
	machineEndMax   = 3 * time.Minute
)

// A Machine is a set of namespaces with its own root file system and address,
// and what runs in it: a server or a client. Its pid 1 is its life.
//
// All methods are safe for concurrent use, also from several programs, as far
// as the order of what they do matters to nobody.
type Machine struct {
	env    *Env
	key    string // "s1", "c1": names its processes, folder and link
	name   string // host name
	number int    // last part of its address
	disks  []disk
	guest  *GuestSpec // of a machine that another package adds
}

// Name is the machine's host name, which the environment's machines resolve.
func (m *Machine) Name() string { return m.name }

// Key is the machine's short name within its environment: s1, c1.
func (m *Machine) Key() string { return m.key }

// IP is the machine's address.
func (m *Machine) IP() string { return m.env.net.addr(m.number) }

// Dir is the machine's folder on the host.
func (m *Machine) Dir() string { return filepath.Join(m.env.dir, "machines", m.key) }

// Root is the folder on the host that is the machine's root file system. It is
// without what is mounted there, but exists while the machine is down.
func (m *Machine) Root() string { return filepath.Join(m.Dir(), "root") }

// Path is where the host sees a file of the running machine, mounts included.
// It changes with every start.
func (m *Machine) Path(path string) string {
	return filepath.Join("/proc", strconv.Itoa(m.proc().PID), "root", path)
}

// Running tells whether the machine's pid 1 is alive.
func (m *Machine) Running() bool { return m.proc().alive() }

func (m *Machine) proc() proc      { return m.env.load().Procs[m.key] }
func (m *Machine) initLog() string { return filepath.Join(m.Dir(), "init.log") }

// create makes what outlives a restart.
func (m *Machine) create(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(m.Dir(), "usr-local-lib"), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", m.name, err)
	}
	if err := makeRoot(m.Root(), m.name); err != nil {
		return err
	}
	for _, d := range m.disks {
		if err := loop.MakeXFS(ctx, d.Image, m.env.load().BrickMiB); err != nil {
			return fmt.Errorf("making the disks of %s: %w", m.name, err)
		}
	}
	return nil
}

// start brings the machine up with the given daemons. It must not be running.
func (m *Machine) start(ctx context.Context, daemons [][]string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, machineStartMax, fmt.Errorf("not within %v", machineStartMax))
	defer cancel()
	if m.Running() {
		return fmt.Errorf("starting %s: it is running", m.name)
	}
	if err := loop.AwaitFree(ctx, m.Dir(), machineEndMax); err != nil {
		return fmt.Errorf("starting %s: %w", m.name, err)
	}
	b := birth{
		role:    roleInit,
		argv:    "init of " + m.name,
		cloning: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET,
		log:     m.initLog(),
		order: initOrder{
			Hostname: m.name, Root: m.Root(), Local: filepath.Join(m.Dir(), "usr-local-lib"),
			Disks: m.disks, Daemons: daemons, Guest: m.guest,
		},
		record: func(p proc) error {
			return m.env.change(func(s *state) error { s.Procs[m.key] = p; return nil })
		},
		prepare: func(ctx context.Context, pid int) error {
			if err := m.env.net.attach(ctx, m.key, m.number, pid); err != nil || m.guest == nil {
				return err
			}
			return ip(ctx, pid, m.guest.Routes...)
		},
	}
	if _, err := b.bear(ctx); err != nil {
		return fmt.Errorf("starting %s: %w", m.name, err)
	}
	return nil
}

// Kill ends the machine as a kernel panic would, except that the kernel still
// closes its connections: SIGKILL of pid 1 and so of everything on it. Returns
// when processes, mounts and loop devices are gone. Its disks stay. A machine
// that is down stays down.
func (m *Machine) Kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, machineEndMax, fmt.Errorf("not within %v", machineEndMax))
	defer cancel()
	if err := m.proc().kill(ctx); err != nil {
		return fmt.Errorf("killing %s: %w", m.name, err)
	}
	if err := loop.AwaitFree(ctx, m.Dir(), machineEndMax); err != nil {
		return fmt.Errorf("killing %s: %w", m.name, err)
	}
	if err := removeLink(ctx, m.env.net.port(m.key)); err != nil {
		return fmt.Errorf("killing %s: %w", m.name, err)
	}
	return nil
}

// PowerOff ends the machine as a pulled plug does: Kill after Cut, so that no
// peer sees a connection end.
func (m *Machine) PowerOff(ctx context.Context) error {
	if m.Running() {
		if err := m.Cut(ctx); err != nil {
			return err
		}
	}
	return m.Kill(ctx)
}

// Cut takes the machine off the network; it notices nothing but silence. The
// host and all other machines are on the other side.
func (m *Machine) Cut(ctx context.Context) error {
	if err := m.env.net.cut(ctx, m.key); err != nil {
		return fmt.Errorf("cutting %s off: %w", m.name, err)
	}
	return nil
}

// Heal puts the machine back on the network. Connections that survived go on
// when their next retransmission is due.
func (m *Machine) Heal(ctx context.Context) error {
	if err := m.env.net.heal(ctx, m.key); err != nil {
		return fmt.Errorf("connecting %s: %w", m.name, err)
	}
	return nil
}

// IsCut tells whether the machine is off the network.
func (m *Machine) IsCut() bool { return m.Running() && !m.env.net.attached(m.key) }

// Processes lists what runs on the machine, pid 1 included.
func (m *Machine) Processes() ([]Process, error) {
	p := m.proc()
	if !p.alive() {
		return nil, fmt.Errorf("listing the processes of %s: it is not running", m.name)
	}
	return processesIn(p)
}

// Signal sends sig to every process of the machine that match picks and
// returns how many there were. A process is looked up by its id and start time.
func (m *Machine) Signal(sig syscall.Signal, match func(Process) bool) (int, error) {
	all, err := m.Processes()
	if err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, p := range all {
		if match(p) {
			n++
			errs = append(errs, proc{PID: p.PID, Start: p.start}.signal(sig))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return n, fmt.Errorf("signalling processes of %s: %w", m.name, err)
	}
	return n, nil
}

// How often, and after what time, Pause looks for processes born meanwhile.
const (
	pauseRounds = 100
	pauseEvery  = 5 * time.Millisecond
)

// Pause stops every process of the machine (SIGSTOP), as a machine that hangs:
// its kernel still acknowledges what arrives.
func (m *Machine) Pause() error {
	running := func(p Process) bool { return p.State != 'T' && p.State != 'Z' && p.State != 'X' }
	for range pauseRounds {
		n, err := m.Signal(unix.SIGSTOP, running)
		if err != nil || n == 0 {
			return err
		}
		time.Sleep(pauseEvery)
	}
	return fmt.Errorf("pausing %s: processes still run after %d rounds", m.name, pauseRounds)
}

// Resume lets every stopped process of the machine go on.
func (m *Machine) Resume() error {
	_, err := m.Signal(unix.SIGCONT, func(p Process) bool { return p.State == 'T' })
	return err
}

// IsPaused tells whether pid 1 of the machine is stopped.
func (m *Machine) IsPaused() bool {
	st, err := readStat(m.proc().PID)
	return err == nil && st.state == 'T' && m.Running()
}

// SetHosts replaces the machine's hosts file: entries are lines of hosts(5).
// Without entries it gets the environment's names again.
func (m *Machine) SetHosts(entries ...string) error {
	text := m.env.hosts()
	if len(entries) > 0 {
		text = strings.Join(append([]string{"127.0.0.1 localhost"}, entries...), "\n") + "\n"
	}
	return atomicfile.Write(filepath.Join(m.Root(), "etc/hosts"), []byte(text), 0o644)
}
