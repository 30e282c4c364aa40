package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/filelock"
)

// downMax bounds taking down after a failed Up, whose context may have ended.
const downMax = 2 * time.Minute

// connectedMax bounds the wait until servers reach each other; a bridge forwards
// as soon as it is up.
const connectedMax = 15 * time.Second

// Up makes the environment of cfg run and returns it. What runs already is
// kept, what is killed, paused or cut off is brought back, servers are added
// when there are too few. What a killed Up or Down left half done is taken down
// first. Unless cfg.KeepFailed, a failed Up leaves nothing behind.
//
// It takes about 3 s; with an API server whose binaries are not built yet,
// about 5 minutes once.
func Up(ctx context.Context, cfg Config) (*Env, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := Preflight(cfg); err != nil {
		return nil, err
	}
	e := newEnv(cfg)
	l, err := filelock.Take(ctx, e.lockFile())
	if err != nil {
		return nil, fmt.Errorf("environment %s is being changed by another program: %w", e.net.id, err)
	}
	defer l.Release()
	if err := e.up(ctx); err != nil {
		if !cfg.KeepFailed {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downMax)
			defer cancel()
			err = errors.Join(err, e.down(ctx))
			l.Remove()
		}
		return nil, fmt.Errorf("bringing up environment %s: %w", e.net.id, err)
	}
	return e, nil
}

// up does what Up does, under the environment's lock.
func (e *Env) up(ctx context.Context) error {
	s, err := e.reusable(ctx)
	if err != nil {
		return err
	}
	if s == nil {
		if s, err = e.begin(); err != nil {
			return err
		}
	}
	e.adopt(s)
	// From here a crash means that the next Up cleans first.
	err = e.change(func(s *state) error {
		s.Phase = phaseStarting
		s.Servers = max(s.Servers, e.cfg.Servers)
		s.API = s.API || e.cfg.APIServer
		s.Kubelets = s.Kubelets || e.cfg.Kubelets
		return nil
	})
	if err != nil {
		return err
	}
	e.adopt(e.load())
	if err := e.startAll(ctx); err != nil {
		return err
	}
	if e.cfg.Then != nil {
		if err := e.cfg.Then(ctx, e); err != nil {
			return err
		}
	}
	return e.change(func(s *state) error { s.Phase = phaseUp; return nil })
}

// reusable returns the state of an environment that can be kept, or nil after
// taking down one that cannot.
func (e *Env) reusable(ctx context.Context) (*state, error) {
	s := loadState(e.stateFile())
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	if s != nil && s.Phase == phaseUp && s.Boot == boot && !e.cfg.Fresh {
		if s.Servers > 0 && e.cfg.Servers > 0 && (s.Bricks != e.cfg.Bricks || s.BrickMiB != e.cfg.BrickMiB) {
			return nil, fmt.Errorf("it runs with %d bricks of %d MiB per server, not %d of %d: take it down first",
				s.Bricks, s.BrickMiB, e.cfg.Bricks, e.cfg.BrickMiB)
		}
		return s, nil
	}
	if err := e.down(ctx); err != nil {
		return nil, fmt.Errorf("cleaning what an earlier run left: %w", err)
	}
	return nil, nil
}

// begin makes the folder and the first state of a new environment.
func (e *Env) begin() (*state, error) {
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	taken, err := RoutesTaken()
	if err != nil {
		return nil, err
	}
	subnet, err := chooseSubnet(e.net.id, taken)
	if err != nil {
		return nil, err
	}
	if err := e.makeDir(); err != nil {
		return nil, err
	}
	s := &state{
		Version: stateVersion, ID: e.net.id, Checkout: e.cfg.Checkout, Instance: e.cfg.Instance,
		Boot: boot, Phase: phaseStarting, Net: subnet, Bricks: e.cfg.Bricks, BrickMiB: e.cfg.BrickMiB,
		Procs: map[string]proc{}, Mounts: map[string]mount{},
	}
	return s, s.store(e.stateFile())
}

// startAll starts what does not run and waits until everything serves.
func (e *Env) startAll(ctx context.Context) error {
	if e.APIServer != nil {
		if err := e.buildBinaries(ctx); err != nil {
			return err
		}
	}
	if err := makeKeyPair(e.SSHKeyFile()); err != nil {
		return err
	}
	if err := atomicfile.Write(e.hostsFile(), []byte(e.hosts()), 0o600); err != nil {
		return err
	}
	if err := e.net.up(ctx); err != nil {
		return err
	}
	var jobs []func(context.Context) error
	if e.APIServer != nil {
		jobs = append(jobs, e.APIServer.bringBack)
	}
	for _, s := range e.Servers() {
		jobs = append(jobs, s.bringBack)
	}
	if err := await.All(ctx, jobs); err != nil {
		return err
	}
	return e.connected(ctx)
}

// connected fails when servers do not reach each other by name. The host
// reaches them also where its firewall drops what crosses the bridge.
func (e *Env) connected(ctx context.Context) error {
	if len(e.Servers()) < 2 {
		return nil
	}
	s1, s2 := e.Server(1), e.Server(2)
	return await.Until(ctx, connectedMax, s1.name+" reaches glusterd on "+s2.name+
		" (a firewall of this host may filter bridges: see sysctl net.bridge.bridge-nf-call-iptables)", "",
		func(ctx context.Context) error {
			_, err := s1.Gluster(ctx, "--timeout=5", "--remote-host="+s2.name, "pool", "list")
			return err
		})
}

// bringBack makes the server as a new one, whatever was done to it, with its
// disks as they are.
func (s *Server) bringBack(ctx context.Context) error {
	if s.Running() {
		if err := s.SetHosts(); err != nil {
			return err
		}
		if err := s.Heal(ctx); err != nil {
			return err
		}
		if err := s.Resume(); err != nil {
			return err
		}
		return s.bringBackDaemons(ctx)
	}
	begun := time.Now()
	if err := s.Kill(ctx); err != nil { // its link and loop devices
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	if err := s.SetHosts(); err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	s.env.logf("%s (%s) serves after %.1f s: bricks %s", s.name, s.IP(), time.Since(begun).Seconds(), strings.Join(s.Bricks(), " "))
	return nil
}

// bringBackDaemons starts the daemons that were stopped.
func (s *Server) bringBackDaemons(ctx context.Context) error {
	running, err := s.Processes()
	if err != nil {
		return err
	}
	var glusterd, sshd bool
	for _, p := range running {
		glusterd = glusterd || isGlusterd(p)
		sshd = sshd || isListener(p)
	}
	for n := range s.disks {
		if _, err := s.Exec(ctx, "mountpoint", "-q", s.disks[n].Dir); err != nil {
			if err := s.MountBrick(ctx, n+1); err != nil {
				return err
			}
		}
	}
	if !sshd {
		if err := s.StartSSH(ctx); err != nil {
			return err
		}
	}
	if !glusterd {
		return s.StartGlusterd(ctx)
	}
	return s.AwaitGlusterd(ctx)
}

func (e *Env) logf(format string, args ...any) { e.cfg.Log(fmt.Sprintf(format, args...)) }

// logFile is the log of a component that is no machine.
func (e *Env) logFile(component string) string { return filepath.Join(e.dir, component+".log") }
