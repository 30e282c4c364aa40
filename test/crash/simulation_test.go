package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/test/rig"
)

const (
	cluster    = "pool"
	volumeName = "data"
)

// A simulation is a simulated pool, served in this process, which outlives the
// operator processes that look after it one after the other.
type simulation struct {
	rig    *rig.Rig
	ns     string
	pool   *sim.Pool
	op     *rig.Operator
	head   journal.Seq // last event when the scenario began
	lost   bool        // the journal does not know any more what was done
	closed []func()

	effects int // of the pool when the scenario began; see onSmallDisk
}

// A snapshot is a simulation at rest: pool, journal and objects.
type snapshot struct {
	pool    []byte
	journal []byte
	objects []client.Object
	effects int
	head    journal.Seq
}

var simulations atomic.Int64

// newSimulation makes one with a namespace, a folder and an operator of its own.
// from may be nil: fresh servers, and nothing declared.
func newSimulation(ctx context.Context, r *rig.Rig, binary string, servers int, from *snapshot) (*simulation, error) {
	n := simulations.Add(1)
	s := &simulation{rig: r, ns: fmt.Sprintf("sim-%d", n)}
	opts := sim.Options{Seed: 1, Clock: time.Now, Rebalance: sim.RebalancePlan{Takes: 300 * time.Millisecond, Files: 10}}
	for i := range servers {
		opts.Servers = append(opts.Servers, fmt.Sprintf("s%d", i+1))
	}
	var err error
	if from == nil {
		s.pool = sim.New(opts)
	} else if s.pool, err = sim.Load(opts, from.pool); err != nil {
		return nil, err
	}
	// The path of a unix socket is short.
	dir, err := os.MkdirTemp("", "anthill-sim-")
	if err != nil {
		return nil, err
	}
	s.closed = append(s.closed, func() { _ = os.RemoveAll(dir) })
	serving, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.pool.Serve(serving, dir)
	}()
	s.closed = append(s.closed, func() { stop(); <-served })
	if err := rig.Namespace(ctx, r.Client, s.ns); err != nil {
		return s, err
	}
	if s.op, err = r.NewOperator(ctx, binary, s.ns); err != nil {
		return s, err
	}
	s.op.Instance = "sim/anthill"
	s.op.Args = []string{"--gate-transport", "unix:" + dir, "--namespace", s.ns, "--leader-elect=false", "--resync", "1s"}
	s.closed = append(s.closed, s.op.Kill)
	if from != nil {
		s.head = from.head
		return s, s.restore(ctx, from)
	}
	return s, nil
}

func (s *simulation) close() {
	slices.Reverse(s.closed)
	for _, f := range s.closed {
		f()
	}
	s.closed = nil
}

// account is what somebody needs who wants to know why a test failed.
func (s *simulation) account(ctx context.Context) string {
	if s.op == nil {
		return ""
	}
	return s.op.Account(ctx)
}

// declare makes objects of this simulation.
func (s *simulation) declare(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		o.SetNamespace(s.ns)
		if err := s.rig.Client.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// nodes describes servers from..to, each in a zone of its own.
func nodes(from, to int) []client.Object {
	var out []client.Object
	for i := from; i <= to; i++ {
		n := &v1alpha1.GlusterNode{}
		n.Name = fmt.Sprintf("node-%d", i)
		n.Spec = v1alpha1.GlusterNodeSpec{Cluster: cluster, Zone: fmt.Sprintf("zone-%d", i), External: &v1alpha1.ExternalServer{
			Address: fmt.Sprintf("s%d", i), BrickDirs: []v1alpha1.BrickDir{"/bricks/b1", "/bricks/b2"},
			SSH: v1alpha1.SSH{SecretRef: v1alpha1.SecretReference{Name: "none"}},
		}}
		out = append(out, n)
	}
	return out
}

// change changes an object.
func change[T client.Object](ctx context.Context, s *simulation, o T, name string, edit func(T)) error {
	o.SetNamespace(s.ns)
	o.SetName(name)
	if err := s.rig.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	before := o.DeepCopyObject().(client.Object)
	edit(o)
	return s.rig.Client.Patch(ctx, o, client.MergeFrom(before))
}

// objects lists what is declared, the cluster first.
func (s *simulation) objects(ctx context.Context) ([]client.Object, error) {
	var out []client.Object
	var clusters v1alpha1.GlusterClusterList
	var nodes v1alpha1.GlusterNodeList
	var volumes v1alpha1.GlusterVolumeList
	for _, l := range []client.ObjectList{&clusters, &nodes, &volumes} {
		if err := s.rig.Client.List(ctx, l, client.InNamespace(s.ns)); err != nil {
			return nil, err
		}
	}
	for i := range clusters.Items {
		out = append(out, &clusters.Items[i])
	}
	for i := range nodes.Items {
		out = append(out, &nodes.Items[i])
	}
	for i := range volumes.Items {
		out = append(out, &volumes.Items[i])
	}
	return out, nil
}

// snapshot stops the operator and keeps everything.
func (s *simulation) snapshot(ctx context.Context) (*snapshot, error) {
	var snap snapshot
	var err error
	if s.op.Running() {
		s.op.Stop()
	}
	if snap.pool, err = s.pool.Save(); err != nil {
		return nil, err
	}
	snap.effects = len(s.pool.Effects())
	if snap.journal, err = os.ReadFile(s.op.Journal()); errors.Is(err, os.ErrNotExist) {
		err = nil // the operator was never started
	} else if err == nil {
		var head journal.Head
		head, err = s.op.Head(ctx)
		snap.head = head.Seq
	}
	if err != nil {
		return nil, err
	}
	snap.objects, err = s.objects(ctx)
	return &snap, err
}

// restore makes objects and journal as they were.
func (s *simulation) restore(ctx context.Context, from *snapshot) error {
	if len(from.journal) > 0 {
		if err := os.WriteFile(s.op.Journal(), from.journal, 0o600); err != nil {
			return err
		}
	}
	for _, o := range from.objects {
		o := o.DeepCopyObject().(client.Object)
		was := o.DeepCopyObject().(client.Object)
		o.SetNamespace(s.ns)
		o.SetUID("")
		o.SetResourceVersion("")
		o.SetManagedFields(nil)
		if err := s.rig.Client.Create(ctx, o); err != nil {
			return err
		}
		was.SetNamespace(s.ns)
		was.SetUID(o.GetUID())
		was.SetResourceVersion(o.GetResourceVersion())
		was.SetGeneration(o.GetGeneration())
		was.SetManagedFields(nil)
		if err := s.rig.Client.Status().Update(ctx, was); err != nil {
			return err
		}
	}
	return nil
}

// A scenario is one thing an operator is asked for.
type scenario struct {
	name    string
	servers int
	// base brings a fresh simulation to where the scenario begins. An operator
	// runs; it is stopped afterwards.
	base func(ctx context.Context, s *simulation) error
	// declare asks for it.
	declare func(ctx context.Context, s *simulation) error
	// kinds of operations it takes, once each.
	kinds []string
	// newGate: the operator brings another gate along than the base was made
	// with.
	newGate bool
}

// converged says "" when every operation of the scenario has completed and all
// that is declared is as declared; else what is missing.
func (s *simulation) converged(ctx context.Context, sc *scenario) string {
	v, err := s.op.View(ctx)
	if err != nil {
		return err.Error()
	}
	if missing := s.missing(v, sc); missing != "" {
		return missing
	}
	objects, err := s.objects(ctx)
	if err != nil {
		return err.Error()
	}
	for _, o := range objects {
		if o.GetDeletionTimestamp() != nil {
			return o.GetName() + " has not gone"
		}
		for typ, status := range map[string]metav1.ConditionStatus{v1alpha1.ConditionAvailable: metav1.ConditionTrue, v1alpha1.ConditionProgressing: metav1.ConditionFalse} {
			if why := rig.Is(o, typ, status, ""); why != "" {
				return o.GetName() + ": " + why
			}
		}
	}
	return ""
}

// missing says what operations are open, or not there at all.
func (s *simulation) missing(v *rig.View, sc *scenario) string {
	done := map[string]bool{}
	for _, op := range v.All() {
		if !op.State.Terminal() {
			return fmt.Sprintf("%s of %s is %s", op.Plan.Kind, op.Plan.Target, op.State)
		}
		if op.First > s.head && op.State == view.Completed {
			done[op.Plan.Kind] = true
		}
	}
	for _, k := range sc.kinds {
		if !done[k] && !s.lost {
			return "no " + k + " has completed"
		}
	}
	return ""
}

// awaitConverged waits for it while the operator runs.
func (s *simulation) awaitConverged(ctx context.Context, max time.Duration, sc *scenario) error {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	for {
		why := s.converged(ctx, sc)
		if why == "" {
			return nil
		}
		if !s.op.Running() {
			return errDied
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting %v: %s", max, why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

var errDied = errors.New("the operator died")

// convergeMax is how long one operator may take for a scenario, on a machine
// that does other things too.
const convergeMax = 2 * time.Minute

// outcome is what a run led to.
type outcome struct {
	world   world
	effects map[string]int // since the base, by what they are
	died    bool
}

// A trial is what happens to a scenario.
type trial struct {
	at    string // crash point where the operator dies; empty: it lives
	trace string // file for the crash points that are reached
	// lose is done to the journal once the operator has died.
	lose func(s *simulation, from *snapshot) error
	// during starts the operator, and whatever is to happen then; nil: nothing
	// but that. Its error ends the trial.
	during func(ctx context.Context, s *simulation) error
}

// run carries the scenario out.
func (s *simulation) run(ctx context.Context, sc *scenario, from *snapshot, try trial) (outcome, error) {
	var out outcome
	if err := sc.declare(ctx, s); err != nil {
		return out, err
	}
	s.op.Env = []string{crash.EnvAt + "=" + try.at, crash.EnvTrace + "=" + try.trace}
	if try.during == nil {
		try.during = func(context.Context, *simulation) error { return s.op.Start() }
	}
	if err := try.during(ctx, s); err != nil {
		return out, err
	}
	err := s.awaitConverged(ctx, convergeMax, sc)
	if errors.Is(err, errDied) && try.at != "" {
		if code, werr := s.op.Wait(ctx); werr != nil || code != -1 {
			return out, fmt.Errorf("the operator ended with status %d before it reached %s: %w", code, try.at, errors.Join(err, werr))
		}
		out.died = true
		s.op.Env = nil
		if try.lose != nil {
			s.lost = true
			if err := try.lose(s, from); err != nil {
				return out, err
			}
		}
		if err := s.op.Start(); err != nil {
			return out, err
		}
		err = s.awaitConverged(ctx, convergeMax, sc)
	}
	if err != nil {
		return out, err
	}
	s.op.Kill()
	if err := s.op.Verify(ctx); err != nil {
		return out, err
	}
	if out.world, err = simulated(s.pool); err != nil {
		return out, err
	}
	out.effects = effects(s.pool.Effects()[from.effects:])
	return out, nil
}

// effects counts what was done, by what it is.
func effects(list []sim.Effect) map[string]int {
	out := map[string]int{}
	for _, e := range list {
		what := e.Verb + " " + e.Server
		if len(e.Argv) > 0 {
			what = e.Verb + " " + strings.Join(e.Argv, " ") // whoever was asked
		} else if len(e.On) > 0 {
			what += " " + e.On[0]
		}
		out[stripIDs(what)]++
	}
	return out
}

// stripIDs replaces what looks like a UUID: a run makes ids of its own.
func stripIDs(s string) string {
	const pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	var b strings.Builder
	for len(s) > 0 {
		if len(s) >= len(pattern) && isUUID(s[:len(pattern)], pattern) {
			b.WriteString("<id>")
			s = s[len(pattern):]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

func isUUID(s, pattern string) bool {
	for i := range pattern {
		if (pattern[i] == '-') != (s[i] == '-') || pattern[i] != '-' && !strings.ContainsRune("0123456789abcdef", rune(s[i])) {
			return false
		}
	}
	return true
}

// prepare makes the base of a scenario, and runs it once without faults. dir is
// for files.
func prepare(ctx context.Context, dir string, r *rig.Rig, sc *scenario) (*prepared, error) {
	s, err := newSimulation(ctx, r, environment.binary, sc.servers, nil)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return nil, err
	}
	if sc.base != nil {
		if err := errors.Join(s.op.Start(), s.op.AwaitReady(ctx)); err != nil {
			return nil, err
		}
		if err := sc.base(ctx, s); err != nil {
			return nil, fmt.Errorf("making the base: %w\n%s", err, s.account(ctx))
		}
	}
	p := &prepared{scenario: sc}
	if p.from, err = s.snapshot(ctx); err != nil {
		return nil, err
	}
	trace := filepath.Join(dir, "trace")
	clean, want, err := attempt(ctx, r, p, trial{trace: trace})
	defer clean.close()
	if err != nil {
		return nil, fmt.Errorf("without faults: %w\n%s", err, clean.account(ctx))
	}
	p.want = want
	reached, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(reached)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.points = append(p.points, name)
	}
	return p, nil
}
