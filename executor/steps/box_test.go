package steps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/observe"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// A box is an operator in one process: the planner, a real journal, the engine
// with the real steps, and the simulated pool in place of servers. Time is the
// pool's.
type box struct {
	t     *testing.T
	pool  *sim.Pool
	world *boxWorld
	path  string
	j     *journal.Journal
	state *view.Tracker
	e     *executor.Engine
	stop  func()
	rand  *rand.Rand

	cluster *v1alpha1.GlusterCluster
	nodes   []v1alpha1.GlusterNode
	volumes []v1alpha1.GlusterVolume
	anchor  executor.Anchor
	last    planner.Decision

	kube *kubetest.Cluster // nil: no node is a pod

	jitter func() float64 // of the engine; nil: of rand
	clock  executor.Clock // nil: the pool's time, which moves instead of waiting
	mortal *mortal        // nil: nothing ends by itself
}

func newBox(t *testing.T, seed uint64, servers int, with ...func(*box)) *box {
	t.Helper()
	var names []string
	for i := range servers {
		names = append(names, fmt.Sprintf("s%d", i+1))
	}
	return newBoxOf(t, seed, sim.Options{Seed: seed, Servers: names}, with...)
}

// newBoxOf is newBox with servers of any kind.
func newBoxOf(t *testing.T, seed uint64, servers sim.Options, with ...func(*box)) *box {
	t.Helper()
	b := &box{t: t, pool: sim.New(servers), path: t.TempDir() + "/journal.db",
		rand: rand.New(rand.NewPCG(seed, 1))}
	b.world = &boxWorld{b: b}
	b.cluster = &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", Generation: 1}}
	for _, w := range with {
		w(b)
	}
	b.open()
	return b
}

// open begins an epoch and lets the engine run.
func (b *box) open() {
	b.t.Helper()
	b.j = journaltest.OpenAt(b.t, b.path)
	var err error
	if b.state, err = view.Track(b.t.Context(), b.j); err != nil {
		b.t.Fatal(err)
	}
	if _, err := executor.Recover(b.t.Context(), b.j, b.state, b.j.Epoch()); err != nil {
		b.t.Fatal(err)
	}
	registry, err := Registry(b.world)
	if err != nil {
		b.t.Fatal(err)
	}
	clock := b.clock
	if clock == nil {
		clock = boxClock{b}
	}
	log := executor.Log(b.j)
	if b.mortal != nil {
		log = b.mortal.log(b.j)
	}
	fences := &executor.Fences{Journal: b.j, Epoch: b.j.Epoch(), Anchors: boxAnchors{b}, Gates: &kube.Gates{Servers: b.world, Instance: "me"},
		Instance: "me", Clock: clock, Log: logr.Discard()}
	jitter := b.jitter
	if jitter == nil {
		jitter = b.rand.Float64
	}
	b.e = executor.New(log, b.state, registry, b.j.Epoch(), executor.Options{Clock: clock, Rand: jitter, Fencer: fences})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.e.Run(ctx)
	}()
	b.stop = func() {
		cancel()
		<-done
	}
}

// crash ends the operator at this moment, its journal as it is on disk, and
// starts another one.
func (b *box) crash() {
	b.t.Helper()
	data := atOnce(b.t, b.path)
	b.stop()
	if err := b.j.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.path = b.t.TempDir() + "/journal.db"
	if err := os.WriteFile(b.path, data, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.open()
}

// atOnce reads a file that is being written to as it was at one moment: two
// readings in a row that are equal had no write between them. One alone may have
// pages from before a commit and from after it, which no crash leaves.
func atOnce(t *testing.T, path string) []byte {
	t.Helper()
	var last []byte
	for {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && bytes.Equal(data, last) {
			return data
		}
		last = data
	}
}

// boxClock moves the pool's time instead of waiting; Kubernetes gets on with it
// meanwhile.
type boxClock struct{ b *box }

func (c boxClock) Now() time.Time { return c.b.pool.Now() }

func (c boxClock) Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-time.After(2 * time.Millisecond): // lets the test's own goroutine have its turn
		c.b.pool.Advance(d)
		c.b.tick(ctx)
	}
}

type boxAnchors struct{ b *box }

func (a boxAnchors) Load(context.Context, string) (executor.Anchor, error) {
	v := a.b.anchor
	v.Read = v.Fence
	return v, nil
}

func (a boxAnchors) Store(_ context.Context, _ string, v executor.Anchor) error {
	a.b.anchor = v
	return nil
}

// boxWorld is the World of a box.
type boxWorld struct {
	b  *box
	mu sync.Mutex
}

func (w *boxWorld) servers() []kube.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []kube.Server
	for i := range w.b.nodes {
		n := &w.b.nodes[i]
		out = append(out, kube.Server{Node: n.Name, Address: n.Address(), Dirs: dirsOf(n),
			UUID: n.Status.UUID, Gate: w.b.gate(n.Address()), Problem: w.b.podProblem(n)})
	}
	return out
}

func dirsOf(n *v1alpha1.GlusterNode) []string {
	var out []string
	for _, d := range n.BrickDirs() {
		out = append(out, string(d))
	}
	return out
}

func (b *box) gate(address string) gate.Server {
	if b.mortal != nil {
		return b.mortal.gate(b.pool.Transport(address))
	}
	return b.pool.Transport(address)
}

func (w *boxWorld) Of(context.Context, string) ([]kube.Server, error) { return w.servers(), nil }

func (w *boxWorld) Observed(ctx context.Context, pool string) (planner.Observed, error) {
	out := planner.Observed{Servers: map[string]planner.Server{}, GateDigest: gateDigest}
	for _, s := range w.servers() {
		out.Servers[s.Node] = observe.Server(ctx, pool, s)
	}
	if err := w.b.seePods(ctx, &out); err != nil {
		return out, err
	}
	return out, nil
}

func (w *boxWorld) Changed(string) {}

func (w *boxWorld) GateBinary() ([]byte, string, error) { return gateBinary, gateDigest, nil }

func (w *boxWorld) Instance() string { return "me" }

var gateBinary = []byte("gate")

var gateDigest = func() string {
	sum := sha256.Sum256(gateBinary)
	return hex.EncodeToString(sum[:])
}()

func (b *box) addNode(i int) {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	n := v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Namespace: "ns", Generation: 1}}
	n.Spec.Cluster = "c"
	n.Spec.External = &v1alpha1.ExternalServer{Address: fmt.Sprintf("s%d", i), BrickDirs: []v1alpha1.BrickDir{"/bricks/b1", "/bricks/b2"}}
	b.nodes = append(b.nodes, n)
}

func (b *box) addVolume(sets int32) {
	v := v1alpha1.GlusterVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", Namespace: "ns", Generation: 1}}
	v.Spec.Cluster = "c"
	v.Spec.Layout.Replicate = &v1alpha1.ReplicateLayout{Replica: 3, Sets: sets}
	b.volumes = append(b.volumes, v)
}

// cycle gathers, plans, records and reports, as the controller does.
func (b *box) cycle() planner.Decision {
	b.t.Helper()
	now, err := b.state.Snapshot()
	if err != nil {
		b.t.Fatal(err)
	}
	obs, err := b.world.Observed(b.t.Context(), b.cluster.Status.PoolID)
	if err != nil {
		b.t.Fatal(err)
	}
	s := planner.Snapshot{Cluster: b.cluster, Nodes: b.nodes, Volumes: b.volumes, Observed: obs, Instance: "me",
		Tombstones: now.Tombstones, NewPoolID: b.id().String(), NewVolumeIDs: map[string]string{}}
	for i := range b.volumes {
		s.NewVolumeIDs[b.volumes[i].Name] = b.id().String()
	}
	for _, op := range now.Open {
		s.Open = append(s.Open, *op)
	}
	d := planner.Plan(s)
	b.report(d)
	b.record(now, d)
	b.last = d
	return d
}

func (b *box) id() uuid.UUID {
	var u uuid.UUID
	for i := range u {
		u[i] = byte(b.rand.UintN(256))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	return u
}

// report keeps in status what the controller would.
func (b *box) report(d planner.Decision) {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	if d.PoolID != "" {
		b.cluster.Status.PoolID = d.PoolID
	}
	for i := range b.nodes {
		if s, ok := d.Nodes[b.nodes[i].Name]; ok && s.Joined {
			b.nodes[i].Status.UUID = s.UUID
		}
	}
	for i := range b.volumes {
		v := &b.volumes[i]
		if id := d.VolumeIDs[v.Name]; id != "" {
			v.Status.VolumeID = id
		}
		if s, ok := d.Volumes[v.Name]; ok {
			v.Status.AppliedOptions = map[string]v1alpha1.OptionValue{}
			for k, val := range s.Options {
				v.Status.AppliedOptions[k] = v1alpha1.OptionValue(val)
			}
		}
	}
}

func (b *box) record(now view.Picture, d planner.Decision) {
	b.t.Helper()
	vers := map[journal.OpID]uint64{}
	for _, op := range now.Open {
		vers[op.ID] = op.Ver
	}
	guard := journal.Guard{OpVer: map[journal.OpID]uint64{}}
	var events []journal.Event
	add := func(t journal.Type, op journal.OpID, data any) {
		ev, err := journal.New(t, op, data)
		if err != nil {
			b.t.Fatal(err)
		}
		ev.Actor = "planner"
		events = append(events, ev)
		guard.OpVer[op] = vers[op]
	}
	for _, e := range d.Supersede {
		add(journal.OpSuperseded, e.Op, journal.Decision{Reason: e.Reason})
	}
	for _, e := range d.Cancel {
		add(journal.OpCancelling, e.Op, journal.Decision{Reason: e.Reason})
	}
	ids := map[string]journal.OpID{}
	for _, p := range d.Plan {
		ids[p.Key] = b.id()
	}
	for _, p := range d.Plan {
		for _, key := range p.After {
			p.Plan.After = append(p.Plan.After, ids[key])
		}
		add(journal.OpPlanned, ids[p.Key], p.Plan)
	}
	if len(events) == 0 {
		return
	}
	if _, err := b.j.Append(b.t.Context(), guard, events...); err != nil && !journal.IsConflict(err) {
		b.t.Fatal(err)
	}
}

// settle cycles until nothing is planned and nothing is open.
func (b *box) settle(most int) {
	b.t.Helper()
	for range most {
		idle := len(b.j.OpenOps()) == 0 // what ends during the cycle may be what the next one goes on from
		d := b.cycle()
		if idle && len(d.Plan)+len(d.Supersede)+len(d.Cancel) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("not settled after %d cycles:\n%s", most, b.account())
}

// account is all that is open, and why it does not move.
func (b *box) account() string {
	now, err := b.state.Snapshot()
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	notes := b.e.Notes()
	for _, op := range now.Open {
		raw, _ := json.Marshal(op.Steps)
		fmt.Fprintf(&out, "%s %s %s: %+v\n  %s\n  %+v\n", op.Plan.Kind, op.Plan.Target, op.State, notes[op.ID], raw, op.Suspended)
	}
	for _, f := range b.last.Findings {
		if f.Type == v1alpha1.ConditionBlocked && f.Status == "True" {
			fmt.Fprintf(&out, "%s blocked: %s: %s\n", f.Object, f.Reason, f.Message)
		}
	}
	for _, p := range b.last.Plan {
		fmt.Fprintf(&out, "planned again: %s %s: %s\n", p.Plan.Kind, p.Plan.Target, p.Plan.Reason.Difference)
	}
	return out.String()
}

// commands counts the gluster commands that had an effect, by their words.
func (b *box) commands() map[string]int {
	out := map[string]int{}
	for _, e := range b.pool.Effects() {
		if e.Verb == "run" {
			out[strings.Join(e.Argv[:min(len(e.Argv), 3)], " ")]++
		}
	}
	return out
}

// once checks that each of these had its effect exactly once, and nothing else
// of its verb had.
func (b *box) once(want ...string) {
	b.t.Helper()
	have := b.commands()
	for _, w := range want {
		if have[w] != 1 {
			b.t.Errorf("%q had its effect %d times, want once; all: %v", w, have[w], slices.Sorted(maps.Keys(have)))
		}
	}
}

func metaNow(t time.Time) metav1.Time { return metav1.NewTime(t) }
