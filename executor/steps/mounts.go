package steps

import (
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// mounted checks the file system below every brick of a volume (S12).
func (s *sight) mounted(vol planner.Volume) error {
	for _, node := range sortedKeys(s.obs.Servers) {
		uuid := s.obs.Servers[node].UUID
		for _, brick := range vol.Bricks {
			if uuid == "" || brick.PeerUUID != uuid {
				continue
			}
			if err := s.mount(node, brick.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// rooted checks the file system below every planned brick. What was made there
// earlier is out of sight, not gone, while another one is mounted.
func (s *sight) rooted(p planner.BricksParams) error {
	for _, b := range p.Bricks {
		if err := s.mount(b.Node, b.Path(p.VolumeID)); err != nil {
			return err
		}
	}
	return nil
}

// mount checks that the registered directory a path is in is on the file system
// it was registered on. A disk that is away comes back, or a person says
// otherwise: the step is held back and has not failed.
func (s *sight) mount(node, path string) error {
	for _, m := range s.obs.Servers[node].Mounts {
		if below(path, m.Dir) && m.Registered && !m.Same {
			return executor.Errorf(executor.Transient, "BrickDirNotMounted", "%s on %s is not on the file system it was registered on: %s", m.Dir, node, m.Error)
		}
	}
	return nil
}

func below(path, dir string) bool {
	return len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}
