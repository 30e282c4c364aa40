package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gluster/anthill/test/filelock"
)

// ErrNotUp is returned by Open for an environment that is not, or only
// half, there.
var ErrNotUp = errors.New("not up")

// stateLockMax bounds the wait for the state file, which is held only while it
// is rewritten.
const stateLockMax = 10 * time.Second

// An Env is an environment that is up. It stays up when the program ends. All
// methods are safe for concurrent use, also from several programs at once.
type Env struct {
	cfg Config
	dir string
	net network

	// APIServer is nil in an environment without one.
	APIServer *APIServer

	mu      sync.Mutex // guards what follows and serialises this program's changes of the state
	cached  *state
	servers []*Server
}

// newEnv returns the environment that cfg, which is complete, names.
func newEnv(cfg Config) *Env {
	id := cfg.id()
	return &Env{cfg: cfg, dir: filepath.Join(baseDir, id), net: network{id: id}}
}

// Open returns the environment that runs for cfg, of which only Checkout,
// Instance and Log matter. ErrNotUp says that there is none.
func Open(cfg Config) (*Env, error) {
	e, err := Inspect(cfg)
	if err == nil && e.load().Phase != phaseUp {
		return nil, fmt.Errorf("environment %s of %q: only %s: %w", e.net.id, e.cfg.Checkout, e.load().Phase, ErrNotUp)
	}
	return e, err
}

// Inspect is Open for an environment that may be half up or half down, to look
// at its status and logs.
func Inspect(cfg Config) (*Env, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := newEnv(cfg)
	s := loadState(e.stateFile())
	if s == nil {
		return nil, fmt.Errorf("environment %s of %q: %w", e.net.id, cfg.Checkout, ErrNotUp)
	}
	e.adopt(s)
	return e, nil
}

// adopt takes over what the state says.
func (e *Env) adopt(s *state) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cached = s
	e.net.net = s.Net
	if s.API && e.APIServer == nil {
		e.APIServer = &APIServer{env: e}
	}
	for n := len(e.servers) + 1; n <= s.Servers; n++ {
		srv := &Server{Machine{env: e, key: "s" + strconv.Itoa(n), name: e.hostname("s", n), number: n}}
		for b := 1; b <= s.Bricks; b++ {
			srv.disks = append(srv.disks, disk{
				Image: filepath.Join(srv.Dir(), fmt.Sprintf("b%d.img", b)),
				Dir:   fmt.Sprintf("/bricks/b%d", b),
			})
		}
		e.servers = append(e.servers, srv)
	}
}

// ID names the environment on this machine: six hex digits.
func (e *Env) ID() string { return e.net.id }

// Checkout is the root of the source tree that the environment belongs to.
func (e *Env) Checkout() string { return e.cfg.Checkout }

// Dir is the environment's folder.
func (e *Env) Dir() string { return e.dir }

// HostIP is the address under which the machines reach the host.
func (e *Env) HostIP() string { return e.net.addr(hostNumber) }

// Servers lists the servers in order.
func (e *Env) Servers() []*Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*Server(nil), e.servers...)
}

// Server returns server n, counted from 1 as its name is: s1, s2. It panics
// when there is no such server.
func (e *Env) Server(n int) *Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.servers[n-1]
}

func (e *Env) stateFile() string { return filepath.Join(e.dir, "state.json") }
func (e *Env) lockFile() string  { return filepath.Join(baseDir, e.net.id+".lock") }
func (e *Env) hostsFile() string { return filepath.Join(e.dir, "hosts") }

// hostname is unique on this machine, so that two environments' servers are
// never taken for each other.
func (e *Env) hostname(kind string, n int) string {
	return fmt.Sprintf("%s-%s%d", e.net.bridge(), kind, n)
}

// hosts is the hosts file of every machine.
func (e *Env) hosts() string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n")
	for _, s := range e.Servers() {
		fmt.Fprintf(&b, "%s %s\n", s.IP(), s.Name())
	}
	return b.String()
}

// load returns the state as it is on disk; the last one seen when the
// environment was taken down meanwhile.
func (e *Env) load() *state {
	s := loadState(e.stateFile())
	e.mu.Lock()
	defer e.mu.Unlock()
	if s != nil {
		e.cached = s
	}
	if e.cached == nil {
		return &state{Procs: map[string]proc{}, Mounts: map[string]mount{}}
	}
	return e.cached
}

// change rewrites the state file under its lock. It fails when the environment
// is gone, so that nothing is started in one that was taken down.
func (e *Env) change(edit func(*state) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stateLockMax)
	defer cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	l, err := filelock.Take(ctx, e.stateFile()+".lock")
	if err != nil {
		return err
	}
	defer l.Release()
	s := loadState(e.stateFile())
	if s == nil {
		return fmt.Errorf("changing the state of environment %s: %w", e.net.id, ErrNotUp)
	}
	if err := edit(s); err != nil {
		return err
	}
	if err := s.store(e.stateFile()); err != nil {
		return err
	}
	e.cached = s
	return nil
}

// clients lists the keys of the client machines, in order.
func (e *Env) clients() []string {
	var out []string
	for key := range e.load().Mounts {
		out = append(out, key)
	}
	sort.Slice(out, func(i, j int) bool {
		return len(out[i]) < len(out[j]) || len(out[i]) == len(out[j]) && out[i] < out[j]
	})
	return out
}

// Machine finds a server or client by its key (s1, c1) or host name; nil when
// there is none.
func (e *Env) Machine(name string) *Machine {
	for _, s := range e.Servers() {
		if s.key == name || s.name == name {
			return &s.Machine
		}
	}
	for _, key := range e.clients() {
		if m := e.mount(key); m.key == name || m.name == name {
			return &m.Machine
		}
	}
	return nil
}

// makeDir makes the environment's folder. The base folder may vanish under it
// when another environment is taken down, hence the second try.
func (e *Env) makeDir() error {
	var err error
	for range 3 {
		if err = os.MkdirAll(e.dir, 0o700); err == nil {
			break
		}
	}
	if err == nil {
		err = os.Chmod(baseDir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("making the environment's folder: %w", err)
	}
	return nil
}
