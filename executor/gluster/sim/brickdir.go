package sim

import (
	"fmt"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

// parseBricks reads the bricks at the end of a command.
func (c *call) parseBricks(words []string) ([]brick, string) {
	var out []brick
	seen := map[string]bool{}
	for _, w := range words {
		b, err := gluster.ParseBrick(w)
		if err != nil {
			return nil, "Wrong brick type: " + w + ", use <HOSTNAME>:<export-dir-abs-path>"
		}
		if seen[w] {
			return nil, "Found duplicate exports " + w
		}
		seen[w] = true
		out = append(out, brick{Host: b.Host, Path: strings.TrimRight(b.Path, "/")})
	}
	if len(out) == 0 {
		return nil, "no bricks"
	}
	return out, ""
}

// place finds out which member each brick is on, as the originator sees it.
func (c *call) place(s *server, bricks []brick) string {
	for i := range bricks {
		b := &bricks[i]
		if c.p.resolve(b.Host) == s {
			b.UUID = c.p.ownUUID(s)
			continue
		}
		e := s.Mem.peerNamed(b.Host)
		if e == nil {
			if at := c.p.resolve(b.Host); at != nil && at.Disk.UUID != "" {
				e = s.Mem.peer(at.Disk.UUID)
			}
		}
		if e != nil {
			b.UUID = e.UUID
		}
	}
	return ""
}

// crowded is glusterd's own check that no set has two bricks on one server.
func crowded(v *volume) string {
	size, kind := v.setSize(), "replicate"
	if v.Disperse > 0 {
		kind = "disperse"
	}
	if size == 1 {
		return ""
	}
	for i := 0; i+size <= len(v.Bricks); i += size {
		on := map[string]bool{}
		for _, b := range v.Bricks[i : i+size] {
			if b.UUID != "" && on[b.UUID] {
				return fmt.Sprintf("Multiple bricks of a %s volume are present on the same server. This setup is not optimal. "+
					"Bricks should be on different nodes to have best fault tolerant configuration. "+
					"Use 'force' at the end of the command if you want to override this behavior. ", kind)
			}
			on[b.UUID] = true
		}
	}
	return ""
}

// stageBricks checks new bricks in order: hosts first come first, and each
// directory of this server gets the volume's mark on the way (LAB-3).
func (c *call) stageBricks(s *server, v *volume, bricks []brick) string {
	for _, b := range bricks {
		if b.UUID != s.Mem.UUID {
			e := s.Mem.peer(b.UUID)
			switch {
			case b.UUID == "" || e == nil || e.State != gluster.PeerInCluster:
				if c.key() == "volume add-brick" {
					return "Pre-validation failed on localhost. Please check log file for details"
				}
				return fmt.Sprintf("Host %s is not in 'Peer in Cluster' state", b.Host)
			case !c.p.sees(s, e):
				return fmt.Sprintf("Host %s not connected", b.Host)
			}
			continue
		}
		if text := s.mark(v, b); text != "" {
			return text
		}
	}
	return ""
}

// mark makes a brick directory and puts the volume's id on it.
func (s *server) mark(v *volume, b brick) string {
	for _, name := range s.Mem.names() {
		for _, o := range s.Mem.Volumes[name].on(s.Mem.UUID) {
			if within(o.Path, b.Path) || within(b.Path, o.Path) {
				return fmt.Sprintf("Brick: %s not available. Brick may be containing or be contained by an existing brick.", b)
			}
		}
	}
	mountPoint, r := s.FS.rootOf(b.Path)
	if !s.FS.has(b.Path) {
		reason := ""
		switch {
		case !s.FS.has(parent(b.Path)):
			reason = "No such file or directory"
		case r != nil && r.ReadOnly:
			reason = "Read-only file system"
		}
		if reason != "" {
			return fmt.Sprintf("Failed to create brick directory for brick %s. Reason : %s ", b, reason)
		}
		s.FS.Dirs[b.Path] = &dir{}
	}
	switch {
	case b.Path == mountPoint:
		return fmt.Sprintf("The brick %s is a mount point. Please create a sub-directory under the mount point and use that as the brick directory. "+
			"Or use 'force' at the end of the command if you want to override this behavior.", b)
	case r == nil:
		return fmt.Sprintf("The brick %s is being created in the root partition. It is recommended that you don't use the system's root partition for storage backend. "+
			"Or use 'force' at the end of the command if you want to override this behavior.", b)
	}
	for at := parent(b.Path); at != "/"; at = parent(at) {
		if d := s.FS.Dirs[at]; d != nil && d.VolumeID != "" {
			return fmt.Sprintf("parent directory %s is already part of a volume", at)
		}
	}
	d := s.FS.Dirs[b.Path]
	if d.VolumeID != "" {
		return fmt.Sprintf("%s is already part of a volume", b.Path)
	}
	if r.ReadOnly {
		return fmt.Sprintf("Glusterfs is not supported on brick: %s.\nSetting extended attributes failed, reason: Read-only file system.", b)
	}
	d.VolumeID, d.Skeleton = v.ID, true
	return ""
}
