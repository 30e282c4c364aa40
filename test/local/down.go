package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/filelock"
	"github.com/gluster/anthill/test/loop"
)

// loopsEndMax bounds the wait for the kernel to let go of loop devices.
const loopsEndMax = 30 * time.Second

// Down takes down the environment of cfg, of which only Checkout and Instance
// matter, whatever state it is in: up, half up, half down, or killed. It is no
// error when there is none. Nothing is left: processes, mounts, loop devices,
// links, files.
func Down(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	return newEnv(cfg).Down(ctx)
}

// Down takes the environment down. See the function Down.
func (e *Env) Down(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	l, err := filelock.Take(ctx, e.lockFile())
	if err != nil {
		return fmt.Errorf("environment %s is being changed by another program: %w", e.net.id, err)
	}
	if err := e.down(ctx); err != nil {
		l.Release()
		return fmt.Errorf("taking down environment %s: %w", e.net.id, err)
	}
	l.Remove()
	os.Remove(baseDir) // only when no other environment is left
	return nil
}

// down does what Down does, under the environment's lock. It goes by the state
// file and by what carries the environment's id or lies in its folder; the
// state file goes last, so that a killed run can be repeated.
func (e *Env) down(ctx context.Context) error {
	s := loadState(e.stateFile())
	if s != nil {
		s.Phase = phaseStopping
		if err := s.store(e.stateFile()); err != nil {
			return err
		}
		if err := killRecorded(ctx, s); err != nil {
			return err
		}
	}
	errs := []error{e.net.down(ctx)}
	points, err := mountsBelow(e.dir)
	errs = append(errs, err)
	for _, point := range points {
		if err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
			errs = append(errs, fmt.Errorf("unmounting %q: %w", point, err))
		}
	}
	errs = append(errs, loop.AwaitFree(ctx, e.dir, loopsEndMax))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	e.mu.Lock()
	e.servers, e.APIServer = nil, nil
	e.mu.Unlock()
	return e.removeFiles()
}

// killRecorded ends all processes of the state, at the same time. Those of an
// earlier boot are gone, and their ids may be another's.
func killRecorded(ctx context.Context, s *state) error {
	boot, err := bootID()
	if err != nil || boot != s.Boot {
		return err
	}
	var jobs []func(context.Context) error
	for _, p := range s.Procs {
		jobs = append(jobs, p.kill)
	}
	// Not all(): one that cannot be killed must not spare the others.
	errs := make(chan error, len(jobs))
	for _, job := range jobs {
		go func() { errs <- job(ctx) }()
	}
	var out []error
	for range jobs {
		out = append(out, <-errs)
	}
	return errors.Join(out...)
}

// removeFiles removes the environment's folder, the state file last.
func (e *Env) removeFiles() error {
	entries, err := os.ReadDir(e.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the environment's files: %w", err)
	}
	for _, entry := range entries {
		if path := filepath.Join(e.dir, entry.Name()); path != e.stateFile() {
			if err := removeTree(path); err != nil {
				return err
			}
		}
	}
	return removeTree(e.dir)
}

// removeTree removes a folder unless something is mounted below it: what a
// mount shows is not ours to remove.
func removeTree(dir string) error {
	points, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	if len(points) > 0 {
		return fmt.Errorf("removing %q: %q is mounted there", dir, points[0])
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %q: %w", dir, err)
	}
	return nil
}
