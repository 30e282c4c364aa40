package sim

import (
	"fmt"
	"maps"
)

// Mount mounts or unmounts a brick file system. What it holds is hidden while
// it is not mounted; the empty mount point is then on the root file system.
func (p *Pool) Mount(name, mountPoint string, mounted bool) error {
	var err error
	if e := p.on(name, "mounting", func(s *server) { err = s.mount(mountPoint, mounted) }); e != nil {
		return e
	}
	return err
}

func (s *server) mount(at string, mounted bool) error {
	r := s.FS.Roots[at]
	if r == nil {
		return fmt.Errorf("mounting %q on %s: no such file system", at, s.Name)
	}
	if r.Mounted == mounted {
		return nil
	}
	r.Mounted = mounted
	if mounted {
		maps.Copy(s.FS.Dirs, r.Hidden)
		r.Hidden = nil
		return nil
	}
	r.Hidden = map[string]*dir{}
	for path, d := range s.FS.Dirs {
		if within(path, at) {
			r.Hidden[path] = d
			delete(s.FS.Dirs, path)
		}
	}
	return nil
}

// ReadOnly makes a brick file system read-only, or writable again.
func (p *Pool) ReadOnly(name, mountPoint string, yes bool) error {
	var err error
	if e := p.on(name, "remounting", func(s *server) {
		if r := s.FS.Roots[mountPoint]; r != nil {
			r.ReadOnly = yes
			return
		}
		err = fmt.Errorf("remounting %q on %s: no such file system", mountPoint, name)
	}); e != nil {
		return e
	}
	return err
}

// SwapDisk puts another, empty file system at a mount point.
func (p *Pool) SwapDisk(name, mountPoint string) error {
	var err error
	if e := p.on(name, "swapping a disk", func(s *server) {
		r := s.FS.Roots[mountPoint]
		if r == nil {
			err = fmt.Errorf("swapping %q on %s: no such file system", mountPoint, name)
			return
		}
		for path := range s.FS.Dirs {
			if within(path, mountPoint) {
				delete(s.FS.Dirs, path)
			}
		}
		s.FS.Roots[mountPoint] = &root{FSUUID: p.newID(), Size: r.Size, Free: r.Size * 9 / 10, Mounted: true}
	}); e != nil {
		return e
	}
	return err
}

// MakeDir makes a directory with its parents, as mkdir -p does.
func (p *Pool) MakeDir(name, path string) error {
	return p.on(name, "making a directory", func(s *server) { s.FS.mkdirAll(path) })
}

// RemoveDir removes a directory with all below it, marks included.
func (p *Pool) RemoveDir(name, path string) error {
	return p.on(name, "removing a directory", func(s *server) {
		for at := range s.FS.Dirs {
			if within(at, path) {
				delete(s.FS.Dirs, at)
			}
		}
	})
}

// Mark sets what a brick directory holds: the volume's id in its xattr and
// whether users' files are in it.
func (p *Pool) Mark(name, path, volumeID string, data bool) error {
	return p.on(name, "marking a directory", func(s *server) {
		s.FS.mkdirAll(path)
		s.FS.Dirs[path] = &dir{VolumeID: volumeID, Skeleton: volumeID != "" || data, Data: data}
	})
}

func (f *files) mkdirAll(path string) {
	for at := path; at != "/" && at != "."; at = parent(at) {
		if !f.has(at) {
			f.Dirs[at] = &dir{}
		}
	}
}

func parent(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}
