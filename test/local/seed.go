package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gluster/anthill/test/atomicfile"
)

// glusterdDir is glusterd's working folder.
const glusterdDir = "/var/lib/glusterd"

// SeedPeer makes the server believe that it has a peer of the given UUID and
// name, as a server does that was taken from another pool without being
// cleaned. glusterd is restarted for it.
func (s *Server) SeedPeer(ctx context.Context, uuid, hostname string) error {
	return s.reseed(ctx, func(dir string) error {
		if err := os.MkdirAll(filepath.Join(dir, "peers"), 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("uuid=%s\nstate=3\nhostname1=%s\n", uuid, hostname)
		return atomicfile.Write(filepath.Join(dir, "peers", uuid), []byte(text), 0o600)
	})
}

// SeedUUID gives the server another UUID, or the one of another server, as a
// cloned machine image does. glusterd is restarted for it.
func (s *Server) SeedUUID(ctx context.Context, uuid string) error {
	return s.reseed(ctx, func(dir string) error {
		text := fmt.Sprintf("UUID=%s\noperating-version=100000\n", uuid)
		return atomicfile.Write(filepath.Join(dir, "glusterd.info"), []byte(text), 0o600)
	})
}

// reseed changes glusterd's files while it is down.
func (s *Server) reseed(ctx context.Context, change func(dir string) error) error {
	if err := s.StopGlusterd(ctx); err != nil {
		return err
	}
	if err := change(filepath.Join(s.Root(), glusterdDir)); err != nil {
		return fmt.Errorf("seeding the state of %s: %w", s.name, errors.Join(err, s.StartGlusterd(ctx)))
	}
	return s.StartGlusterd(ctx)
}

// Wipe takes a server that is down back to a fresh one: new root file system,
// new brick file systems, same name, address and ssh host key. It resolves the
// environment's names.
func (s *Server) Wipe(ctx context.Context) error {
	if s.Running() {
		return fmt.Errorf("wiping %s: it is running", s.name)
	}
	ssh := filepath.Join(s.Root(), "etc/ssh")
	keep := filepath.Join(s.Dir(), "ssh-kept")
	if err := errors.Join(os.RemoveAll(keep), copyTree(ssh, keep)); err != nil {
		return fmt.Errorf("wiping %s: %w", s.name, err)
	}
	errs := []error{removeTree(s.Root()), removeTree(filepath.Join(s.Dir(), "usr-local-lib"))}
	for _, d := range s.disks {
		errs = append(errs, os.Remove(d.Image))
	}
	errs = append(errs, copyTree(keep, ssh), os.RemoveAll(keep))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("wiping %s: %w", s.name, err)
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	return s.SetHosts()
}
