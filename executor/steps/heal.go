package steps

import (
	"context"
	"fmt"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate/runner"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// A healQuestion is whether a node can be done without for a while.
type healQuestion struct {
	node string
	uuid string // of its glusterd; empty: it never was a peer, and holds nothing
	// without: the node itself may be down already.
	without bool
}

// unhealed is one poll of the heal gate (S1): it says what stands against taking
// the node away; empty if nothing does. Every brick of every volume that has one
// on the node serves, as its own server sees it; nothing waits to be healed, in
// numbers that are there; the self-heal daemons run. What is not known stands
// against it, or is an error.
func (b base) unhealed(ctx context.Context, t *executor.Turn, s *sight, q healQuestion) (string, error) {
	if q.uuid == "" || q.without && s.alone(q) {
		return "", nil
	}
	views, err := s.viewsFor(t.Scope(), q)
	if err != nil {
		return "", err
	}
	asked := origin(views)
	for i := range views[asked].Volumes {
		vol := &views[asked].Volumes[i]
		if !vol.Started || !hasBrick(*vol, q.uuid) {
			continue
		}
		if why := s.serviceGap(views, vol, q); why != "" {
			return fmt.Sprintf("volume %s: %s", vol.Name, why), nil
		}
		if vol.SetSize() == 1 {
			continue // there is no other copy, and nothing to heal
		}
		why, err := b.pending(ctx, t, s, asked, vol, q)
		if err == nil && why == "" {
			why, err = b.crawling(ctx, t, s, views, vol, q)
		}
		if err != nil {
			return "", err
		}
		if why != "" {
			return fmt.Sprintf("volume %s: %s", vol.Name, why), nil
		}
	}
	return "", nil
}

// alone reports whether no other node ever was a peer: there is no other copy of
// anything that would have to be healed first.
func (s *sight) alone(q healQuestion) bool {
	return !slices.ContainsFunc(s.servers, func(o kube.Server) bool { return o.Node != q.node && s.uuidOf(o.Node) != "" })
}

// viewsFor are the views of a pool in which every member sees every other; if the
// node may be down, of the members besides it.
func (s *sight) viewsFor(pool string, q healQuestion) (map[string]*planner.PoolView, error) {
	if !q.without {
		return s.settledPool(pool)
	}
	views, known := map[string]*planner.PoolView{}, map[string]bool{q.uuid: true}
	for _, n := range s.members(pool) {
		if n == q.node {
			continue
		}
		v, err := s.view(n)
		if err != nil {
			return nil, err
		}
		views[n], known[v.UUID] = v, true
	}
	for _, n := range sortedKeys(views) {
		for _, p := range views[n].Peers {
			if !known[p.UUID] {
				return nil, executor.Errorf(executor.Transient, "MemberUnseen", "peer %s, seen by %s, does not answer Anthill", peerName(p), n)
			}
		}
	}
	if len(views) == 0 {
		return nil, executor.Errorf(executor.Transient, "NoMembers", "no other member of the pool answers")
	}
	if why := unsettled(views); why != "" {
		return nil, executor.Errorf(executor.Transient, "PoolUnsettled", "%s", why)
	}
	return views, nil
}

// serviceGap says which brick or daemon of a volume does not serve.
func (s *sight) serviceGap(views map[string]*planner.PoolView, vol *planner.Volume, q healQuestion) string {
	nodes := map[string]string{}
	for n, v := range views {
		nodes[v.UUID] = n
	}
	for _, brick := range vol.Bricks {
		node, ok := nodes[brick.PeerUUID]
		switch {
		case brick.PeerUUID == q.uuid && q.without:
			continue
		case !ok:
			return fmt.Sprintf("brick %s:%s is on no server that answers", brick.Host, brick.Path)
		}
		if why := brickDown(s.obs.Servers[node], views[node], vol.Name, brick.Path); why != "" {
			return fmt.Sprintf("brick %s:%s %s", node, brick.Path, why)
		}
		own, _ := views[node].Volume(vol.Name)
		switch {
		case vol.SetSize() > 1 && !own.SelfHeal:
			return fmt.Sprintf("the self-heal daemon on %s does not serve", node)
		case own.Rebalance.Status == rebalanceStarted:
			return fmt.Sprintf("%s moves files in a rebalance", node)
		}
	}
	return ""
}

// pending asks a member what waits to be healed. While the node is down, what it
// has missed is counted on the others and does not stand against it.
func (b base) pending(ctx context.Context, t *executor.Turn, s *sight, asked string, vol *planner.Volume, q healQuestion) (string, error) {
	server, err := s.server(asked)
	if err != nil {
		return "", err
	}
	client := gluster.NewClient(runner.New(b.client(server, t), lockWait))
	told, err := client.HealInfoSummary(ctx, vol.Name)
	if err != nil {
		return "", executor.Errorf(executor.Transient, "HealUnknown", "asking %s what is to be healed in volume %s: %w", asked, vol.Name, err)
	}
	missed := false
	for _, brick := range vol.Bricks {
		h, ok := healOf(told, brick)
		if brick.PeerUUID == q.uuid && q.without && (!ok || h.Status != "Connected") {
			missed = true
		}
	}
	for _, brick := range vol.Bricks {
		h, ok := healOf(told, brick)
		name := brick.Host + ":" + brick.Path
		switch {
		case brick.PeerUUID == q.uuid && missed:
		case !ok:
			return fmt.Sprintf("nothing is told of brick %s", name), nil
		case h.Status != "Connected" || !h.Counted:
			return fmt.Sprintf("brick %s: %s", name, h.Status), nil
		case h.SplitBrain > 0:
			return fmt.Sprintf("brick %s counts %d files in split brain", name, h.SplitBrain), nil
		case !h.Clean() && !missed:
			return fmt.Sprintf("brick %s counts %d files to be healed", name, max(h.Pending, h.Total)), nil
		}
	}
	return "", nil
}

// crawling says whose self-heal daemon has not been through what its brick knows
// is to be healed since it started, or is on its way: what it counts meanwhile
// may not be all (LAB-11). It takes the volume's lock, so it is asked last, when
// nothing else stands against it. glusterd tells of replicated volumes only; of
// dispersed ones the counts have to do. Any member can tell; one whose gate is
// of an earlier release does not.
func (b base) crawling(ctx context.Context, t *executor.Turn, s *sight, views map[string]*planner.PoolView, vol *planner.Volume, q healQuestion) (string, error) {
	if vol.Disperse > 0 {
		return "", nil
	}
	var crawls []gluster.Crawl
	var failed error
	for _, node := range sortedKeys(views) {
		server, err := s.server(node)
		if err == nil {
			client := gluster.NewClient(runner.New(b.client(server, t), lockWait))
			if crawls, err = client.HealCrawls(ctx, vol.Name); err == nil {
				failed = nil
				break
			}
		}
		failed = err
	}
	if failed != nil {
		return "", executor.Errorf(executor.Transient, "HealUnknown", "asking how far the self-heal daemons of volume %s are: %w", vol.Name, failed)
	}
	for i, brick := range vol.Bricks {
		k := slices.IndexFunc(crawls, func(c gluster.Crawl) bool { return c.Brick == i })
		switch name := brick.Host + ":" + brick.Path; {
		case brick.PeerUUID == q.uuid && q.without:
		case k < 0 || crawls[k].Finished == 0:
			return fmt.Sprintf("the self-heal daemon has not been through brick %s yet", name), nil
		case crawls[k].Running:
			return fmt.Sprintf("the self-heal daemon is on its way through brick %s", name), nil
		}
	}
	return "", nil
}

// healOf finds what was told of a brick. One that is away is told of by its name
// alone.
func healOf(told []gluster.HealBrick, brick planner.Brick) (gluster.HealBrick, bool) {
	i := slices.IndexFunc(told, func(h gluster.HealBrick) bool {
		return h.Path == brick.Path && (h.PeerUUID == brick.PeerUUID || h.PeerUUID == "" && h.Host == brick.Host)
	})
	if i < 0 {
		return gluster.HealBrick{}, false
	}
	return told[i], true
}
