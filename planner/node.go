package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A node is a GlusterNode with what is known of its server.
type node struct {
	cr  *v1alpha1.GlusterNode
	srv Server
	ops []*openOp

	// reachable is set when the server answered; else unreachable says why not.
	reachable   bool
	unreachable *problem
	// wrong says why the server must not be touched (S8, two claims); nil if it
	// may be.
	wrong *problem
	// strange: that is because glusterd there knows peers or volumes that are not
	// this pool's. Of a server that just left the pool it may be true for a moment.
	strange bool
	// uuid is glusterd's identity: as seen, else as recorded, in status or in
	// the receipt of the operation that claimed the server.
	uuid, recorded string
	// before: the last cycle saw it in the pool, or an operation took it in.
	// prepared: an operation of this epoch prepared it, as it does with every
	// server but the first.
	before, prepared bool
	// claimed: the gate is this pool's. known: it is, or was, this pool's.
	claimed, known bool

	// member: in the pool. connected: the member that sees most of the pool
	// sees it. steady: all these do, and it answers us itself.
	member, connected, steady bool

	dirs []*dir
	fit  *fitness
	pod  *pod // how a node that is a pod should be; nil for others
}

// A dir is a brick directory of a node.
type dir struct {
	path             string
	mount            Mount
	seen             bool
	state            v1alpha1.BrickDirState
	why              string // not usable for that reason; empty: usable
	bricks, arbiters int    // there and promised

	device  string // of a pod: the storage entry, if it is a device
	pending bool   // that device is empty, or ours, and not mounted yet
	foreign bool   // it holds something else
	later   bool   // the pod that runs was made without it
}

func newNode(cr *v1alpha1.GlusterNode, obs Observed) *node {
	n := &node{cr: cr, recorded: cr.Status.UUID, uuid: cr.Status.UUID}
	srv, asked := obs.Servers[cr.Name]
	n.srv = srv
	switch {
	case !asked:
		n.unreachable = problemf(v1alpha1.ReasonNotYetObserved, "the server has not been asked yet")
	case !srv.Answered():
		n.unreachable = &problem{srv.Reason, srv.Message}
	default:
		n.reachable = true
		if srv.UUID != "" {
			n.uuid = srv.UUID
		}
	}
	for _, path := range cr.BrickDirs() {
		n.dirs = append(n.dirs, n.judgeDir(string(path)))
	}
	return n
}

func (n *node) judgeDir(path string) *dir {
	d := &dir{path: path, state: v1alpha1.BrickDirUnknown, why: "not seen yet"}
	for _, m := range n.srv.Mounts {
		if m.Dir == path {
			d.mount, d.seen = m, n.reachable
		}
	}
	switch m := d.mount; {
	case !d.seen:
	case m.Registered && !m.Same:
		d.state, d.why = v1alpha1.BrickDirChanged, "the file system there is not the one that was registered"
		if m.Error != "" {
			d.state, d.why = v1alpha1.BrickDirNotMounted, m.Error
		}
	case m.Error != "":
		d.state, d.why = v1alpha1.BrickDirNotMounted, m.Error
	case !m.Registered:
		d.why = "not registered yet"
	default:
		d.state, d.why = v1alpha1.BrickDirReady, ""
	}
	return d
}

// broken reports whether a person has to see to the directory.
func (d *dir) broken() bool {
	return d.state == v1alpha1.BrickDirNotMounted || d.state == v1alpha1.BrickDirChanged
}

// registrable reports whether the directory is fit and only not registered.
func (d *dir) registrable() bool {
	return d.pending || d.seen && d.mount.Error == "" && !d.mount.Registered
}

func (n *node) name() string    { return n.cr.Name }
func (n *node) address() string { return n.cr.Address() }
func (n *node) object() string  { return nodeObject(n.cr.Name) }
func (n *node) deleting() bool  { return n.cr.DeletionTimestamp != nil }

func (n *node) asMember() Member { return Member{Node: n.name(), Address: n.address()} }

// glusterd reports whether glusterd answered.
func (n *node) glusterd() bool { return n.reachable && n.srv.View != nil }

// half reports whether the server was claimed and its glusterd has no identity
// yet: preparing it ended there and nobody knows of the rest, since the journal
// was lost.
func (n *node) half() bool {
	return n.claimed && n.glusterd() && n.srv.UUID == "" && n.recorded == ""
}

// usable reports whether operations may be planned for the server.
func (n *node) usable() bool { return n.reachable && n.wrong == nil && !n.deleting() }

// stranger reports whether the server is not the one the node is about. One
// that obeys another operator is, and only must not be touched.
func (n *node) stranger() bool {
	return n.wrong != nil && n.wrong.reason != v1alpha1.ReasonOwnedByOtherInstance
}

// dirOf finds the brick directory a path is in; nil if it is in none.
func (n *node) dirOf(path string) *dir {
	var best *dir
	for _, d := range n.dirs {
		if strings.HasPrefix(path, d.path+"/") && (best == nil || len(d.path) > len(best.path)) {
			best = d
		}
	}
	return best
}

// older orders nodes by who was there first.
func older(a, b *node) int {
	return cmp.Or(a.cr.CreationTimestamp.Compare(b.cr.CreationTimestamp.Time), cmp.Compare(a.name(), b.name()))
}

func names(nodes []*node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.name()
	}
	slices.Sort(out)
	return out
}
