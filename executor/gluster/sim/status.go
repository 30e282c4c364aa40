package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gluster/anthill/executor/gluster"
)

func (c *call) volumeList() gluster.Output {
	return reply(0, 0, "", func(d *doc) {
		d.in("volList", func() {
			d.el("count", len(c.s.Mem.Volumes))
			for _, n := range c.s.Mem.names() {
				d.el("volume", n)
			}
		})
	})
}

var volumeStatusNumbers = map[gluster.VolumeStatus]int{gluster.VolumeCreated: 0, gluster.VolumeStarted: 1, gluster.VolumeStopped: 2}

func (c *call) volumeInfo() gluster.Output {
	names := c.s.Mem.names()
	if n := c.arg(2); n != "" && n != gluster.AllVolumes {
		if c.s.Mem.Volumes[n] == nil {
			return reply(-1, 30806, "Volume does not exist", func(d *doc) {
				d.in("volInfo", func() { d.in("volumes", func() { d.el("count", 0) }) })
			})
		}
		names = []string{n}
	}
	return reply(0, 0, "", func(d *doc) {
		d.in("volInfo", func() {
			d.in("volumes", func() {
				for _, n := range names {
					d.in("volume", func() { c.s.Mem.Volumes[n].info(d) })
				}
				d.el("count", len(names))
			})
		})
	})
}

func (v *volume) info(d *doc) {
	name, number := v.typeName()
	d.el("name", v.Name)
	d.el("id", v.ID)
	d.el("status", volumeStatusNumbers[v.Status])
	d.el("statusStr", v.Status)
	d.el("snapshotCount", 0)
	d.el("brickCount", len(v.Bricks))
	d.el("distCount", v.sets())
	d.el("replicaCount", v.Replica)
	d.el("arbiterCount", v.Arbiter)
	d.el("disperseCount", v.Disperse)
	d.el("redundancyCount", v.Redundancy)
	d.el("type", number)
	d.el("typeStr", name)
	d.el("transport", 0)
	d.in("bricks", func() {
		for i, b := range v.Bricks {
			d.line(fmt.Sprintf(`<brick uuid="%s">%s<name>%s</name><hostUuid>%s</hostUuid><isArbiter>%d</isArbiter></brick>`,
				b.UUID, escape(b.String()), escape(b.String()), b.UUID, boolInt(v.arbiter(i))))
		}
	})
	d.el("optCount", len(v.Options))
	d.in("options", func() {
		for _, k := range slices.Sorted(maps.Keys(v.Options)) {
			d.in("option", func() {
				d.el("name", k)
				d.el("value", v.Options[k])
			})
		}
	})
}

func (c *call) volumeStatus(ctx context.Context) (gluster.Output, error) {
	fail := func(errno int, text string) gluster.Output {
		return reply(-1, errno, text, withOutput("volStatus", text))
	}
	if out, done, err := c.locked(ctx, fail); done {
		return out, err
	}
	names := []string{c.arg(2)}
	if c.arg(2) == "" || c.arg(2) == gluster.AllVolumes {
		names = nil
		for _, n := range c.s.Mem.names() {
			if c.s.Mem.Volumes[n].started() {
				names = append(names, n)
			}
		}
	} else if v := c.s.Mem.Volumes[c.arg(2)]; v == nil || !v.started() {
		text := fmt.Sprintf("Volume %s is not started", c.arg(2))
		if v == nil {
			text = fmt.Sprintf("Volume %s does not exist", c.arg(2))
		}
		c.history(false, text)
		return fail(errInternal, text), nil
	}
	c.history(true, "")
	detail := slices.Contains(c.words, "detail")
	return reply(0, 0, "", func(d *doc) {
		d.in("volStatus", func() {
			d.in("volumes", func() {
				for _, n := range names {
					d.in("volume", func() { c.statusOf(d, c.s.Mem.Volumes[n], detail) })
				}
			})
		})
	}), nil
}

func (c *call) statusOf(d *doc, v *volume, detail bool) {
	at := c.reachable()
	var bricks []brick
	for _, b := range v.Bricks {
		if at[b.UUID] != nil { // the others are left out (LAB-8)
			bricks = append(bricks, b)
		}
	}
	shd := v.healing() && !detail
	d.el("volName", v.Name)
	count := len(bricks)
	if shd {
		count += len(at)
	}
	d.el("nodeCount", count)
	for _, b := range bricks {
		s := at[b.UUID]
		d.in("node", func() {
			d.el("hostname", b.Host)
			d.el("path", b.Path)
			d.el("peerid", b.UUID)
			pr := s.online(b)
			if pr == nil {
				pr = &proc{PID: -1}
			}
			process(d, pr)
			if detail {
				brickDetail(d, s, b)
			}
		})
	}
	if shd {
		c.healDaemons(d, at)
	}
	if detail {
		return
	}
	if v.Task == nil {
		d.line("<tasks/>")
		return
	}
	d.in("tasks", func() {
		d.in("task", func() {
			d.el("type", "Rebalance")
			d.el("id", v.Task.ID)
			st := gluster.RebalanceCompleted
			if c.p.rebalancing(v) {
				st = gluster.RebalanceRunning
			}
			d.el("status", int(st))
			d.el("statusStr", statusWords[st])
		})
	})
}

// reachable are the members, by UUID, that answer the originator, itself among
// them.
func (c *call) reachable() map[string]*server {
	at := map[string]*server{c.s.Mem.UUID: c.s}
	for _, e := range c.s.members() {
		if b := c.p.byPeer(e); b != nil && connected(c.s, b) {
			at[e.UUID] = b
		}
	}
	return at
}

func (c *call) healDaemons(d *doc, at map[string]*server) {
	node := func(host, uuid string, pid int) {
		d.in("node", func() {
			d.el("hostname", "Self-heal Daemon")
			d.el("path", host)
			d.el("peerid", uuid)
			process(d, &proc{PID: pid, Alive: true})
		})
	}
	node("localhost", c.s.Mem.UUID, c.s.healPID())
	for _, e := range c.s.members() {
		if s := at[e.UUID]; s != nil {
			node(e.Host, e.UUID, s.healPID())
		}
	}
}

func (s *server) healPID() int { return 50 + s.Starts }

func process(d *doc, pr *proc) {
	port := "N/A"
	if pr.Port > 0 {
		port = fmt.Sprint(pr.Port)
	}
	d.el("status", boolInt(pr.Alive))
	d.el("port", port)
	d.in("ports", func() {
		d.el("tcp", port)
		d.el("rdma", "N/A")
	})
	d.el("pid", pr.PID)
}

func brickDetail(d *doc, s *server, b brick) {
	_, r := s.FS.rootOf(b.Path)
	if r == nil {
		r = &root{}
	}
	d.el("sizeTotal", r.Size)
	d.el("sizeFree", r.Free)
	d.el("device", "/dev/loop0")
	d.el("blockSize", 4096)
	d.el("mntOptions", "rw,relatime")
	d.el("fsName", "xfs")
	d.el("inodeSize", "xfs")
	d.el("inodesTotal", 204800)
	d.el("inodesFree", 204000)
}

// A Heal is what one brick says is to be healed on others.
type Heal struct{ Pending, SplitBrain int }

// SetHeal sets what a brick ("host:/path") of a volume counts; zero clears it.
func (p *Pool) SetHeal(volume, brick string, h Heal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.st.Heals[volume+" "+brick] = h
	p.changed()
}

func (c *call) healInfo() gluster.Output {
	fail := func(exit, errno int, text string) gluster.Output {
		d := &doc{}
		d.line(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
		d.in("cliOutput", func() {
			d.in("healInfo", func() { d.line("<bricks/>") })
			d.el("opRet", -1)
			d.el("opErrno", errno)
			d.el("opErrstr", text)
		})
		return gluster.Output{Exit: exit, Stdout: []byte(d.b.String())}
	}
	v := c.s.Mem.Volumes[c.arg(2)]
	switch {
	case c.arg(3) != "info":
		return usage("volume heal <VOLNAME> info")
	case v == nil:
		return fail(254, 2, fmt.Sprintf("Volume %s does not exist", c.arg(2)))
	case !v.healing():
		return fail(234, 22, fmt.Sprintf("This command is supported for only volumes of replicate/disperse type. Volume %s is not of type replicate/disperse", v.Name))
	case !v.started():
		return fail(251, 5, v.Name+": Not able to fetch volfile from glusterd")
	}
	d := &doc{}
	d.line(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
	d.in("cliOutput", func() {
		d.in("healInfo", func() {
			d.in("bricks", func() {
				for _, b := range v.Bricks {
					c.healBrick(d, v, b)
				}
			})
		})
		d.el("opRet", 0)
		d.el("opErrno", 0)
		d.el("opErrstr", "")
	})
	return gluster.Output{Stdout: []byte(d.b.String())}
}

// healBrick asks the brick itself, as a client.
func (c *call) healBrick(d *doc, v *volume, b brick) {
	s := c.p.resolve(b.Host)
	// A client that has no connection yet learns the port from the glusterd there.
	up := s != nil && s.online(b) != nil && s.Running && !s.Stopped && (s == c.s || linked(s, c.s))
	id := b.UUID
	if !up {
		id = "-"
	}
	d.in(fmt.Sprintf(`brick hostUuid="%s"`, id), func() {
		d.el("name", b)
		if !up {
			d.el("status", "Failed to process entries completely. (Transport endpoint is not connected)totalNumberOfEntries0")
			return
		}
		h := c.p.st.Heals[v.Name+" "+b.String()]
		d.el("status", "Connected")
		d.el("totalNumberOfEntries", h.Pending+h.SplitBrain)
		d.el("numberOfEntriesInHealPending", h.Pending)
		d.el("numberOfEntriesInSplitBrain", h.SplitBrain)
		d.el("numberOfEntriesPossiblyHealing", 0)
	})
}
