package planner

import (
	"fmt"

	"github.com/gluster/anthill/planner/procedure"
)

// The procedures: version 1 of the configuration of external servers. A new
// version is a new entry of these lists; nodes and volumes follow the version
// the cluster was taken over with.
//
//	poolIdentified <- poolBootstrapped <- nodesJoined
//	                                   <- viewsAgree <- clusterOptionsApplied
//	podRuns <- serverReachable <- serverIdentified <- gateCurrent
//	                                    <- nodePrepared <- brickDirsRegistered
//	                                                    <- nodeJoined
//	volumeIdentified <- volumeCreated <- setsComplete
//	                                  <- optionsApplied
//	                                  <- bricksOnline
type (
	outcome    = procedure.Outcome[Planned]
	clusterP   = procedure.Procedure[*cycle, Planned]
	nodeP      = procedure.Procedure[ofNode, Planned]
	volumeP    = procedure.Procedure[ofVolume, Planned]
	procedures struct {
		clusters *procedure.List[*cycle, Planned]
		nodes    *procedure.List[ofNode, Planned]
		volumes  *procedure.List[ofVolume, Planned]
	}
)

// ofNode and ofVolume are what the actions of a node and of a volume look at.
type ofNode struct {
	*cycle
	n *node
}

type ofVolume struct {
	*cycle
	v *volume
}

// known holds every procedure of this binary. It is immutable.
var known = must(newProcedures(nil))

// newProcedures builds the procedures. shuffle, if any, changes the order in
// which actions are listed, which must not make a difference.
func newProcedures(shuffle func(n int, swap func(i, j int))) (*procedures, error) {
	identified := action("poolIdentified", (*cycle).identified)
	bootstrapped := action("poolBootstrapped", (*cycle).bootstrapped, identified)
	agree := action("viewsAgree", (*cycle).agree, bootstrapped)
	cluster, err := version1(shuffle,
		identified, bootstrapped, agree,
		action("nodesJoined", (*cycle).joined, bootstrapped),
		action("clusterOptionsApplied", (*cycle).optionsApplied, agree),
	)
	if err != nil {
		return nil, fmt.Errorf("procedure of a cluster: %w", err)
	}

	runs := action("podRuns", ofNode.podRuns)
	reachable := action("serverReachable", ofNode.reachable, runs)
	ours := action("serverIdentified", ofNode.identified, reachable)
	prepared := action("nodePrepared", ofNode.prepared, ours)
	nodes, err := version1(shuffle,
		runs, reachable, ours, prepared,
		action("gateCurrent", ofNode.gateCurrent, ours),
		action("brickDirsRegistered", ofNode.dirsRegistered, prepared),
		action("nodeJoined", ofNode.joined, prepared),
	)
	if err != nil {
		return nil, fmt.Errorf("procedure of a node: %w", err)
	}

	told := action("volumeIdentified", ofVolume.identified)
	created := action("volumeCreated", ofVolume.created, told)
	volumes, err := version1(shuffle,
		told, created,
		action("setsComplete", ofVolume.complete, created),
		action("optionsApplied", ofVolume.optionsApplied, created),
		action("bricksOnline", ofVolume.bricksOnline, created),
	)
	if err != nil {
		return nil, fmt.Errorf("procedure of a volume: %w", err)
	}
	return lists(cluster, nodes, volumes)
}

func version1[S any](shuffle func(n int, swap func(i, j int)), actions ...*procedure.Action[S, Planned]) (*procedure.Procedure[S, Planned], error) {
	if shuffle != nil {
		shuffle(len(actions), func(i, j int) { actions[i], actions[j] = actions[j], actions[i] })
	}
	return procedure.New(1, 1, actions...)
}

func lists(cluster *clusterP, node *nodeP, volume *volumeP) (*procedures, error) {
	p := &procedures{}
	var err error
	if p.clusters, err = procedure.NewList(cluster); err != nil {
		return nil, err
	}
	if p.nodes, err = procedure.NewList(node); err != nil {
		return nil, err
	}
	p.volumes, err = procedure.NewList(volume)
	return p, err
}

func action[S any](name string, evaluate func(S) (outcome, error), requires ...*procedure.Action[S, Planned]) *procedure.Action[S, Planned] {
	return &procedure.Action[S, Planned]{Name: name, Evaluate: evaluate, Requires: requires}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("planner: %v", err))
	}
	return v
}

// What an action can find.

func holds(format string, args ...any) (outcome, error) {
	return outcome{Status: procedure.True, Message: fmt.Sprintf(format, args...)}, nil
}

func lacks(format string, args ...any) (outcome, error) {
	return outcome{Status: procedure.False, Message: fmt.Sprintf(format, args...)}, nil
}

func untold(format string, args ...any) (outcome, error) {
	return outcome{Status: procedure.Unknown, Message: fmt.Sprintf(format, args...)}, nil
}

// want asks for the operation of a draft.
func (c *cycle) want(d draft) (outcome, error) {
	ops, held := c.plan(d)
	if held != "" {
		return outcome{Status: procedure.False, Message: fmt.Sprintf("%s; not planned: %s", d.difference, held)}, nil
	}
	return outcome{Status: procedure.False, Message: d.difference, Changes: ops}, nil
}

func report(results []procedure.Result) []Result {
	out := make([]Result, len(results))
	for i, r := range results {
		out[i] = Result{Name: r.Name, Status: string(r.Status), Message: r.Message}
		if r.Err != nil {
			out[i].Message = "error: " + r.Message
		}
	}
	return out
}
