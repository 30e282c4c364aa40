package planner

import (
	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

// bootstrapped: the pool has its first server.
func (c *cycle) bootstrapped() (outcome, error) {
	if len(c.pool.members) > 0 {
		return holds("%s", count(len(c.pool.members), "member"))
	}
	if o := c.openPool(); o != nil {
		return lacks("%s is open", o.ref())
	}
	for _, n := range c.nodes {
		if n.known && !n.half() {
			return untold("%s belongs to the pool and its glusterd does not answer", n.name())
		}
		if why := busy(n.ops); why != "" {
			return untold("%s", why)
		}
	}
	first := c.firstServer()
	if first == nil {
		return lacks("no server is fit to be the first one")
	}
	if !c.needPool() {
		return untold("no id for the pool")
	}
	return c.want(draft{
		kind: KindBootstrapPool, target: targetPool, object: clusterObject(c.cluster.Name), generation: c.cluster.Generation,
		action: "poolBootstrapped", difference: "the pool has no server; " + first.name() + " becomes the first one",
		canonical: struct {
			First string `json:"first"`
		}{first.name()},
		locks: []string{lockPool, lockNode(first.name())},
		steps: c.prepareSteps(first, nil),
		end:   EndState{Pool: true, Node: c.preparedEnd(first)},
	})
}

// podChanges reports whether a node that is not this pool's yet is to be another
// pod first: what it is prepared with would not be what it has then.
func (n *node) podChanges() bool {
	return n.pod != nil && !n.known && n.srv.Pod != nil && n.srv.Pod.Runs != n.pod.digest
}

// openPool is an open operation that gives the pool its first server.
func (c *cycle) openPool() *openOp {
	for _, o := range c.open {
		if o.counts() && o.end.Pool {
			return o
		}
	}
	return nil
}

// firstServer is the first by name that may be touched. One that is known to
// run glusterd is preferred over one where that is not known yet.
func (c *cycle) firstServer() *node {
	var second *node
	for _, n := range c.nodes {
		switch {
		case !n.usable() || n.podChanges():
		case !n.srv.Gate.Installed || n.glusterd():
			return n
		case second == nil:
			second = n
		}
	}
	return second
}

// prepareSteps make a server this pool's. Names are resolved among it and the
// members; brick directories that are known to be unfit are left out, and
// registered by an operation of their own once they are fit.
func (c *cycle) prepareSteps(n *node, members []Member) []journal.Step {
	steps := []journal.Step{step("gate", StepInstallGate, journal.Compensatable, NodeParams{Node: n.name()})}
	if len(members) > 0 {
		steps = append(steps, step("names", StepResolveNames, journal.Waiting, NamesParams{Members: append(members, n.asMember())}))
	}
	known := n.recorded
	if n.member {
		known = n.uuid // the pool itself tells that it is one of its own
	}
	steps = append(steps, step("claim", StepClaimServer, journal.Compensatable,
		ClaimParams{Node: n.name(), Address: n.address(), Known: known}))
	if dirs := preparedDirs(n); len(dirs) > 0 {
		steps = append(steps, c.deviceSteps(n, dirs)...)
		steps = append(steps, step("dirs", StepRegisterDirs, journal.Retriable, DirsParams{Node: n.name(), Dirs: dirs}))
	}
	return steps
}

// preparedDirs are the directories to register with a server: all but those
// that are seen to be unfit.
func preparedDirs(n *node) []string {
	var out []string
	for _, d := range n.dirs {
		if !d.broken() && !d.later && d.state != v1alpha1.BrickDirReady {
			out = append(out, d.path)
		}
	}
	return out
}

func (c *cycle) preparedEnd(n *node) *NodeEnd {
	return &NodeEnd{Name: n.name(), Gate: c.s.Observed.GateDigest, Claimed: true, Dirs: preparedDirs(n)}
}
