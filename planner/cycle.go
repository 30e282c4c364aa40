package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A cycle is one planning of one cluster: the snapshot, indexed and judged, and
// the decision as it grows. Nothing outlives it.
type cycle struct {
	s       *Snapshot
	cluster *v1alpha1.GlusterCluster
	poolID  string // empty: the pool has no identity yet

	nodes   []*node // by name
	byName  map[string]*node
	byUUID  map[string]*node // nodes that are what they should be
	volumes []*volume        // by name
	open    []*openOp        // in the order of the snapshot
	holders holders          // of open

	pool pool
	// lookup finds a volume in a node's own view; set when there is a view.
	lookup func(n *node, i int, name string) *Volume
	// conflict says that the servers do not agree on which pool they are.
	conflict *problem
	// idle says why nothing at all is planned; empty if it may be.
	idle string
	// others is set when another operator instance owns the pool: not even an
	// object is let go then.
	others bool
	// podsAway: nothing is left of a cluster that goes but its nodes.
	podsAway bool

	out     Decision
	blocked map[string][]problem // by object
	refused map[string][]string  // options, by object
}

// A problem is a reason for a condition, with its message.
type problem struct{ reason, message string }

func problemf(reason, format string, args ...any) *problem {
	return &problem{reason, fmt.Sprintf(format, args...)}
}

func newCycle(s *Snapshot) *cycle {
	c := &cycle{
		s: s, cluster: s.Cluster,
		byName: make(map[string]*node, len(s.Nodes)), byUUID: make(map[string]*node, len(s.Nodes)),
		holders: holders{}, blocked: map[string][]problem{}, refused: map[string][]string{},
	}
	c.out.NodeResults, c.out.VolumeResults = map[string][]Result{}, map[string][]Result{}
	c.out.Nodes, c.out.Volumes = make(map[string]NodeStatus, len(s.Nodes)), make(map[string]VolumeStatus, len(s.Volumes))
	c.out.VolumeIDs = map[string]string{}
	for i := range s.Nodes {
		n := newNode(&s.Nodes[i], s.Observed)
		c.nodes = append(c.nodes, n)
		c.byName[n.name()] = n
	}
	slices.SortFunc(c.nodes, func(a, b *node) int { return cmp.Compare(a.name(), b.name()) })
	for i := range s.Volumes {
		c.volumes = append(c.volumes, &volume{cr: &s.Volumes[i]})
	}
	slices.SortFunc(c.volumes, func(a, b *volume) int { return cmp.Compare(a.name(), b.name()) })
	return c
}

// volume finds a volume by name; nil if no GlusterVolume has it.
func (c *cycle) volume(name string) *volume {
	i, ok := slices.BinarySearchFunc(c.volumes, name, func(v *volume, name string) int { return cmp.Compare(v.name(), name) })
	if !ok {
		return nil
	}
	return c.volumes[i]
}

// block notes that something stands in the way of an object. The heaviest
// reason becomes its condition.
func (c *cycle) block(object string, p *problem) {
	if p != nil && !slices.Contains(c.blocked[object], *p) {
		c.blocked[object] = append(c.blocked[object], *p)
	}
}

func (c *cycle) deleting() bool { return c.cluster.DeletionTimestamp != nil }

// Names of objects in a decision.
func clusterObject(name string) string { return "GlusterCluster/" + name }
func nodeObject(name string) string    { return "GlusterNode/" + name }
func volumeObject(name string) string  { return "GlusterVolume/" + name }

// Targets of operations, as people say them.
const targetPool = "pool"

func targetNode(name string) string   { return "node/" + name }
func targetVolume(name string) string { return "volume/" + name }

// namedMax bounds what a message names.
const namedMax = 8

func listed(names []string) string {
	if len(names) <= namedMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedMax], ", "), len(names)-namedMax)
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
