package planner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A world is what there is: objects, servers, a pool, operations. It obeys a
// decision the way controller and executor would: identities and conditions go
// into status, operations run and make true what they declared.
type world struct {
	cluster *v1alpha1.GlusterCluster
	nodes   []*v1alpha1.GlusterNode
	volumes []*v1alpha1.GlusterVolume

	servers map[string]*server // by node
	pooled  []Volume           // the volumes of the pool
	options map[string]string  // cluster-wide
	strange []Peer             // peers without a node

	claims    map[string]string
	claimedAt map[string]time.Time
	heals     map[string]Heal
	digest    string // of this operator's gate
	instance  string
	fence     string
	digests   bool // views carry their digest

	image   string
	classes []string
	hosts   map[string]int

	open, ended []view.Op
	tombstones  map[string]view.Tombstone
	made        int
	clock       int
}

// A server is the truth about one server.
type server struct {
	unreachable, message string
	uuid                 string
	was                  string // the UUID its pool knows it by, if not that
	gate                 Gate
	member               bool
	down                 bool              // glusterd does not answer
	cut                  bool              // from the other servers
	hides                map[string]bool   // volumes its glusterd does not know
	state                map[string]string // how it sees others, by UUID
	mounts               map[string]Mount
	peers, vols          []string        // of another pool
	dead                 map[string]bool // brick paths
	zombies              []string        // bricks glusterd takes for online, whose process is dead
	pod                  *truePod        // of a node that is one
}

const poolOne = "pool-1"

func newWorld() *world {
	w := &world{
		servers: map[string]*server{}, options: map[string]string{}, claims: map[string]string{}, claimedAt: map[string]time.Time{},
		heals: map[string]Heal{}, digest: "gate-1", instance: "anthill/main", tombstones: map[string]view.Tombstone{},
	}
	w.cluster = &v1alpha1.GlusterCluster{ObjectMeta: w.meta("c1")}
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	w.clock++
	return metav1.ObjectMeta{
		Name: name, Namespace: "storage", Generation: 1, UID: "uid",
		CreationTimestamp: metav1.NewTime(time.Unix(int64(w.clock)*60, 0)),
	}
}

func (w *world) addNode(name, zone string, dirs ...string) {
	n := &v1alpha1.GlusterNode{ObjectMeta: w.meta(name)}
	n.Spec.Cluster, n.Spec.Zone = w.cluster.Name, zone
	n.Spec.External = &v1alpha1.ExternalServer{Address: name + ".example"}
	w.nodes = append(w.nodes, n)
	s := &server{uuid: "uuid-" + name, mounts: map[string]Mount{}, hides: map[string]bool{}, state: map[string]string{}, dead: map[string]bool{}}
	w.servers[name] = s
	w.addDirs(name, dirs...)
}

func (w *world) addDirs(name string, dirs ...string) {
	n, s := w.node(name), w.servers[name]
	for _, d := range dirs {
		n.Spec.External.BrickDirs = append(n.Spec.External.BrickDirs, v1alpha1.BrickDir(d))
		s.mounts[d] = Mount{Dir: d, FSUUID: "fs-" + name + d, SizeBytes: 100 << 30, FreeBytes: 90 << 30}
	}
}

// addressOf is the name of a server among peers.
func (w *world) addressOf(name string) string {
	if n := w.node(name); n != nil {
		return n.Address()
	}
	return name + ".example"
}

func (w *world) node(name string) *v1alpha1.GlusterNode {
	for _, n := range w.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

func (w *world) volume(name string) *v1alpha1.GlusterVolume {
	for _, v := range w.volumes {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// observed is what the servers say.
func (w *world) observed() Observed {
	o := Observed{Servers: map[string]Server{}, GateDigest: w.digest, Heals: w.heals, Classes: w.classes, Hosts: w.hosts}
	for name, s := range w.servers {
		o.Servers[name] = s.podSays(w.says(name, s))
	}
	return o
}

func (w *world) says(name string, s *server) Server {
	if s.unreachable != "" {
		return Server{Reason: s.unreachable, Message: s.message}
	}
	if !s.gate.Installed {
		return Server{} // nothing is known before the gate is there
	}
	out := Server{Gate: s.gate, UUID: s.uuid, Glusterd: !s.down, Peers: slices.Clone(s.peers), Volumes: slices.Clone(s.vols)}
	for _, d := range slices.Sorted(maps.Keys(s.mounts)) {
		m := s.mounts[d]
		if s.pod != nil && !s.pod.has[d] {
			m = Mount{Dir: d, Error: d + " is not a mount point"}
		}
		out.Mounts = append(out.Mounts, m)
	}
	v := &PoolView{UUID: s.uuid, OpVersion: 100000, Options: map[string]string{}}
	for _, p := range s.peers {
		v.Peers = append(v.Peers, Peer{UUID: p, Hostnames: []string{p}, State: PeerInCluster, Connected: true})
	}
	if s.member {
		maps.Copy(v.Options, w.options)
		for _, other := range slices.Sorted(maps.Keys(w.servers)) {
			o := w.servers[other]
			if other == name || !o.member {
				continue
			}
			out.Peers = append(out.Peers, cmp.Or(o.was, o.uuid))
			v.Peers = append(v.Peers, Peer{
				UUID: cmp.Or(o.was, o.uuid), Hostnames: []string{w.addressOf(other)}, State: cmp.Or(s.state[o.uuid], PeerInCluster),
				Connected: !o.down && !o.cut && !s.cut,
			})
		}
		v.Peers = append(v.Peers, w.strange...)
		for _, p := range w.strange {
			out.Peers = append(out.Peers, p.UUID)
		}
		for _, vol := range w.pooled {
			if s.hides[vol.Name] {
				continue
			}
			out.Volumes = append(out.Volumes, vol.Name)
			vol.Options, vol.Bricks = maps.Clone(vol.Options), slices.Clone(vol.Bricks)
			for i := range vol.Bricks {
				b := &vol.Bricks[i]
				if b.PeerUUID == s.uuid {
					out.Bricks = append(out.Bricks, BrickProcess{Volume: vol.Name, Path: b.Path, Alive: !s.dead[b.Path] && !slices.Contains(s.zombies, b.Path)})
					b.Online = vol.Started && !s.dead[b.Path]
					b.SizeBytes, b.FreeBytes = 100<<30, 90<<30
				}
			}
			v.Volumes = append(v.Volumes, vol)
		}
	}
	if w.digests {
		v.Digest = v.Sum()
	}
	if s.down {
		out.ViewErr = "Connection failed"
		return out
	}
	out.View = v
	return out
}

func (w *world) snapshot() Snapshot {
	s := w.objects()
	s.Observed = w.observed()
	return s
}

// objects is the snapshot but for what the servers say.
func (w *world) objects() Snapshot {
	s := Snapshot{
		Claims: w.claims, ClaimedAt: w.claimedAt,
		Open: slices.Clone(w.open), Ended: slices.Clone(w.ended), Tombstones: maps.Clone(w.tombstones),
		Instance: w.instance, NodeImage: w.image, Fence: w.fence, NewVolumeIDs: map[string]string{},
	}
	for _, n := range w.nodes {
		s.Nodes = append(s.Nodes, *n.DeepCopy())
	}
	for _, v := range w.volumes {
		s.Volumes = append(s.Volumes, *v.DeepCopy())
		if v.Status.VolumeID == "" {
			s.NewVolumeIDs[v.Name] = "vid-" + v.Name
		}
	}
	if w.cluster == nil {
		return s
	}
	s.Cluster = w.cluster.DeepCopy()
	if w.cluster.Status.PoolID == "" {
		s.NewPoolID = poolOne
		s.Open, s.Ended = nil, nil
	}
	return s
}

func opID(n int) journal.OpID {
	return uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012d", n))
}

// obey records a decision: identities, endings, plans, status. It gives the ids
// of the new operations.
func (w *world) obey(d Decision) []journal.OpID {
	if d.PoolID != "" {
		w.cluster.Status.PoolID = d.PoolID
	}
	for name, id := range d.VolumeIDs {
		w.volume(name).Status.VolumeID = id
	}
	for _, e := range d.Supersede {
		w.end(e.Op, view.Superseded)
	}
	for _, e := range d.Cancel {
		w.op(e.Op).State = view.Cancelling
	}
	keys := map[string]journal.OpID{}
	var ids []journal.OpID
	for _, p := range d.Plan {
		w.made++
		id := opID(w.made)
		for _, k := range p.After {
			p.Plan.After = append(p.Plan.After, keys[k])
		}
		keys[p.Key] = id
		ids = append(ids, id)
		op := view.Op{ID: id, Plan: p.Plan, State: view.Planned}
		for _, s := range p.Plan.Steps {
			op.Steps = append(op.Steps, view.Step{Step: s, State: view.Pending})
		}
		w.open = append(w.open, op)
	}
	w.obeyTemplates(d)
	w.report(d)
	return ids
}

// report writes what of the decision goes into status.
func (w *world) report(d Decision) {
	if d.ReconcileVersion != nil {
		v := int32(*d.ReconcileVersion)
		w.cluster.Status.ReconcileVersion = &v
	}
	values := func(m map[string]string) map[string]v1alpha1.OptionValue {
		out := map[string]v1alpha1.OptionValue{}
		for k, v := range m {
			out[k] = v1alpha1.OptionValue(v)
		}
		return out
	}
	if w.cluster != nil {
		w.cluster.Status.AppliedOptions = values(d.Cluster.Options)
	}
	for _, n := range w.nodes {
		n.Status.UUID = d.Nodes[n.Name].UUID
		n.Status.BrickDirs, n.Status.Conditions = nil, nil
		for _, dir := range d.Nodes[n.Name].Dirs {
			n.Status.BrickDirs = append(n.Status.BrickDirs, v1alpha1.BrickDirStatus{Path: v1alpha1.BrickDir(dir.Path), SizeBytes: int64(dir.SizeBytes), FSUUID: dir.FSUUID})
		}
		for _, f := range d.Findings {
			if f.Object == nodeObject(n.Name) {
				n.Status.Conditions = append(n.Status.Conditions, metav1.Condition{Type: f.Type, Status: metav1.ConditionStatus(f.Status), Reason: f.Reason})
			}
		}
	}
	for _, v := range w.volumes {
		st := d.Volumes[v.Name]
		v.Status.GlusterID, v.Status.AppliedOptions = st.GlusterID, values(st.Options)
	}
	for _, object := range d.Release {
		w.remove(object)
	}
}

func (w *world) remove(object string) {
	w.nodes = slices.DeleteFunc(w.nodes, func(n *v1alpha1.GlusterNode) bool { return nodeObject(n.Name) == object })
	w.volumes = slices.DeleteFunc(w.volumes, func(v *v1alpha1.GlusterVolume) bool { return volumeObject(v.Name) == object })
	if w.cluster != nil && object == clusterObject(w.cluster.Name) {
		w.cluster = nil
	}
}

func (w *world) op(id journal.OpID) *view.Op {
	for i := range w.open {
		if w.open[i].ID == id {
			return &w.open[i]
		}
	}
	return nil
}

// end takes an operation from the open ones to the ended ones.
func (w *world) end(id journal.OpID, state view.OpState) view.Op {
	op := *w.op(id)
	op.State = state
	w.open = slices.DeleteFunc(w.open, func(o view.Op) bool { return o.ID == id })
	w.ended = append([]view.Op{op}, w.ended...)
	return op
}

// start runs an operation up to, and into, a step; "" is the first one.
func (w *world) start(id journal.OpID, at string) error {
	op := w.op(id)
	op.State, op.Started = view.Running, time.Unix(1, 0)
	for i := range op.Steps {
		s := &op.Steps[i]
		if at == "" || s.ID == at {
			s.State, s.Attempt = view.Started, 1
			return nil
		}
		w.succeed(s)
	}
	return fmt.Errorf("operation %s has no step %q", id, at)
}

func (w *world) succeed(s *view.Step) {
	s.State, s.Attempt = view.Succeeded, 1
	if s.Name == StepClaimServer {
		var p ClaimParams
		if json.Unmarshal(s.Params, &p) == nil {
			s.Receipt = mustJSON(ClaimReceipt{UUID: w.servers[p.Node].uuid})
		}
	}
	w.podStepped(s)
}

// finish completes an operation: what it declared becomes true.
func (w *world) finish(id journal.OpID) error {
	op := w.op(id)
	op.Started = time.Unix(1, 0)
	for i := range op.Steps {
		w.succeed(&op.Steps[i])
	}
	done := w.end(id, view.Completed)
	e, err := endStateOf(&done.Plan)
	if err != nil {
		return err
	}
	if e.Node != nil {
		w.endNode(done.Plan.Scope, e)
		w.podEnds(done.Plan, e)
	}
	if e.Volume != nil {
		w.endVolume(done, e)
		return nil
	}
	maps.Copy(w.options, e.Set)
	for _, k := range e.Reset {
		delete(w.options, k)
	}
	return nil
}

func (w *world) endNode(pool string, e EndState) {
	n := e.Node
	s := w.servers[n.Name]
	if n.Gate != "" {
		s.gate.Installed, s.gate.Digest = true, n.Gate
	}
	if n.Claimed {
		s.gate.Pool, s.gate.Instance, s.gate.Fence = pool, w.instance, 1
		s.member = s.member || e.Pool
		s.uuid = cmp.Or(s.uuid, "uuid-"+n.Name)
	}
	for _, d := range n.Dirs {
		m, there := s.mounts[d]
		if !there {
			continue
		}
		m.Registered, m.Same = true, true
		s.mounts[d] = m
	}
	s.member = s.member || n.Joined
	if n.Released && s.pod == nil {
		s.gate = Gate{}
	}
}

func (w *world) endVolume(op view.Op, e EndState) {
	v := e.Volume
	at := slices.IndexFunc(w.pooled, func(vol Volume) bool { return vol.Name == v.Name })
	switch {
	case v.Deleted:
		w.pooled = slices.Delete(w.pooled, at, at+1)
		return
	case v.Created:
		sh := shapeOf(w.volumeOrPlanned(v.Name))
		w.pooled = append(w.pooled, Volume{
			Name: v.Name, ID: "gid-" + v.Name, Started: true, Replica: sh.replica, Arbiter: sh.arbiter,
			Disperse: sh.disperse, Redundancy: sh.redundancy, Options: map[string]string{Marker: v.VolumeID},
		})
		at = len(w.pooled) - 1
	}
	vol := &w.pooled[at]
	if op.Plan.Kind == KindCreateVolume {
		vol.Started, vol.New, vol.Options[Marker] = true, false, v.VolumeID
	}
	for _, b := range v.Bricks {
		vol.Bricks = append(vol.Bricks, Brick{PeerUUID: b.UUID, Host: b.Address, Path: b.Path(v.VolumeID), Arbiter: b.Arbiter})
	}
	maps.Copy(vol.Options, e.Set)
	for _, k := range e.Reset {
		delete(vol.Options, k)
	}
	if op.Plan.Kind == KindAddBrick {
		vol.Rebalance = Rebalance{TaskID: "task-" + v.Name, Status: "completed"}
	}
}

func (w *world) volumeOrPlanned(name string) *v1alpha1.VolumeLayout {
	if v := w.volume(name); v != nil {
		return &v.Spec.Layout
	}
	return &v1alpha1.VolumeLayout{Distribute: &v1alpha1.DistributeLayout{Bricks: 1}}
}
