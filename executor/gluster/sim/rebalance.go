package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/gluster/anthill/executor/gluster"
)

// statusWords are the CLI's words for a rebalance, by number.
var statusWords = []string{"not started", "in progress", "stopped", "completed", "failed"}

// taskState is how a rebalance stands on a member, by the pool's clock.
func (p *Pool) taskState(v *volume, uuid string) gluster.RebalanceStatus {
	switch {
	case v.Task == nil || len(v.on(uuid)) == 0:
		return gluster.RebalanceNotStarted
	case v.Task.Lost[uuid]:
		return gluster.RebalanceCompleted // or so it says (LAB-10)
	case p.now().Sub(v.Task.Started) < v.Task.Plan.Takes:
		return gluster.RebalanceRunning
	}
	return gluster.RebalanceCompleted
}

// taskCounts are the counters of a member.
func (p *Pool) taskCounts(v *volume, uuid string) (files, lookups, failures, skipped uint64) {
	st := p.taskState(v, uuid)
	if st == gluster.RebalanceNotStarted || v.Task.Lost[uuid] {
		return 0, 0, 0, 0
	}
	t := v.Task
	if st == gluster.RebalanceCompleted || t.Plan.Takes <= 0 {
		return t.Plan.Files, t.Plan.Files * 3, t.Plan.Failures, t.Plan.Skipped
	}
	part := t.Plan.Files * uint64(p.now().Sub(t.Started)) / uint64(t.Plan.Takes)
	return part, part * 3, 0, 0
}

// rebalancing reports whether one runs anywhere.
func (p *Pool) rebalancing(v *volume) bool {
	for _, b := range v.Bricks {
		if p.taskState(v, b.UUID) == gluster.RebalanceRunning {
			return true
		}
	}
	return false
}

func (c *call) rebalanceStart(ctx context.Context) (gluster.Output, error) {
	if c.arg(3) != "start" {
		return usage("volume rebalance <VOLNAME> start"), nil
	}
	opElement := func(d *doc) { d.in("volRebalance", func() { d.el("op", 1) }) }
	id := c.p.newID()
	began, plan := c.p.now(), c.p.st.Rebalance
	o := c.named(false, func(_ *server, v *volume, _ bool) string {
		switch {
		case v.sets() < 2:
			return fmt.Sprintf("Volume %s is not a distribute volume or contains only 1 brick.\nNot performing rebalance", v.Name)
		case !v.started():
			return fmt.Sprintf("Volume %s needs to be started to perform rebalance", v.Name)
		case c.p.rebalancing(v):
			return fmt.Sprintf("Rebalance on %s is already started", v.Name)
		}
		return ""
	}, func(_ *server, v *volume) {
		v.Task = &task{ID: id, Started: began, Plan: plan}
	})
	// The task is kept apart from the volume's own file: no new version.
	o.store = func(s *server) {
		if v, d := s.Mem.Volumes[c.arg(2)], s.Disk.Volumes[c.arg(2)]; v != nil && d != nil {
			d.Task = v.clone().Task
		}
	}
	o.failed = func(errno int, text string) gluster.Output { return reply(-1, errno, text, opElement) }
	o.done = func() gluster.Output {
		return reply(0, 0, "", func(d *doc) {
			d.in("volRebalance", func() {
				d.el("task-id", id)
				d.el("op", 1)
			})
		})
	}
	return c.transact(ctx, o)
}

func (c *call) rebalanceStatus(ctx context.Context) (gluster.Output, error) {
	answer := func(errno int, text string) gluster.Output {
		return replyExit(1, -1, errno, text, withOutput("volRebalance", text))
	}
	if out, done, err := c.locked(ctx, answer); done {
		return out, err
	}
	fail := func(errno int, text string) gluster.Output {
		c.history(false, text)
		return answer(errno, text)
	}
	v := c.s.Mem.Volumes[c.arg(2)]
	switch {
	case v == nil:
		return fail(errInternal, fmt.Sprintf("Volume %s does not exist", c.arg(2))), nil
	case v.sets() < 2:
		return fail(errInternal, fmt.Sprintf("Volume %s is not a distribute volume or contains only 1 brick.\nNot performing rebalance", v.Name)), nil
	case v.Task == nil:
		return fail(errInternal, fmt.Sprintf("Rebalance not started for volume %s.", v.Name)), nil
	}
	c.history(true, "")
	type node struct{ host, uuid string }
	var nodes []node
	for _, e := range c.s.members() {
		if c.p.sees(c.s, e) && len(v.on(e.UUID)) > 0 {
			nodes = append(nodes, node{e.Host, e.UUID})
		}
	}
	if len(v.on(c.s.Mem.UUID)) > 0 {
		nodes = append(nodes, node{"localhost", c.s.Mem.UUID})
	}
	return reply(0, 0, "", func(d *doc) {
		d.in("volRebalance", func() {
			d.el("task-id", v.Task.ID)
			d.el("op", 3)
			d.el("nodeCount", len(nodes))
			var sum [4]uint64
			worst := gluster.RebalanceCompleted
			for _, n := range nodes {
				st := c.p.taskState(v, n.uuid)
				files, lookups, failures, skipped := c.p.taskCounts(v, n.uuid)
				for i, x := range []uint64{files, lookups, failures, skipped} {
					sum[i] += x
				}
				if st == gluster.RebalanceRunning {
					worst = st
				}
				d.in("node", func() {
					d.el("nodeName", n.host)
					d.el("id", n.uuid)
					rebalanceCounts(d, files, lookups, failures, skipped, st)
				})
			}
			d.in("aggregate", func() { rebalanceCounts(d, sum[0], sum[1], sum[2], sum[3], worst) })
		})
	}), nil
}

func rebalanceCounts(d *doc, files, lookups, failures, skipped uint64, st gluster.RebalanceStatus) {
	d.el("files", files)
	d.el("size", files*1000)
	d.el("lookups", lookups)
	d.el("failures", failures)
	d.el("skipped", skipped)
	d.el("status", int(st))
	d.el("statusStr", statusWords[st])
	d.el("runtime", "0.00")
}

// locked is the part of a read that takes the volume's lock: it is refused
// while somebody has it, and waits for a stopped peer.
func (c *call) locked(ctx context.Context, fail func(int, string) gluster.Output) (gluster.Output, bool, error) {
	names := []string{c.arg(2)}
	if c.arg(2) == gluster.AllVolumes || c.arg(2) == "" {
		names = c.s.Mem.names()
	}
	for _, n := range names {
		if c.p.locks[n] != nil {
			text := "Another transaction is in progress. Please try again after some time."
			if c.key() == "volume status" {
				text = fmt.Sprintf("Another transaction is in progress for %s. Please try again after some time.", n)
			}
			c.history(false, text)
			return fail(errBusy, text), true, nil
		}
	}
	if slices.ContainsFunc(c.s.members(), func(e *peer) bool {
		b := c.p.byPeer(e)
		return b != nil && b.Stopped && connected(c.s, b)
	}) {
		out, err := c.timeOut(ctx, nil)
		return out, true, err
	}
	return gluster.Output{}, false, nil
}
