package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// isGluster picks the gluster command line, not its daemons.
func isGluster(p local.Process) bool { return p.Name() == "gluster" }

// hold changes an option and stops the glusterd of a peer at the moment the
// command is sent, so that it hangs. It tries until it does, and returns the
// server that got the command, the one that is stopped, and the value.
func (p *pool) hold(t *testing.T, key string) (origin, stopped *local.Server, value string) {
	t.Helper()
	for n := range 10 {
		value = fmt.Sprint(16 + n)
		began := make(chan string, 1)
		listening := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		go func() {
			close(listening)
			_ = follow(ctx, p.op, func(ev journal.Event) bool {
				if ev.Type != journal.StepStarted || !strings.Contains(string(ev.Data), key) {
					return false
				}
				// Stopped before the command has its locks.
				_ = p.rig.Env.Server(2).PauseGlusterd()
				began <- string(ev.Data)
				return true
			})
		}()
		<-listening
		time.Sleep(100 * time.Millisecond) // the follower connects
		p.option(t, key, value)
		select {
		case <-began:
		case <-ctx.Done():
			t.Fatal("the option is not being set")
		}
		cancel()
		// A command that was quicker is over by now.
		time.Sleep(500 * time.Millisecond)
		for _, s := range p.servers() {
			if running, err := s.Processes(); err == nil {
				for _, r := range running {
					if isGluster(r) && strings.Contains(strings.Join(r.Argv, " "), value) {
						return s, p.rig.Env.Server(2), value
					}
				}
			}
		}
		must(t, p.rig.Env.Server(2).ResumeGlusterd())
		p.applied(t, soon, key, value)
	}
	t.Fatal("no command could be held up in ten tries")
	return nil, nil, ""
}

// commandKilled kills the gluster command on its server while it hangs. It
// commits when the stopped peer wakes, long after it is gone.
func (p *pool) commandKilled(t *testing.T) {
	p.converged(t)
	const key = "performance.high-prio-threads"
	origin, stopped, value := p.hold(t, key)
	n, err := origin.Signal(syscall.SIGKILL, isGluster)
	must(t, err)
	if n == 0 {
		t.Error("no gluster command was killed")
	}
	// The operator has seen the end of it before the peer wakes.
	p.doubt(t, key)
	must(t, stopped.ResumeGlusterd())
	p.applied(t, late, key, value)
	p.settled(t)
	p.ended(t)
	p.setOnce(t, key, value)
}

// doubt waits until the outcome of an option's step is in doubt.
func (p *pool) doubt(t *testing.T, key string) {
	t.Helper()
	_, err := p.op.AwaitView(t.Context(), soon, func(v *rig.View) string {
		for _, op := range v.Open() {
			for i := range op.Steps {
				if s := &op.Steps[i]; strings.Contains(string(s.Params), key) && s.State == view.Unknown {
					return ""
				}
			}
		}
		return "no step of " + key + " is in doubt"
	})
	must(t, err)
}

// setOnce checks that an option was given a value once.
func (p *pool) setOnce(t *testing.T, key, value string) {
	t.Helper()
	words := fmt.Sprintf("volume set %s %s %s", volumeName, key, value)
	if n := count(p.changes(t), words); n != 1 {
		t.Errorf("%q was carried out %d times, want once", words, n)
	}
}

// connectionKilled ends the ssh connections under a command. It goes on, and
// what became of it is learnt from its receipt.
func (p *pool) connectionKilled(t *testing.T) {
	p.converged(t)
	const key = "performance.normal-prio-threads"
	origin, stopped, value := p.hold(t, key)
	n, err := origin.KillSSHSessions()
	must(t, err)
	if n == 0 {
		t.Error("there was no ssh session to kill")
	}
	p.doubt(t, key)
	must(t, stopped.ResumeGlusterd())
	p.applied(t, late, key, value)
	p.settled(t)
	p.ended(t)
	p.setOnce(t, key, value)
}

// lateCommit kills the operator right before it sends `volume create`, and
// sends the command in its place, as if it had been on its way: a peer is
// stopped, the command hangs and is killed. The next operator must not undo or
// repeat what lands later.
func (p *pool) lateCommit(t *testing.T) {
	p.converged(t)
	ctx := within(t, late)
	const name = "second"
	p.op.Stop()
	v := rig.Replicated(namespace, cluster, name, 1)
	must(t, p.rig.Client.Create(ctx, v))
	p.op.Env = []string{crash.EnvAt + "=executor.after-intent/create-volume/create-volume@1#1"}
	must(t, p.op.Start())
	if code, err := p.op.Wait(ctx); err != nil || code != -1 {
		t.Fatalf("the operator ended with %d, %v; want it killed", code, err)
	}
	p.op.Env = nil
	op, step := p.started(t, planner.KindCreateVolume, name)
	origin := p.serverOf(t, step.Start.Originator)
	other := p.rig.Env.Server(2)
	if other.Name() == origin.Name() {
		other = p.rig.Env.Server(3)
	}
	must(t, other.PauseGlusterd())
	_, owner, err := owner(ctx, origin)
	must(t, err)
	sent := make(chan error, 1)
	go func() {
		c := gate.NewClient(onServer{origin}, op.Plan.Scope, owner.Instance, func() uint64 { return step.Start.Fence })
		_, _, err := c.Run(ctx, gate.Command{Argv: step.Start.Argv, Attempt: step.Start.AttemptID, Deadline: 2 * time.Minute})
		sent <- err
	}()
	// Killed as soon as it hangs.
	must(t, eventually(ctx, func() error {
		n, err := origin.Signal(syscall.SIGKILL, func(p local.Process) bool {
			return isGluster(p) && strings.Contains(strings.Join(p.Argv, " "), "create")
		})
		if err == nil && n == 0 {
			err = errors.New("the command does not run yet")
		}
		return err
	}))
	<-sent
	p.start(t)
	_, err = p.op.AwaitView(ctx, soon, func(v *rig.View) string {
		if v.Epoch() > step.StartedIn {
			return ""
		}
		return "no epoch has been opened"
	})
	must(t, err)
	must(t, other.ResumeGlusterd())
	must(t, p.rig.AwaitConverged(ctx, late, v))
	p.settled(t)
	p.ended(t)
	if n := count(p.changes(t), "volume create "+name); n != 1 {
		t.Errorf("volume create was carried out %d times, want once", n)
	}
}

// started finds the operation of a kind for a volume, and its step under way.
func (p *pool) started(t *testing.T, kind, volume string) (*view.Op, *view.Step) {
	t.Helper()
	v, err := p.op.View(t.Context())
	must(t, err)
	for _, op := range v.Open() {
		if k := op.Current(); op.Plan.Kind == kind && op.Plan.Target == "volume/"+volume && k < len(op.Steps) && op.Steps[k].Start != nil {
			return op, &op.Steps[k]
		}
	}
	t.Fatalf("no %s of %s is under way", kind, volume)
	return nil, nil
}

// serverOf is the server of a node.
func (p *pool) serverOf(t *testing.T, node string) *local.Server {
	t.Helper()
	var n int
	if _, err := fmt.Sscanf(node, "node-%d", &n); err != nil {
		t.Fatalf("node %q: %v", node, err)
	}
	return p.rig.Env.Server(n)
}

// eventually tries until f succeeds.
func eventually(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
