package planner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A pool is who is in it, as the views of its members together say.
type pool struct {
	members []*node // by name
	canon   *node   // the member whose view stands for the pool; nil: none answered
	strange []string
	// up is how many members are connected.
	up int

	// differs is the first difference between two members' views; empty if they
	// agree, which leaves connections out.
	differs string
	// differsIn is the volume it is about; empty: about peers or options.
	differsIn string
	rejected  []string // peers in the state Rejected, by name or UUID, sorted
	unsettled string   // a peer in some other state than in the cluster
}

// PeerRejected is the state of a peer whose idea of the volumes is another one.
const PeerRejected = "Peer Rejected"

// view is the pool as its canonical member sees it; nil if none answered.
func (p *pool) view() *PoolView {
	if p.canon == nil {
		return nil
	}
	return p.canon.srv.View
}

// agreement is the part of a view that all members must agree on.
func (v *PoolView) agreement() string {
	if v.Digest != "" {
		return v.Digest
	}
	return v.Sum()
}

// Sum is a hash over what all members of a pool must agree on: peers and their
// states, volumes, bricks and options; not over connections, processes and
// sizes.
func (v *PoolView) Sum() string {
	h := sha256.New()
	peers := make([]string, 0, len(v.Peers)+1)
	peers = append(peers, v.UUID+" "+PeerInCluster)
	for _, p := range v.Peers {
		peers = append(peers, p.UUID+" "+p.State)
	}
	slices.Sort(peers)
	fmt.Fprintf(h, "%d\n%q\n", v.OpVersion, peers)
	sumMap(h, v.Options)
	order := make([]int, len(v.Volumes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.Volumes[a].Name, v.Volumes[b].Name) })
	for _, i := range order {
		vol := &v.Volumes[i]
		fmt.Fprintf(h, "%q %q %t %d %d %d %d\n", vol.Name, vol.ID, vol.Started, vol.Replica, vol.Arbiter, vol.Disperse, vol.Redundancy)
		sumMap(h, vol.Options)
		for _, b := range vol.Bricks {
			fmt.Fprintf(h, "%s %q\n", b.PeerUUID, b.Path)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sumMap(w interface{ Write([]byte) (int, error) }, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(w, "%q=%q\n", k, m[k])
	}
}

// findMembers finds the pool among the servers. Those that belong to it by
// their gate, or were recorded with the identity they have, are asked whom they
// see in the cluster. What hangs together is one pool; a claimed server that
// has not joined yet is a pool of its own, and has to be told from it.
func (c *cycle) findMembers() {
	var tellers []*node
	for _, n := range c.nodes {
		if n.glusterd() && !n.stranger() && n.uuid != "" && (n.claimed || n.recorded == n.srv.UUID) {
			tellers = append(tellers, n)
		}
	}
	groups := groupPeers(tellers)
	root := c.root(tellers, groups)
	if root == "" {
		// No glusterd answered: who was recorded is believed to be in still.
		for _, n := range c.nodes {
			if !n.stranger() && n.before {
				n.member = true
				c.pool.members = append(c.pool.members, n)
			}
		}
		return
	}
	in := map[string]bool{}
	for uuid := range groups.ids {
		if groups.of(uuid) == root {
			in[uuid] = true
		}
	}
	for _, n := range c.nodes {
		if uuid := n.recorded; n.stranger() && in[uuid] && c.byUUID[uuid] == nil {
			n.uuid, c.byUUID[uuid] = uuid, n // what the pool still takes it for
		} else if n.stranger() {
			continue
		}
		if in[n.uuid] {
			n.member = true
			c.pool.members = append(c.pool.members, n)
			delete(in, n.uuid)
		}
	}
	c.pool.strange = slices.Sorted(maps.Keys(in))
	var views []*node
	for _, n := range tellers {
		if n.member {
			views = append(views, n)
		}
	}
	c.connections(views)
	c.compare(views)
}

// groups is a forest of UUIDs that see each other in the cluster.
type groups struct {
	ids    map[string]int
	uuids  []string
	parent []int
}

func groupPeers(tellers []*node) *groups {
	g := &groups{ids: make(map[string]int, len(tellers))}
	alike := map[string]string{} // digest -> a UUID of that view
	for _, n := range tellers {
		g.id(n.uuid)
		if d := n.srv.View.Digest; d != "" {
			if like, ok := alike[d]; ok {
				g.join(n.uuid, like) // its peers are the same ones
				continue
			}
			alike[d] = n.uuid
		}
		for _, p := range n.srv.View.Peers {
			if p.State == PeerInCluster || p.State == PeerRejected {
				g.join(n.uuid, p.UUID)
			}
		}
	}
	return g
}

func (g *groups) id(uuid string) int {
	i, ok := g.ids[uuid]
	if !ok {
		i = len(g.parent)
		g.ids[uuid] = i
		g.uuids, g.parent = append(g.uuids, uuid), append(g.parent, i)
	}
	return i
}

func (g *groups) find(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// join keeps the smallest UUID as the name of a group, whatever the order.
func (g *groups) join(a, b string) {
	ra, rb := g.find(g.id(a)), g.find(g.id(b))
	switch {
	case ra == rb:
	case g.uuids[ra] < g.uuids[rb]:
		g.parent[rb] = ra
	default:
		g.parent[ra] = rb
	}
}

func (g *groups) of(uuid string) string { return g.uuids[g.find(g.ids[uuid])] }

// root picks the group that is the pool: the one that has volumes, else peers,
// else whose server was in the pool before, is not just being prepared, and
// comes first by name. Empty: none of them is.
func (c *cycle) root(tellers []*node, g *groups) string {
	type score struct {
		volumes, size, before, settled int
		name                           string
	}
	scores := map[string]*score{}
	for _, n := range tellers {
		s := scores[g.of(n.uuid)]
		if s == nil {
			s = &score{name: n.name()}
			scores[g.of(n.uuid)] = s
		}
		s.volumes = max(s.volumes, min(len(n.srv.View.Volumes), 1))
		s.size = max(s.size, min(len(n.srv.View.Peers), 1))
		if n.before {
			s.before = 1
		}
		if of(n.ops, KindPrepareNode) == nil && of(n.ops, KindJoinNode) == nil && !n.prepared {
			s.settled = 1
		}
	}
	best := ""
	for id, s := range scores {
		if best == "" {
			best = id
			continue
		}
		b := scores[best]
		if cmp.Or(cmp.Compare(b.volumes, s.volumes), cmp.Compare(b.size, s.size), cmp.Compare(b.before, s.before),
			cmp.Compare(b.settled, s.settled), cmp.Compare(s.name, b.name)) < 0 {
			best = id
		}
	}
	if b := scores[best]; b != nil && b.volumes+b.size+b.before == 0 && slices.ContainsFunc(c.nodes, func(n *node) bool { return n.before }) {
		return "" // a server that is just being prepared; the pool itself is out of sight
	}
	return best
}

// compare finds the first difference between the members' views.
func (c *cycle) compare(views []*node) {
	if len(views) == 0 {
		return
	}
	first := c.pool.canon
	want := first.srv.View.agreement()
	for _, n := range views {
		if n == first || n.srv.View.agreement() == want {
			continue
		}
		c.pool.differs, c.pool.differsIn = differs(first, n)
		return
	}
}

func differs(a, b *node) (text, volume string) {
	va, vb := a.srv.View, b.srv.View
	if d := differPeers(va, vb); d != "" {
		return fmt.Sprintf("%s and %s do not agree on the peers: %s", a.name(), b.name(), d), ""
	}
	d := Differ(va, vb)
	switch {
	case d != "":
	case va.OpVersion != vb.OpVersion:
		d = fmt.Sprintf("op-version %d and %d", va.OpVersion, vb.OpVersion)
	default:
		d = "a difference that has no name"
	}
	if rest := after(d, "volume "); rest != "" {
		volume, _, _ = strings.Cut(strings.Replace(rest, ":", " ", 1), " ")
	}
	return fmt.Sprintf("%s and %s do not agree: %s", a.name(), b.name(), d), volume
}

func differPeers(a, b *PoolView) string {
	states := func(v *PoolView) map[string]string {
		m := map[string]string{v.UUID: PeerInCluster}
		for _, p := range v.Peers {
			m[p.UUID] = p.State
		}
		return m
	}
	return differMap(states(a), states(b))
}

// connections picks the member that sees most of the others, whose view stands
// for the pool, says who is connected to it, and finds peers in a bad state.
func (c *cycle) connections(views []*node) {
	most := -1
	var uneasy []*node // see a peer that is not a connected member
	rejected := map[string]bool{}
	for _, n := range views {
		peers, sees := n.srv.View.Peers, 0
		for i := range peers {
			if peers[i].Connected && peers[i].State == PeerInCluster {
				sees++
			}
		}
		if sees > most {
			c.pool.canon, most = n, sees
		}
		if sees < len(peers) {
			uneasy = append(uneasy, n)
		}
	}
	for _, n := range uneasy {
		for i := range n.srv.View.Peers {
			switch p := &n.srv.View.Peers[i]; {
			case p.State == PeerRejected:
				rejected[c.peerName(p)] = true
			case p.State != PeerInCluster && c.pool.unsettled == "":
				c.pool.unsettled = fmt.Sprintf("%s sees %s as %q", n.name(), c.peerName(p), p.State)
			}
		}
	}
	canon := c.pool.canon
	if canon == nil {
		return
	}
	if own := c.rejectedBy(canon); len(own) > 0 {
		rejected = own // the others reject back
	}
	c.pool.rejected = slices.Sorted(maps.Keys(rejected))
	canon.connected = true
	for i := range canon.srv.View.Peers {
		if p := &canon.srv.View.Peers[i]; p.Member() {
			if n := c.byUUID[p.UUID]; n != nil && n.member {
				n.connected = true
			}
		}
	}
	cut := map[string]bool{} // what a connected member does not see connected
	for _, n := range uneasy {
		for i := range n.srv.View.Peers {
			if p := &n.srv.View.Peers[i]; n.connected && !p.Member() {
				cut[p.UUID] = true
			}
		}
	}
	for _, n := range c.pool.members {
		n.steady = n.connected && !cut[n.uuid] && n.glusterd() && n.wrong == nil
		if n.connected {
			c.pool.up++
		}
	}
}

func (c *cycle) rejectedBy(n *node) map[string]bool {
	out := map[string]bool{}
	for i := range n.srv.View.Peers {
		if p := &n.srv.View.Peers[i]; p.State == PeerRejected {
			out[c.peerName(p)] = true
		}
	}
	return out
}

func (c *cycle) peerName(p *Peer) string {
	if n := c.byUUID[p.UUID]; n != nil {
		return n.name()
	}
	if len(p.Hostnames) > 0 {
		return p.Hostnames[0]
	}
	return p.UUID
}
