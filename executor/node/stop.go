package node

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// stop ends everything in this order, each with a part of the deadline: bricks
// and the other daemons of gluster, which close their sockets, so that clients
// turn to other copies at once; glusterd; whatever else runs; then the file
// systems are unmounted. worked returns when nothing is started any more.
func (n *node) stop(worked func()) {
	began := time.Now()
	until := func(percent int) time.Time { return began.Add(n.o.StopTimeout * time.Duration(percent) / 100) }
	n.o.Log.Info("node stops", "within", n.o.StopTimeout.String())
	if err := gate.RemoveTold(n.o.Gate); err != nil {
		n.o.Log.Error(err, "the gate may still format and mount")
	}
	var glusterd int
	if c := n.keeper.running(); c != nil {
		glusterd = c.pid
	}
	daemons := func(p process) bool { return p.pid != glusterd && (p.comm == "glusterfsd" || p.comm == "glusterfs") }
	n.end("bricks and daemons", daemons, until(50))
	n.end("glusterd", func(p process) bool { return p.pid == glusterd || p.comm == "glusterd" }, until(70))
	// What glusterd started while it was asked to end, and what others run here.
	n.end("other processes", func(process) bool { return true }, earlier(until(80), time.Now().Add(othersWait)))
	waited := make(chan struct{})
	go func() { worked(); close(waited) }()
	select {
	case <-waited:
	case <-time.After(time.Until(until(85))):
		// A mount that hangs: it ends with this container.
		n.o.Log.Info("a device hangs and is left behind")
	}
	n.unmount(until(95))
	n.o.Log.Info("node ended", "took", time.Since(began).Round(time.Millisecond).String())
}

// othersWait is what a shell somebody left open has to end, at most.
const othersWait = 3 * time.Second

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// endEvery is between looks at processes that are to end.
const endEvery = 20 * time.Millisecond

// killWait is what a killed process has to be gone, at most.
const killWait = 2 * time.Second

// end asks processes to end, all at once, and kills those that are left at the
// deadline.
func (n *node) end(what string, pick func(process) bool, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	asked := map[process]bool{}
	count := 0
	for {
		left := n.others(pick)
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			if !asked[p] { // also one that was born meanwhile
				asked[p] = true
				count++
				p.signal(syscall.SIGTERM)
			}
		}
		if !pause(ctx, endEvery) {
			n.kill(what, pick)
			break
		}
	}
	if count > 0 {
		n.o.Log.Info("ended "+what, "processes", count)
	}
}

// kill ends what did not end.
func (n *node) kill(what string, pick func(process) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), min(killWait, n.o.StopTimeout/10))
	defer cancel()
	for {
		left := n.others(pick)
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			p.signal(syscall.SIGKILL)
		}
		n.o.Log.Info("killed "+what+" that did not end in time", "processes", len(left))
		if !pause(ctx, 10*endEvery) {
			return
		}
	}
}

// others are the picked processes that run, without this one.
func (n *node) others(pick func(process) bool) []process {
	all, err := processes("/proc")
	if err != nil {
		n.o.Log.Error(err, "the processes of this pod are not known")
		return nil
	}
	var out []process
	for _, p := range all {
		if p.pid != os.Getpid() && pick(p) {
			out = append(out, p)
		}
	}
	return out
}
