package gate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// observe answers Observe: the files and processes of this server, and what
// glusterd says about itself if it answers.
func (g *gate) observe(ctx context.Context, req Request) (Reply, error) {
	rep, err := g.hello()
	if err != nil {
		return Reply{}, err
	}
	s := &ServerState{Glusterd: g.glusterd()}
	var wg sync.WaitGroup
	if s.Glusterd.Running {
		wg.Go(func() {
			state, err := g.getState(ctx)
			s.State = state
			if err != nil {
				s.StateErr = oneLine(err.Error())
			}
		})
	} else {
		s.StateErr = "glusterd is not running"
	}
	var version string
	wg.Go(func() { version = g.glusterVersion(ctx) })
	wg.Go(func() { s.Devices = g.devices(ctx) })
	err = g.local(req, s)
	wg.Wait()
	if err != nil {
		return Reply{}, err
	}
	s.Glusterd.Version = version
	rep.State = s
	return rep, nil
}

// local fills in what needs no glusterd.
func (g *gate) local(req Request, s *ServerState) error {
	var err error
	if s.Hostname, err = os.Hostname(); err != nil {
		return fmt.Errorf("reading the host name: %w", err)
	}
	if s.UUID, err = g.uuid(); err != nil {
		return err
	}
	if s.Peers, err = g.peers(); err != nil {
		return err
	}
	if s.Volumes, err = g.volumes(); err != nil {
		return err
	}
	if s.Bricks, err = g.bricks(); err != nil {
		return err
	}
	var st unix.Statfs_t
	if unix.Statfs(g.GlusterdDir, &st) == nil {
		s.FreeMeta = st.Bavail * uint64(st.Bsize)
	}
	dirs, err := g.registeredDirs()
	if err != nil {
		return err
	}
	table, err := mountTable()
	if err != nil {
		return err
	}
	for _, d := range dedupe(slices.Concat(dirs, req.Dirs)) {
		s.Mounts = append(s.Mounts, g.look(d, table))
	}
	return nil
}
