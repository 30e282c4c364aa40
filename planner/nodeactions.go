package planner

import (
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

// reachable: the server answers.
func (x ofNode) reachable() (outcome, error) {
	if n := x.n; !n.reachable {
		return untold("%s: %s", n.unreachable.reason, n.unreachable.message)
	}
	return holds("")
}

// identified: the server is the one it is taken for, and may be touched.
func (x ofNode) identified() (outcome, error) {
	if p := x.n.wrong; p != nil {
		return lacks("%s: %s", p.reason, p.message)
	}
	return holds("")
}

// gateCurrent: the gate of a server of ours is the one this operator brings
// along. One that is not ours yet gets it when it is prepared.
func (x ofNode) gateCurrent() (outcome, error) {
	n, want := x.n, x.s.Observed.GateDigest
	g := n.srv.Gate
	switch {
	case !n.known:
		return lacks("comes with preparing the node")
	case g.Installed && (g.Digest == want || want == ""):
		return holds("")
	}
	if why := busy(n.ops); why != "" {
		return lacks("%s", why)
	}
	for _, o := range n.ops {
		if o.counts() && o.end.Node != nil && o.end.Node.Gate == want {
			return lacks("%s is open", o.ref())
		}
	}
	difference := "the gate is missing"
	if g.Installed {
		difference = "the gate is another one than this operator's"
	}
	return x.want(draft{
		kind: KindInstallGate, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "gateCurrent", difference: difference,
		canonical: struct {
			From string `json:"from"`
			To   string `json:"to"`
		}{g.Digest, want},
		locks: []string{lockNode(n.name())},
		steps: []journal.Step{step("gate", StepInstallGate, journal.Retriable, NodeParams{Node: n.name()})},
		end:   EndState{Node: &NodeEnd{Name: n.name(), Gate: want}},
	})
}

// prepared: the server is this pool's.
func (x ofNode) prepared() (outcome, error) {
	n := x.n
	if n.claimed && !n.half() {
		return holds("")
	}
	if why := busy(n.ops); why != "" {
		return lacks("%s", why)
	}
	for _, o := range n.ops {
		if o.counts() && o.end.Node != nil && o.end.Node.Claimed {
			return lacks("%s is open", o.ref())
		}
	}
	switch {
	case n.podChanges():
		return untold("its pod is not as declared yet")
	case len(x.pool.members) == 0:
		return untold("the pool has no server yet")
	case x.pool.canon == nil:
		return untold("no glusterd of the pool answers")
	case n.known && !n.srv.Gate.Installed:
		return untold("needs the gate")
	}
	var members []Member
	for _, m := range x.pool.members {
		if m != n {
			members = append(members, m.asMember())
		}
	}
	difference := "the server is not this pool's"
	switch {
	case n.half():
		difference = "the server is this pool's and its glusterd has no identity yet"
	case n.known:
		difference = "the server has forgotten that it is this pool's"
	}
	return x.want(draft{
		kind: KindPrepareNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "nodePrepared", difference: difference,
		canonical: struct {
			Address string `json:"address"`
			Known   string `json:"known,omitempty"`
		}{n.address(), n.recorded},
		locks: []string{lockNode(n.name())},
		steps: x.prepareSteps(n, members),
		end:   EndState{Node: x.preparedEnd(n)},
	})
}

// dirsRegistered: every brick directory is on a file system of its own, and
// which one that is has been recorded (S12).
func (x ofNode) dirsRegistered() (outcome, error) {
	n := x.n
	var missing, broken, unseen []string
	for _, d := range n.dirs {
		switch {
		case d.state == v1alpha1.BrickDirReady:
		case d.broken():
			broken = append(broken, d.path+": "+d.why)
		case !d.registrable():
			unseen = append(unseen, d.path)
		default:
			missing = append(missing, d.path)
		}
	}
	for _, o := range n.ops {
		if o.counts() && o.end.Node != nil {
			missing = slices.DeleteFunc(missing, func(path string) bool { return slices.Contains(o.end.Node.Dirs, path) })
		}
	}
	switch why := busy(n.ops); {
	case len(missing) > 0 && why != "":
		return lacks("%s", why)
	case len(missing) > 0:
		slices.Sort(missing)
		return x.want(draft{
			kind: KindPrepareNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
			action: "brickDirsRegistered", difference: "brick directories are not registered: " + listed(missing),
			canonical: struct {
				Dirs []string `json:"dirs"`
			}{missing},
			locks: []string{lockNode(n.name())},
			steps: append(x.deviceSteps(n, missing), step("dirs", StepRegisterDirs, journal.Retriable, DirsParams{Node: n.name(), Dirs: missing})),
			end:   EndState{Node: &NodeEnd{Name: n.name(), Dirs: missing}},
		})
	case len(broken) > 0:
		return lacks("%s", listed(broken))
	case len(unseen) > 0:
		return untold("not seen: %s", listed(unseen))
	}
	for _, d := range n.dirs {
		if d.state != v1alpha1.BrickDirReady {
			return lacks("being registered")
		}
	}
	return holds("")
}

// joined: the server is a member of the pool.
func (x ofNode) joined() (outcome, error) {
	n := x.n
	if n.member {
		return holds("")
	}
	if why := busy(n.ops); why != "" {
		return lacks("%s", why)
	}
	if o := of(n.ops, KindJoinNode); o != nil {
		return lacks("%s is open", o.ref())
	}
	switch p := x.held(); {
	case len(x.pool.members) == 0:
		return untold("the pool has no server yet")
	case !n.glusterd():
		return untold("glusterd does not answer: %s", n.srv.ViewErr)
	case n.srv.UUID == "":
		return untold("glusterd has no UUID yet")
	case p != nil && p.reason != "":
		return lacks("not joined now: %s", p.message)
	}
	seed := x.seed()
	if seed == nil {
		return untold("no member answers that could be asked to take it in")
	}
	return x.want(draft{
		kind: KindJoinNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "nodeJoined", difference: n.address() + " is not a peer",
		canonical: struct {
			Address string `json:"address"`
		}{n.address()},
		locks: []string{lockPool, lockNode(n.name())},
		steps: joinSteps(n, seed, len(x.pool.members) == 1),
		end:   EndState{Node: &NodeEnd{Name: n.name(), UUID: n.srv.UUID, Joined: true}},
	})
}

// seed is the member that takes others in: the first by name that is connected.
func (c *cycle) seed() *node {
	for _, m := range c.pool.members {
		if m.steady {
			return m
		}
	}
	return nil
}

// joinSteps take a server in. Into a pool of one, it probes the first server
// back: whoever joins such a pool knows that server only by whatever name the
// connection came from.
func joinSteps(n, seed *node, first bool) []journal.Step {
	p := JoinParams{Seed: seed.asMember(), Node: n.name(), Address: n.address(), UUID: n.srv.UUID}
	steps := []journal.Step{
		step("probe", StepPeerProbe, journal.Pivot, p),
		step("settled", StepPeerSettled, journal.Waiting, p),
	}
	if first {
		steps = append(steps,
			step("back", StepProbeBack, journal.Retriable, ProbeBackParams{Node: n.name(), First: seed.asMember(), UUID: seed.uuid}),
			step("settledBack", StepPeerSettled, journal.Waiting, p))
	}
	return steps
}
