package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gluster/anthill/executor/gluster"
)

// withID answers with the volume's name and id inside an element.
func withID(element, name, id string) func(*doc) {
	return func(d *doc) {
		d.in(element, func() {
			d.in("volume", func() {
				d.el("name", name)
				d.el("id", id)
			})
		})
	}
}

func failedBare(errno int, text string) gluster.Output { return reply(-1, errno, text, nil) }

func quorumText() string { return "Quorum not met. Volume operation not allowed." }

// parseLayout reads what stands between the name and the bricks.
func (c *call) parseLayout() (*volume, []string, string) {
	v := &volume{Name: c.arg(2), Status: gluster.VolumeCreated, Replica: 1}
	at := 3
	count := func() int {
		n, err := strconv.Atoi(c.arg(at + 1))
		if err != nil {
			n = -1
		}
		at += 2
		return n
	}
	data := 0
	for at < len(c.words) {
		switch c.words[at] {
		case "replica":
			v.Replica = count()
		case "arbiter":
			v.Arbiter = count()
		case "disperse":
			v.Disperse = count()
		case "disperse-data":
			data = count()
		case "redundancy":
			v.Redundancy = count()
		case "transport":
			at += 2
		default:
			if data > 0 {
				v.Disperse = data + v.Redundancy
			}
			if v.Arbiter == 1 && v.Replica == 2 { // the two ways to say the same
				v.Replica = 3
			}
			bad := v.Replica < 1 || v.Arbiter < 0 || v.Disperse < 0 || v.Redundancy < 0
			if bad || v.Name == gluster.AllVolumes {
				return nil, nil, "wrong count or name"
			}
			return v, c.words[at:], ""
		}
	}
	return nil, nil, "no bricks"
}

func (c *call) create(ctx context.Context) (gluster.Output, error) {
	v, rest, bad := c.parseLayout()
	if bad != "" {
		return usage(bad), nil
	}
	if v.Bricks, bad = c.parseBricks(rest); bad != "" {
		return usage(bad), nil
	}
	v.ID = c.p.newID()
	v.Options = map[string]string{
		"storage.fips-mode-rchecksum": "on", "transport.address-family": "inet", "nfs.disable": "on",
	}
	if v.Replica > 1 {
		v.Options["cluster.granular-entry-heal"] = "on"
		v.Options["performance.client-io-threads"] = "off"
	}
	o := op{lock: v.Name, syncop: true, failed: failedBare}
	o.stage = func(s *server, origin bool) string {
		if s.Mem.Volumes[v.Name] != nil {
			return fmt.Sprintf("Volume %s already exists", v.Name)
		}
		if origin {
			c.place(s, v.Bricks)
			if text := crowded(v); text != "" {
				return text
			}
		}
		if text := c.stageBricks(s, v, v.Bricks); text != "" {
			return text
		}
		if origin && len(v.Bricks)%v.setSize() != 0 {
			return "Failed to create volume files"
		}
		return ""
	}
	o.commit = func(s *server) { s.Mem.Volumes[v.Name] = v.clone() }
	o.store = func(s *server) { s.storeVolume(s.Mem.Volumes[v.Name]) }
	o.done = func() gluster.Output { return reply(0, 0, "", withID("volCreate", v.Name, v.ID)) }
	return c.transact(ctx, o)
}

// named makes the op of a command on an existing volume; stage and commit see
// the volume of the server they run on.
func (c *call) named(syncop bool, stage func(*server, *volume, bool) string, commit func(*server, *volume)) op {
	name := c.arg(2)
	o := op{lock: name, syncop: syncop, failed: failedBare}
	o.stage = func(s *server, origin bool) string {
		v := s.Mem.Volumes[name]
		if v == nil {
			return fmt.Sprintf("Volume %s does not exist", name)
		}
		if origin && c.p.quorumLost(s, name) {
			return quorumText()
		}
		return stage(s, v, origin)
	}
	o.commit = func(s *server) {
		if v := s.Mem.Volumes[name]; v != nil {
			commit(s, v)
		}
	}
	o.store = func(s *server) {
		if v := s.Mem.Volumes[name]; v != nil {
			s.storeVolume(v)
		}
	}
	return o
}

func (c *call) volumeID() string {
	if c.s.Mem != nil {
		if v := c.s.Mem.Volumes[c.arg(2)]; v != nil {
			return v.ID
		}
	}
	return ""
}

func (c *call) start(ctx context.Context) (gluster.Output, error) {
	force := slices.Contains(c.words[min(3, len(c.words)):], "force")
	id := c.volumeID()
	o := c.named(false, func(s *server, v *volume, _ bool) string {
		if v.started() && !force {
			return fmt.Sprintf("Volume %s already started", v.Name)
		}
		return s.checkMarks(v, force)
	}, func(s *server, v *volume) {
		v.Status = gluster.VolumeStarted
		c.p.startBricks(s, v)
	})
	o.done = func() gluster.Output { return reply(0, 0, "", withID("volStart", c.arg(2), id)) }
	return c.transact(ctx, o)
}

// checkMarks checks the brick directories of a volume before a start. With
// force a missing directory is passed over, a foreign one is not (LAB-21, F13).
func (s *server) checkMarks(v *volume, force bool) string {
	for _, b := range v.on(s.Mem.UUID) {
		d := s.FS.Dirs[b.Path]
		switch {
		case d == nil && !force:
			return fmt.Sprintf("Failed to find brick directory %s for volume %s. Reason : No such file or directory", b.Path, v.Name)
		case d == nil:
		case d.VolumeID == "" && !force:
			return fmt.Sprintf("Failed to get extended attribute trusted.glusterfs.volume-id for brick dir %s. Reason : No data available", b.Path)
		case d.VolumeID != "" && d.VolumeID != v.ID:
			return fmt.Sprintf("Volume id mismatch for brick %s. Expected volume id %s, volume id %s found", b, v.ID, d.VolumeID)
		}
	}
	return ""
}

func (c *call) stop(ctx context.Context) (gluster.Output, error) {
	id := c.volumeID()
	o := c.named(false, func(s *server, v *volume, _ bool) string {
		if !v.started() {
			return fmt.Sprintf("Volume %s is not in the started state", v.Name)
		}
		if c.p.rebalancing(v) {
			return fmt.Sprintf("rebalance session is in progress for the volume '%s'", v.Name)
		}
		return ""
	}, func(s *server, v *volume) {
		v.Status = gluster.VolumeStopped
		s.stopBricks(v)
	})
	o.done = func() gluster.Output { return reply(0, 0, "", withID("volStop", c.arg(2), id)) }
	return c.transact(ctx, o)
}

func (c *call) delete(ctx context.Context) (gluster.Output, error) {
	id, name := c.volumeID(), c.arg(2)
	o := c.named(true, func(s *server, v *volume, _ bool) string {
		if v.started() {
			return fmt.Sprintf("Volume %s has been started.Volume needs to be stopped before deletion.", v.Name)
		}
		for _, e := range s.Mem.Peers {
			if !c.p.sees(s, e) {
				return "Some of the peers are down"
			}
		}
		return ""
	}, func(s *server, v *volume) {
		s.stopBricks(v)
		delete(s.Mem.Volumes, v.Name)
	})
	o.store = func(s *server) { delete(s.Disk.Volumes, name) }
	o.done = func() gluster.Output { return reply(0, 0, "", withID("volDelete", name, id)) }
	return c.transact(ctx, o)
}

func (c *call) addBrick(ctx context.Context) (gluster.Output, error) {
	fresh, bad := c.parseBricks(c.words[min(3, len(c.words)):])
	if bad != "" {
		return usage(bad), nil
	}
	failed := func(errno int, text string) gluster.Output {
		return reply(-1, errno, text, withOutput("volAddBrick", text))
	}
	name := c.arg(2)
	v := c.s.memVolume(name)
	switch {
	case v == nil:
		text := fmt.Sprintf("Unable to get volinfo for volume name %s", name)
		c.history(false, text)
		return failed(0, text), nil
	case len(fresh)%v.setSize() != 0:
		text := fmt.Sprintf("Incorrect number of bricks supplied %d with count %d", len(fresh), v.setSize())
		c.history(false, text)
		return failed(0, text), nil
	}
	o := c.named(false, func(s *server, v *volume, origin bool) string {
		if origin {
			c.place(s, fresh)
			w := v.clone()
			w.Bricks = fresh
			if text := crowded(w); text != "" {
				return text
			}
		}
		if c.p.rebalancing(v) {
			return fmt.Sprintf("Volume name %s rebalance is in progress. Please retry after completion", v.Name)
		}
		return c.stageBricks(s, v, fresh)
	}, func(s *server, v *volume) {
		v.Bricks = append(slices.Clone(v.Bricks), fresh...)
		if v.started() {
			c.p.startBricks(s, v)
		}
	})
	o.failed = failed
	o.done = func() gluster.Output { return reply(0, 0, "", withOutput("volAddBrick", "Add Brick successful")) }
	return c.transact(ctx, o)
}

func (s *server) memVolume(name string) *volume {
	if s.Mem == nil {
		return nil
	}
	return s.Mem.Volumes[name]
}
