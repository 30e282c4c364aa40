package placement

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// A pool is the nodes by zone, each ordered by how much room it offers. Both
// orders are heaps, so that a brick costs a logarithm.
type pool struct {
	nodes []node  // by name
	zones []*zone // heap: the next brick goes to the first one
}

type zone struct {
	name  string
	inSet int     // bricks of the set that is being placed
	free  []*node // heap: nodes without a brick of the set that is being placed
	used  []*node
	index int
}

type node struct {
	name     string
	zone     string
	dirs     []dir
	bricks   int // data bricks and arbiters on all its directories
	mine     int // of these, bricks of this volume
	roomiest *dir
}

type dir struct {
	root     string
	size     uint64
	bricks   int
	arbiters int
}

// share is the space one more brick would have.
func (d *dir) share() uint64 { return d.size / uint64(d.bricks+1) }

// roomier orders the directories of one node.
func roomier(a, b *dir) int {
	return cmp.Or(
		cmp.Compare(b.share(), a.share()),
		cmp.Compare(a.bricks+a.arbiters, b.bricks+b.arbiters),
		cmp.Compare(a.root, b.root))
}

func (n *node) refresh() {
	n.roomiest = &n.dirs[0]
	for i := range n.dirs {
		if roomier(&n.dirs[i], n.roomiest) < 0 {
			n.roomiest = &n.dirs[i]
		}
	}
}

// better orders nodes for a data brick: room first, then few bricks of this
// volume, so that equal nodes take turns.
func better(a, b *node) int {
	return cmp.Or(
		cmp.Compare(b.roomiest.share(), a.roomiest.share()),
		cmp.Compare(a.mine, b.mine),
		cmp.Compare(a.bricks, b.bricks),
		cmp.Compare(a.name, b.name))
}

// idler orders nodes for an arbiter.
func idler(a, b *node) int {
	return cmp.Or(
		cmp.Compare(a.bricks, b.bricks),
		cmp.Compare(a.mine, b.mine),
		cmp.Compare(b.roomiest.share(), a.roomiest.share()),
		cmp.Compare(a.name, b.name))
}

func newPool(r Request) (*pool, error) {
	given := slices.Clone(r.Dirs)
	slices.SortFunc(given, func(a, b Dir) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Root, b.Root)) })
	p := &pool{nodes: make([]node, 0, len(given))}
	dirs := make([]dir, len(given))
	for i, d := range given {
		dirs[i] = dir{root: d.Root, size: d.SizeBytes, bricks: d.Bricks, arbiters: d.Arbiters}
		last := len(p.nodes) - 1
		switch {
		case i == 0 || d.Node != given[i-1].Node:
			p.nodes = append(p.nodes, node{name: d.Node, zone: d.Zone, dirs: dirs[i : i+1]})
			last++
		case d.Zone != p.nodes[last].zone:
			return nil, fmt.Errorf("placing bricks: node %q is said to be in zones %q and %q", d.Node, min(d.Zone, p.nodes[last].zone), max(d.Zone, p.nodes[last].zone))
		case d.Root == given[i-1].Root:
			return nil, fmt.Errorf("placing bricks: directory %q of node %q is there twice", d.Root, d.Node)
		default:
			n := &p.nodes[last]
			n.dirs = dirs[i-len(n.dirs) : i+1]
		}
		p.nodes[last].bricks += d.Bricks + d.Arbiters
	}
	for _, set := range r.Existing {
		for _, l := range set {
			if n := p.node(l.Node); n != nil {
				n.mine++
			}
		}
	}
	zones := map[string]*zone{}
	for i := range p.nodes {
		n := &p.nodes[i]
		n.refresh()
		z := zones[n.zone]
		if z == nil {
			z = &zone{name: n.zone, index: len(p.zones)}
			zones[n.zone] = z
			p.zones = append(p.zones, z)
		}
		z.free = append(z.free, n)
	}
	for _, z := range p.zones {
		heap.Init((*byRoom)(z))
	}
	heap.Init((*byNeed)(p))
	return p, nil
}

// node finds a node by name; nil if it is no candidate.
func (p *pool) node(name string) *node {
	i, ok := slices.BinarySearchFunc(p.nodes, name, func(n node, name string) int { return cmp.Compare(n.name, name) })
	if !ok {
		return nil
	}
	return &p.nodes[i]
}

// place puts one set onto the nodes; there are enough of them.
func (p *pool) place(size, arbiters int) []Location {
	set := make([]Location, 0, size)
	touched := make([]*zone, 0, size)
	for i := range size {
		arbiter := i >= size-arbiters
		z, at := p.zones[0], 0
		if arbiter {
			z, at = p.idlest()
		}
		if z.inSet == 0 {
			touched = append(touched, z)
		}
		n, _ := heap.Remove((*byRoom)(z), at).(*node)
		z.used = append(z.used, n)
		set = append(set, Location{Node: n.name, Root: n.roomiest.root})
		n.put(arbiter)
		z.inSet++
		heap.Fix((*byNeed)(p), z.index)
	}
	for _, z := range touched {
		z.inSet = 0
		for _, n := range z.used {
			heap.Push((*byRoom)(z), n)
		}
		z.used = z.used[:0]
		heap.Fix((*byNeed)(p), z.index)
	}
	return set
}

// idlest finds the node for an arbiter among the zones that may get the next
// brick: those with as few bricks of the set as the first one.
func (p *pool) idlest() (*zone, int) {
	z, at := p.zones[0], 0
	for _, o := range p.zones {
		if o.inSet != p.zones[0].inSet {
			continue
		}
		for i := range o.free {
			if idler(o.free[i], z.free[at]) < 0 {
				z, at = o, i
			}
		}
	}
	return z, at
}

func (n *node) put(arbiter bool) {
	if arbiter {
		n.roomiest.arbiters++
	} else {
		n.roomiest.bricks++
	}
	n.bricks++
	n.mine++
	n.refresh()
}

// byRoom is the heap of a zone's nodes that have no brick of the set yet.
type byRoom zone

func (z *byRoom) Len() int           { return len(z.free) }
func (z *byRoom) Less(i, j int) bool { return better(z.free[i], z.free[j]) < 0 }
func (z *byRoom) Swap(i, j int)      { z.free[i], z.free[j] = z.free[j], z.free[i] }
func (z *byRoom) Push(x any)         { n, _ := x.(*node); z.free = append(z.free, n) }
func (z *byRoom) Pop() any {
	n := z.free[len(z.free)-1]
	z.free = z.free[:len(z.free)-1]
	return n
}

// byNeed is the heap of zones: fewest bricks of this set first, then room. A
// zone whose nodes are all used comes last.
type byNeed pool

func (p *byNeed) Len() int { return len(p.zones) }

func (p *byNeed) Less(i, j int) bool {
	a, b := p.zones[i], p.zones[j]
	if full, other := len(a.free) == 0, len(b.free) == 0; full || other {
		return !full || (other && a.name < b.name)
	}
	return cmp.Or(cmp.Compare(a.inSet, b.inSet), better(a.free[0], b.free[0])) < 0
}

func (p *byNeed) Swap(i, j int) {
	p.zones[i], p.zones[j] = p.zones[j], p.zones[i]
	p.zones[i].index, p.zones[j].index = i, j
}

func (p *byNeed) Push(any) { panic("placement: zones are fixed once a pool is built") }
func (p *byNeed) Pop() any { panic("placement: zones are fixed once a pool is built") }
