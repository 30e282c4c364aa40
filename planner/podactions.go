package planner

import (
	"fmt"
	"slices"

	"github.com/gluster/anthill/journal"
)

// podRuns: the pod of a node that is one runs as declared. Another server is
// there without us.
func (x ofNode) podRuns() (outcome, error) {
	n := x.n
	if !n.cr.IsPod() {
		return holds("")
	}
	seen := n.srv.Pod
	if seen == nil {
		return untold("Kubernetes has not been asked yet")
	}
	if p := n.pod.wrong; p != nil {
		return lacks("%s: %s", p.reason, p.message)
	}
	if why := busy(n.ops); why != "" {
		return lacks("%s", why)
	}
	for _, o := range n.ops {
		if o.counts() && o.end.Node != nil && o.end.Node.Pod == n.pod.digest {
			return lacks("%s is open", o.ref())
		}
	}
	switch {
	case !seen.Declared:
		return x.makePod()
	case seen.Declares != n.pod.digest, seen.Runs != "" && seen.Runs != n.pod.digest:
		return x.restart()
	case !seen.Ready:
		return untold("%s: %s", seen.Reason, seen.Message)
	}
	return holds("")
}

// needPool gives the pool its identity, if it has none: operations are about a
// pool. It reports whether there is one.
func (c *cycle) needPool() bool {
	if c.poolID == "" && c.s.NewPoolID != "" {
		c.poolID = c.s.NewPoolID
		if c.idle == "" {
			c.out.PoolID = c.poolID
		}
	}
	return c.poolID != ""
}

func (x ofNode) makePod() (outcome, error) {
	n := x.n
	if !x.needPool() {
		return untold("no id for the pool")
	}
	p := x.podParams(n)
	steps := []journal.Step{step("service", StepMakeService, journal.Compensatable, ServiceParams{Cluster: x.cluster.Name})}
	if len(n.pod.claims) > 0 {
		steps = append(steps, step("claims", StepMakeClaims, journal.Compensatable, ClaimsParams{Node: n.name(), Claims: n.pod.claims}))
	}
	steps = append(steps, step("pod", StepMakePod, journal.Retriable, p), step("ready", StepPodReady, journal.Waiting, p))
	return x.want(draft{
		kind: KindPrepareNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "podRuns", difference: "the node has no pod",
		canonical: struct {
			Pod string `json:"pod"`
		}{n.pod.digest},
		locks: []string{lockNode(n.name())},
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: n.name(), Pod: n.pod.digest}},
	})
}

// restart brings a pod to what is declared now. If it may serve data that waits
// until nothing needs it, and only one at a time is restarted (S2). One that does
// not run takes nothing with it: it waits for nobody, since all others may be
// down for the same reason.
func (x ofNode) restart() (outcome, error) {
	n := x.n
	gated := n.member && n.srv.Pod.Running
	if why := x.turn(n, gated); why != "" {
		return lacks("%s", why)
	}
	if bad := x.outside(n); bad != nil {
		x.block(n.object(), bad)
		return lacks("%s: %s", bad.reason, bad.message)
	}
	p := x.podParams(n)
	var steps []journal.Step
	// A pod whose claims are not there would be gone, and none would come.
	if missing := n.missingClaims(); len(missing) > 0 {
		steps = append(steps, step("claims", StepMakeClaims, journal.Compensatable, ClaimsParams{Node: n.name(), Claims: missing}))
	}
	steps = append(steps, step("pod", StepMakePod, journal.Compensatable, p))
	locks := []string{lockNode(n.name())}
	if gated {
		// A glusterd that does not serve, perhaps for what its pod was declared
		// before, must not be in its own way.
		without := !n.srv.Pod.Ready
		if held := x.heldBy(func(m *node) bool { return !m.steady && !(without && m == n) }); held != nil {
			return lacks("not restarted now: %s", held.message)
		}
		locks = append(locks, lockPool)
		healed := HealedParams{Node: n.name(), UUID: n.uuid}
		before := healed
		before.Without = without
		steps = append(steps,
			step("healed", StepHealed, journal.Waiting, before),
			step("restart", StepRestartPod, journal.Pivot, p),
			step("ready", StepPodReady, journal.Waiting, p),
			step("healedAgain", StepHealed, journal.Waiting, healed))
	} else {
		steps = append(steps,
			step("restart", StepRestartPod, journal.Retriable, p),
			step("ready", StepPodReady, journal.Waiting, p))
	}
	return x.want(draft{
		kind: KindRestartNode, target: targetNode(n.name()), object: n.object(), generation: n.cr.Generation,
		action: "podRuns", difference: "the pod is not as declared now",
		canonical: struct {
			Pod  string `json:"pod"`
			From string `json:"from"`
		}{n.pod.digest, n.srv.Pod.UID},
		locks: locks,
		steps: steps,
		end:   EndState{Node: &NodeEnd{Name: n.name(), Pod: n.pod.digest}},
	})
}

// turn says what keeps a pod from being the next one: another restart of the same
// node, which must first be where this one may take its place; and, if it may
// serve data, one of any node.
func (c *cycle) turn(n *node, gated bool) string {
	for _, o := range c.open {
		if o.Plan.Kind == KindRestartNode && !o.gone && (gated || o.nodeName() == n.name()) && !o.yieldsTo(KindRestartNode, targetNode(n.name())) {
			return fmt.Sprintf("waits for %s to end: pods are restarted one at a time", o.ref())
		}
	}
	for i := range c.out.Plan {
		if gated && c.out.Plan[i].Plan.Kind == KindRestartNode {
			return "waits for its turn: pods are restarted one at a time"
		}
	}
	return ""
}

func (c *cycle) podParams(n *node) PodParams {
	return PodParams{Node: n.name(), Cluster: c.cluster.Name, PodSpec: n.pod.spec, Digest: n.pod.digest}
}

// deviceSteps prepare the devices below brick directories: with our file system
// where there is nothing, mounted.
func (c *cycle) deviceSteps(n *node, dirs []string) []journal.Step {
	var steps []journal.Step
	stage := journal.Pivot // the first that is formatted
	for _, d := range n.dirs {
		if d.device == "" || !slices.Contains(dirs, d.path) || (d.seen && d.mount.Error == "" && !d.pending) {
			continue
		}
		p := DeviceParams{Node: n.name(), Name: d.device, UUID: c.fsUUID(n, d.device)}
		steps = append(steps,
			step("format-"+d.device, StepFormatDevice, stage, p),
			step("mount-"+d.device, StepMountDevice, journal.Retriable, p))
		stage = journal.Retriable
	}
	return steps
}
