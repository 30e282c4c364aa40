package local

import (
	"context"
	"errors"
	"syscall"
)

// A Component is a process of the environment on the host, with a log: etcd,
// say. Its name is unique in the environment.
type Component struct {
	env  *Env
	name string
}

// Component returns the component of that name, which need not run.
func (e *Env) Component(name string) Component { return Component{env: e, name: name} }

// Running tells whether its process is alive.
func (c Component) Running() bool { return c.env.load().Procs[c.name].alive() }

// LogFile is where its output goes.
func (c Component) LogFile() string { return c.env.logFile(c.name) }

// Kill ends it with SIGKILL.
func (c Component) Kill(ctx context.Context) error { return c.env.load().Procs[c.name].kill(ctx) }

// Start starts it, unless it runs. What mounts name is mounted for it only.
func (c Component) Start(ctx context.Context, argv []string, mounts ...Mounted) error {
	if c.Running() {
		return nil
	}
	return c.launch(ctx, argv, mounts)
}

func (c Component) launch(ctx context.Context, argv []string, mounts []Mounted) error {
	b := birth{
		role:  roleExec,
		argv:  c.name + " of environment " + c.env.net.id,
		log:   c.LogFile(),
		order: execOrder{Argv: argv, Env: machineEnv(), Dir: c.env.dir, Mounts: mounts},
		record: func(p proc) error {
			return c.env.change(func(s *state) error { s.Procs[c.name] = p; return nil })
		},
	}
	if len(mounts) > 0 {
		b.cloning = syscall.CLONE_NEWNS
	}
	if _, err := b.bear(ctx); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}
