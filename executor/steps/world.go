package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// World is how steps see and reach a pool.
type World interface {
	kube.Servers
	// Observed is what every server of the pool sees, gathered after the last
	// Changed and at most FreshMax ago (S14).
	Observed(ctx context.Context, pool string) (planner.Observed, error)
	// Changed says that something was done to the pool: what was observed
	// before does not count any more.
	Changed(pool string)
	// GateBinary is the gate this operator brings along, and its SHA-256 in hex.
	GateBinary() (binary []byte, digest string, err error)
	// Instance is this operator's.
	Instance() string
}

// FreshMax is the age at which an observation no longer supports a guard.
const FreshMax = 5 * time.Second

// lockWait is how long a gate waits for an earlier command on its server
// before it says that it is busy.
const lockWait = 10 * time.Second

// base is what all steps share.
type base struct{ w World }

// sight is one look at the pool.
type sight struct {
	servers []kube.Server
	obs     planner.Observed
}

func (b base) look(ctx context.Context, t *executor.Turn) (*sight, error) {
	servers, err := b.w.Of(ctx, t.Scope())
	if err != nil {
		return nil, executor.Errorf(executor.Transient, "ServersUnknown", "listing the servers of the pool: %w", err)
	}
	obs, err := b.w.Observed(ctx, t.Scope())
	if err != nil {
		return nil, executor.Errorf(executor.Transient, "NotObserved", "observing the pool: %w", err)
	}
	return &sight{servers: servers, obs: obs}, nil
}

// server finds a server by node name.
func (s *sight) server(node string) (kube.Server, error) {
	for _, v := range s.servers {
		if v.Node != node {
			continue
		}
		if v.Problem != nil {
			return v, executor.Errorf(executor.Transient, v.Problem.Reason, "server %s: %w", node, v.Problem)
		}
		return v, nil
	}
	return kube.Server{}, executor.Errorf(executor.Transient, "NodeGone", "there is no GlusterNode %s any more", node)
}

// seen returns what one server sees, or why that is not known.
func (s *sight) seen(node string) (planner.Server, error) {
	v, ok := s.obs.Servers[node]
	switch {
	case !ok:
		return v, executor.Errorf(executor.Transient, "NodeGone", "there is no GlusterNode %s any more", node)
	case !v.Answered():
		return v, executor.Errorf(executor.Transient, v.Reason, "server %s: %s", node, v.Message)
	}
	return v, nil
}

// view is what one server's glusterd sees.
func (s *sight) view(node string) (*planner.PoolView, error) {
	v, err := s.seen(node)
	if err != nil {
		return nil, err
	}
	if v.View == nil {
		return nil, executor.Errorf(executor.Transient, "GlusterdDown", "glusterd on %s does not answer: %s", node, v.ViewErr)
	}
	return v.View, nil
}

// members are the names of the servers that are in the pool: they have peers or
// volumes, or are the given seed. Sorted. In a pool of one nothing on the server
// tells; then it is those whose identity was recorded. A claimed server that has
// not joined yet may be among these, never among the others: a join would wait
// for it to be what only a join can make it.
func (s *sight) members(pool string, seed ...string) []string {
	recorded := map[string]string{}
	for _, server := range s.servers {
		recorded[server.Node] = server.UUID
	}
	var in, known []string
	for node, v := range s.obs.Servers {
		switch {
		case v.Gate.Pool != pool:
		case len(v.Peers) > 0 || slices.Contains(seed, node) || (v.View != nil && len(v.View.Volumes) > 0):
			in = append(in, node)
		case v.UUID != "" && recorded[node] == v.UUID:
			known = append(known, node)
		}
	}
	if len(in) == 0 {
		in = known
	}
	slices.Sort(in)
	return in
}

// everyView returns the view of every member of the pool, by node. A member
// that no longer answers is an error: what it sees is not known, and a pool is
// only changed when all of it is seen (S7).
func (s *sight) everyView(pool string, seed ...string) (map[string]*planner.PoolView, error) {
	nodes := s.members(pool, seed...)
	if len(nodes) == 0 {
		return nil, executor.Errorf(executor.Transient, "NoMembers", "no member of the pool answers")
	}
	known := map[string]string{} // uuid -> node
	views := map[string]*planner.PoolView{}
	for _, n := range nodes {
		v, err := s.view(n)
		if err != nil {
			return nil, err
		}
		views[n] = v
		known[v.UUID] = n
	}
	for _, n := range nodes {
		for _, p := range views[n].Peers {
			if known[p.UUID] == "" {
				return nil, executor.Errorf(executor.Transient, "MemberUnseen", "peer %s, seen by %s, does not answer Anthill", peerName(p), n)
			}
		}
	}
	return views, nil
}

func peerName(p planner.Peer) string {
	if len(p.Hostnames) > 0 {
		return p.Hostnames[0]
	}
	return p.UUID
}

// settledPool is the guard of every change to a pool (S7): every member sees
// every other one connected and in the cluster, and all see the same volumes.
func (s *sight) settledPool(pool string, seed ...string) (map[string]*planner.PoolView, error) {
	views, err := s.everyView(pool, seed...)
	if err != nil {
		return nil, err
	}
	if why := unsettled(views); why != "" {
		return nil, executor.Errorf(executor.Transient, "PoolUnsettled", "%s", why)
	}
	return views, nil
}

// unsettled says how the views of the members fail to agree; empty if they do.
func unsettled(views map[string]*planner.PoolView) string {
	nodes := sortedKeys(views)
	for _, n := range nodes {
		for _, o := range nodes {
			if n == o {
				continue
			}
			p, ok := views[n].Peer(views[o].UUID)
			switch {
			case !ok:
				return fmt.Sprintf("%s does not see %s", n, o)
			case p.State != planner.PeerInCluster:
				return fmt.Sprintf("%s sees %s as %q", n, o, p.State)
			case !p.Connected:
				return fmt.Sprintf("%s sees %s as disconnected", n, o)
			}
		}
	}
	first := views[nodes[0]]
	for _, n := range nodes[1:] {
		if d := planner.Differ(first, views[n]); d != "" {
			return fmt.Sprintf("%s and %s do not see the same volumes: %s", nodes[0], n, d)
		}
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// client speaks to one server's gate for the pool of this turn.
func (b base) client(s kube.Server, t *executor.Turn) *gate.Client {
	return gate.NewClient(s.Gate, t.Scope(), b.w.Instance(), func() uint64 { return t.Fence })
}

// gateError gives an error of a gate its class.
func gateError(err error) error {
	if err == nil {
		return nil
	}
	var fenced *gate.FencedError
	var busy *gate.BusyError
	var mount *gate.MountError
	var brick *gate.BrickError
	var device *gate.DeviceError
	switch {
	case errors.As(err, &fenced):
		switch fenced.Reason {
		case gate.ReasonForeignPool:
			return executor.Errorf(executor.Permanent, "ServerClaimed", "%w", err)
		case gate.ReasonOtherInstance:
			return executor.Errorf(executor.Fenced, executor.ReasonOtherInstance, "%w", err)
		}
		return executor.Errorf(executor.Fenced, executor.ReasonSucceeded, "%w", err)
	case errors.As(err, &busy) && busy.NotStarted():
		return executor.Errorf(executor.Busy, "ServerBusy", "%w", err)
	case errors.As(err, &mount):
		return executor.Errorf(executor.Transient, "BrickDirNotMounted", "%w", err)
	case errors.As(err, &brick):
		return executor.Errorf(executor.Permanent, "BrickDirInUse", "%w", err)
	case errors.As(err, &device) && device.Device.Holds != "":
		return executor.Errorf(executor.Permanent, "DeviceNotEmpty", "%w", err)
	case errors.As(err, &device):
		return executor.Errorf(executor.Transient, "DeviceUnfit", "%w", err)
	case errors.Is(err, gate.ErrNotPod):
		return executor.Errorf(executor.Permanent, "NotAPod", "%w", err)
	case errors.Is(err, gate.ErrNotFresh):
		return executor.Errorf(executor.Permanent, "ForeignServer", "%w", err)
	case errors.Is(err, gate.ErrRefused):
		return executor.Errorf(executor.Permanent, "GateRefused", "%w", err)
	case errors.Is(err, gate.ErrNoGluster):
		return executor.Errorf(executor.Transient, "NoGluster", "%w", err)
	case errors.Is(err, gate.ErrNotInstalled):
		return executor.Errorf(executor.Transient, "GateMissing", "%w", err)
	case gate.NotStarted(err):
		return executor.Errorf(executor.Transient, "ServerUnreachable", "%w", err)
	}
	return executor.Errorf(executor.Uncertain, "ReplyLost", "%w", err)
}

func seenAs(v executor.Verdict, format string, args ...any) executor.Observation {
	return executor.Observation{Verdict: v, Message: fmt.Sprintf(format, args...)}
}

func list(names []string) string { return strings.Join(names, ", ") }
