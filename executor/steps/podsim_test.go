package steps

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

var podSeed = flag.Int("podseed", -1, "the one seed of TestPodsSurvive to run")

// TestPodsSurvive is an operator whose nodes are pods, from nothing: people change
// what they want, also to what cannot be; pods, servers and the API server fail;
// the operator dies at anything it does. What happens follows from the seed, in a
// time of its own; what happens at one moment may differ in its order. No pod goes that another copy is missed for (S1, S2), the
// journal never contradicts itself (I1-I31), and in the end everything is as
// declared last.
func TestPodsSurvive(t *testing.T) {
	from, to := 0, (seeds()+1)/2
	if *podSeed >= 0 {
		from, to = *podSeed, *podSeed+1
	}
	for seed := from; seed < to; seed++ {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			podLife(t, uint64(seed))
		})
	}
}

// podLife is what follows from a seed.
func podLife(t *testing.T, seed uint64) {
	t.Helper()
	dir := memoryDir(t)
	synctest.Test(t, func(t *testing.T) {
		s := newPodSim(t, seed, dir)
		defer s.end()
		for range 150 {
			s.people()
			s.accidents()
			s.step()
		}
		s.repair()
		s.converge(3000)
		s.idle()
	})
}

// memoryDir is a directory on tmpfs, where syncs cost nothing.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "steps-test-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A podSim is a box of pods with everything that happens to it.
type podSim struct {
	*box
	rand  *rand.Rand // of people and accidents; the box's own is the operator's
	dir   string
	files int
	count int // of steps

	image    string
	later    map[int][]func() // accidents that pass, by step
	servers  map[string]*podServer
	told     string // what went on, for a failing seed
	crashes  int
	released int
}

// A podServer is the truth about the server of a pod.
type podServer struct {
	node          string
	on, down, cut bool      // down: glusterd was killed
	stale         bool      // it has missed writes
	heals         int       // steps until it has not
	badSince      time.Time // that its copy does not count; zero: it does
}

const (
	podTemplate = "main"
	handNode    = "x"
)

func newPodSim(t *testing.T, seed uint64, dir string) *podSim {
	t.Helper()
	s := &podSim{rand: rand.New(rand.NewPCG(seed, 2)), dir: dir, image: "gluster:0", later: map[int][]func(){}, servers: map[string]*podServer{}}
	names := []string{handNode}
	for i := range 4 {
		names = append(names, fmt.Sprintf("c-%s-%d", podTemplate, i))
	}
	opts := sim.Options{Seed: seed, Clock: time.Now, Roots: []string{"/bricks/bricks", "/bricks/bricks-1"}}
	for _, n := range names {
		s.servers[addressOf(n)] = &podServer{node: n}
		opts.Servers = append(opts.Servers, addressOf(n))
	}
	s.box = &box{t: t, pool: sim.New(opts), path: s.file(), rand: rand.New(rand.NewPCG(seed, 1)), clock: executor.WallClock{}, mortal: &mortal{},
		jitter: rand.New(rand.NewPCG(seed, 3)).Float64}
	s.mortal.deletes = s.deletes
	s.world = &boxWorld{b: s.box}
	s.cluster = &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", Generation: 1}}
	s.cluster.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{Name: podTemplate, Thresholds: v1alpha1.Thresholds{Nodes: 3},
		Storage: v1alpha1.TemplateStorage{StorageClassName: "fast"}}}
	s.addVolume(1)
	for _, addr := range s.addrs() {
		if err := s.pool.Power(addr, false); err != nil {
			t.Fatal(err)
		}
	}
	s.kubernetes()
	s.open()
	return s
}

// addrs are the servers, in order.
func (s *podSim) addrs() []string { return slices.Sorted(maps.Keys(s.servers)) }

func addressOf(node string) string { return node + "-0.c.ns.svc" }

func (s *podSim) file() string {
	s.files++
	return fmt.Sprintf("%s/journal-%d.db", s.dir, s.files)
}

func (s *podSim) end() {
	s.stop()
	_ = s.j.Close()
	if s.t.Failed() {
		s.t.Logf("run it again with -podseed and the number of %s\n%s", s.t.Name(), s.told)
	}
}

func (s *podSim) tellf(format string, args ...any) {
	s.told += fmt.Sprintf("%4d ", s.count) + fmt.Sprintf(format, args...) + "\n"
}

// server is the one that a pod is.
func (s *podSim) server(p *corev1.Pod) (string, *podServer) {
	addr := addressOf(p.Labels[v1alpha1.LabelNode])
	return addr, s.servers[addr]
}

func (s *podSim) kubernetes() {
	c, err := kubetest.New()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, claim := range []string{handNode + "-state", handNode + "-bricks"} {
		pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: claim}}
		if err := c.Plain().Create(s.t.Context(), pvc); err != nil {
			s.t.Fatal(err)
		}
	}
	c.Start = func(p *corev1.Pod) string {
		if strings.HasPrefix(p.Spec.Containers[0].Image, "missing") {
			return "image not found"
		}
		addr, srv := s.server(p)
		if srv.on {
			return ""
		}
		for _, root := range []string{"bricks", "bricks-1"} {
			has := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "storage-"+root })
			if err := s.pool.Mount(addr, "/bricks/"+root, has); err != nil {
				s.t.Error(err)
			}
		}
		srv.on, srv.down = true, false
		_ = s.pool.Power(addr, true)
		return ""
	}
	c.Ready = func(p *corev1.Pod) bool {
		_, srv := s.server(p)
		return srv.on && !srv.down
	}
	c.Stop = func(p *corev1.Pod) {
		if addr, srv := s.server(p); srv.on {
			srv.on, srv.down = false, false
			_ = s.pool.Power(addr, false)
		}
	}
	s.kube = c
}

// step is a second in which everybody does what they do.
func (s *podSim) step() {
	s.t.Helper()
	s.count++
	time.Sleep(time.Second)
	synctest.Wait()
	if s.mortal.died() {
		s.again()
	}
	for _, f := range s.later[s.count] {
		f()
	}
	if err := s.kube.Tick(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.heal()
	s.decide()
	synctest.Wait()
	if wrong := s.mortal.complaints(); len(wrong) > 0 {
		s.t.Fatal(strings.Join(wrong, "\n"))
	}
}

// again is the next process of the operator, with the journal as the last one
// left it.
func (s *podSim) again() {
	s.crashes++
	s.tellf("the operator died at %q", s.mortal.last)
	data := atOnce(s.t, s.path)
	s.stop()
	if err := s.j.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.path = s.file()
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.mortal.reborn()
	s.open()
}

// decide is one cycle of the planner.
func (s *podSim) decide() {
	s.t.Helper()
	now, err := s.state.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	obs, err := s.world.Observed(s.t.Context(), s.cluster.Status.PoolID)
	if err != nil || s.mortal.died() {
		return // it sees the rest in the next cycle
	}
	p := planner.Snapshot{Cluster: s.cluster, Nodes: s.nodes, Volumes: s.volumes, Observed: obs, Instance: "me", Epoch: now.Epoch,
		NodeImage: s.image, Tombstones: now.Tombstones, NewPoolID: s.id().String(), NewVolumeIDs: map[string]string{}}
	for i := range s.volumes {
		p.NewVolumeIDs[s.volumes[i].Name] = s.id().String()
	}
	for _, op := range now.Open {
		p.Open = append(p.Open, *op)
	}
	for _, op := range slices.Backward(now.Recent) {
		p.Ended = append(p.Ended, *op)
	}
	d := planner.Plan(p)
	s.report(d)
	if s.mortal.do("record", func() error { s.record(now, d); return nil }) == nil {
		s.obey(d)
		s.last = d
	}
	for _, p := range d.Plan {
		s.tellf("planned %s %s: %s", p.Plan.Kind, p.Plan.Target, p.Plan.Reason.Difference)
	}
	for _, e := range slices.Concat(d.Supersede, d.Cancel) {
		s.tellf("ends %s: %s", e.Op, e.Reason)
	}
}

// obey does what the controller does with objects.
func (s *podSim) obey(d planner.Decision) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for _, t := range d.TemplateNodes {
		if n := s.node(t.Name); n != nil {
			n.Spec, n.Generation = t.Spec, n.Generation+1
			continue
		}
		n := v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Name: t.Name, Namespace: "ns", Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Now()), Annotations: map[string]string{v1alpha1.AnnotationTemplate: t.Template}}, Spec: t.Spec}
		s.nodes = append(s.nodes, n)
	}
	for _, object := range d.Release {
		s.nodes = slices.DeleteFunc(s.nodes, func(n v1alpha1.GlusterNode) bool { return "GlusterNode/"+n.Name == object })
		s.released++
		s.tellf("%s went", object)
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.Status.BrickDirs = nil
		for _, dir := range d.Nodes[n.Name].Dirs {
			n.Status.BrickDirs = append(n.Status.BrickDirs, v1alpha1.BrickDirStatus{Path: v1alpha1.BrickDir(dir.Path), State: dir.State, FSUUID: dir.FSUUID, SizeBytes: int64(dir.SizeBytes)})
		}
	}
}

func (s *podSim) node(name string) *v1alpha1.GlusterNode {
	for i := range s.nodes {
		if s.nodes[i].Name == name {
			return &s.nodes[i]
		}
	}
	return nil
}

// people want something else now and then.
func (s *podSim) people() {
	if s.rand.IntN(12) != 0 {
		return
	}
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	t := &s.cluster.Spec.NodeTemplates[0]
	s.cluster.Generation++
	switch s.rand.IntN(8) {
	case 0, 1:
		s.image = fmt.Sprint("gluster:", s.rand.IntN(4))
		s.tellf("wanted: image %s", s.image)
	case 2, 3:
		s.image = fmt.Sprint("missing:", s.rand.IntN(2))
		s.tellf("wanted: image %s, which is not there", s.image)
	case 4:
		t.Thresholds.Nodes = 4
		s.tellf("wanted: a fourth node")
	case 5:
		t.Storage.Count = 2
		s.tellf("wanted: a second claim")
	case 6:
		t.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(int64(1+s.rand.IntN(3))<<30, resource.BinarySI)}}
		t.PriorityClassName = "high"
		s.tellf("wanted: resources")
	case 7:
		s.hand()
	}
}

// hand declares a node by hand, or deletes it before it has joined.
func (s *podSim) hand() {
	n := s.node(handNode)
	switch {
	case n == nil:
		n := v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Name: handNode, Namespace: "ns", Generation: 1, CreationTimestamp: metav1.NewTime(time.Now())}}
		n.Spec.Cluster = "c"
		n.Spec.State = &v1alpha1.NodeState{PVCName: handNode + "-state"}
		n.Spec.Storage = []v1alpha1.Storage{{Name: "bricks", PVCName: handNode + "-bricks"}}
		s.nodes = append(s.nodes, n)
		s.tellf("wanted: node %s", handNode)
	case !s.last.Nodes[handNode].Joined && n.DeletionTimestamp == nil:
		now := metav1.NewTime(time.Now())
		n.DeletionTimestamp, n.Finalizers = &now, []string{v1alpha1.Finalizer}
		s.tellf("not wanted: node %s", handNode)
	}
}

// converge lets time pass until all is as declared. Whoever operates it retries
// what was parked.
func (s *podSim) converge(most int) {
	s.t.Helper()
	calm, why := 0, ""
	for range most {
		s.step()
		if why = s.amiss(); why != "" {
			calm = 0
			s.retry()
			continue
		}
		if calm++; calm == 5 {
			return
		}
	}
	s.t.Fatalf("after %d steps of quiet: %s\n%s", most, why, s.account())
}

// amiss says what is not as declared.
func (s *podSim) amiss() string {
	d := &s.last
	switch {
	case len(s.j.OpenOps()) > 0:
		return "an operation is open"
	case len(d.Plan)+len(d.Supersede)+len(d.Cancel)+len(d.TemplateNodes) > 0:
		return "something is planned"
	case d.Volumes["v"].Total != 3 || d.Volumes["v"].Up != 3:
		return fmt.Sprintf("%d of %d bricks are up", d.Volumes["v"].Up, d.Volumes["v"].Total)
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		st := d.Nodes[n.Name]
		switch {
		case n.DeletionTimestamp != nil && st.Joined: // it stays as it is
		case n.DeletionTimestamp != nil:
			return n.Name + " has not gone"
		case !st.Joined || !st.Healthy || !st.PodCurrent:
			return fmt.Sprintf("%s: joined %v, healthy %v, as declared %v", n.Name, st.Joined, st.Healthy, st.PodCurrent)
		}
	}
	return ""
}

func (s *podSim) retry() {
	if s.count%30 != 0 {
		return
	}
	now, err := s.state.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, op := range now.Open {
		if op.State != view.Suspended {
			continue
		}
		_, err := s.e.Decide(s.t.Context(), executor.Decision{Verb: "retry", Op: op.ID, Person: "p", Reason: "it is quiet"})
		if err != nil && !executor.IsRefused(err) && !journal.IsConflict(err) && !errors.Is(err, errDead) {
			s.t.Fatal(err)
		}
		s.tellf("retried %s %s, parked for %s: %s", op.Plan.Kind, op.Plan.Target, op.Suspended.Cause, op.Suspended.Message)
	}
}

// idle: what has converged is left alone (S9), and no operation has let more than
// one pod go.
func (s *podSim) idle() {
	s.t.Helper()
	kube, pool := len(s.kube.Effects()), len(s.pool.Effects())
	head := s.j.Head().Seq
	for range 20 {
		s.step()
	}
	if k, p := len(s.kube.Effects())-kube, len(s.pool.Effects())-pool; k+p > 0 || s.j.Head().Seq != head {
		s.t.Errorf("idle, with %d changes in Kubernetes, %d in the pool, %d events", k, p, s.j.Head().Seq-head)
	}
	heads, err := s.j.Ops(journal.OpID{}, 0, journal.Filter{})
	if err != nil {
		s.t.Fatal(err)
	}
	restarts := 0
	for _, h := range heads {
		if h.Kind == planner.KindRestartNode {
			restarts++
		}
	}
	deleted := 0
	for _, e := range s.kube.Effects() {
		if strings.HasPrefix(e, "delete Pod ") {
			deleted++
		}
	}
	if deleted > restarts {
		s.t.Errorf("%d pods were let go by %d operations", deleted, restarts)
	}
}
