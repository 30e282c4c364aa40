package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

const (
	testPool   = "11111111-1111-4111-8111-111111111111"
	testVolume = "22222222-2222-4222-8222-222222222222"
)

var testKey = types.NamespacedName{Namespace: "ns", Name: "c1"}

// A world is a Reconciler between an API server, a journal, an observer and a
// plan that the test decides.
type world struct {
	t        *testing.T
	client   client.WithWatch
	journal  *journal.Journal
	view     *view.Tracker
	epoch    journal.Epoch
	events   *recorder
	executor *fakeExecutor
	r        *Reconciler

	plan     func(planner.Snapshot) planner.Decision
	observed planner.Observed
	now      time.Time
	mu       sync.Mutex
	writes   []string                                  // "verb Kind/name"
	refuse   func(verb string, o runtime.Object) error // before a write; may be nil
	asked    int                                       // observations
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, events: &recorder{}, executor: &fakeExecutor{notes: map[journal.OpID]Note{}}, now: time.Unix(1_700_000_000, 0),
		plan: func(planner.Snapshot) planner.Decision { return planner.Decision{} }}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.GlusterCluster{}, &v1alpha1.GlusterNode{}, &v1alpha1.GlusterVolume{}).
		WithIndex(&v1alpha1.GlusterNode{}, IndexCluster, IndexByCluster).
		WithIndex(&v1alpha1.GlusterVolume{}, IndexCluster, IndexByCluster).
		WithInterceptorFuncs(w.interceptor()).Build()
	w.journal = journaltest.Open(t)
	var err error
	if w.journal.Epoch() == 0 {
		t.Cleanup(func() { _ = w.journal.Close() })
		if _, err = w.journal.OpenEpoch(t.Context(), journal.Opened{Instance: "ns/op"}); err != nil {
			t.Fatal(err)
		}
	}
	if w.view, err = view.Track(t.Context(), w.journal); err != nil {
		t.Fatal(err)
	}
	w.epoch = w.journal.Epoch()
	w.r = w.reconciler(w.client)
	return w
}

func (w *world) reconciler(c client.Client) *Reconciler {
	return NewReconciler(c, ObserverFunc(func(context.Context, *v1alpha1.GlusterCluster, []v1alpha1.GlusterNode) planner.Observed {
		w.asked++
		return w.observed
	}), func(s planner.Snapshot) planner.Decision { return w.plan(s) }, w.journal, w.view, Options{
		Instance: "ns/op", Epoch: w.epoch, Executor: w.executor, Recorder: w.events, IDs: &countingIDs{},
		Clock: func() time.Time { return w.now },
	})
}

// interceptor notes every write and lets the test refuse it.
func (w *world) interceptor() interceptor.Funcs {
	note := func(verb string, o any) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		var name string
		if obj, ok := o.(client.Object); ok {
			name = short(obj)
			if w.refuse != nil {
				if err := w.refuse(verb, obj); err != nil {
					return err
				}
			}
		} else {
			raw, _ := json.Marshal(o)
			var m struct {
				Kind     string `json:"kind"`
				Metadata struct {
					Name string `json:"name"`
				} `json:"metadata"`
			}
			_ = json.Unmarshal(raw, &m)
			name = m.Kind + "/" + m.Metadata.Name
			if w.refuse != nil {
				if err := w.refuse(verb+" "+name, nil); err != nil {
					return err
				}
			}
		}
		w.writes = append(w.writes, verb+" "+name)
		return nil
	}
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := note("patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, sub string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			var so client.SubResourceApplyOptions
			so.ApplyOpts(opts)
			if err := note("apply("+so.FieldManager+")", o); err != nil {
				return err
			}
			return c.SubResource(sub).Apply(ctx, o, opts...)
		},
	}
}

// cycle reconciles the cluster and returns what was written to the API.
func (w *world) cycle() (ctrl.Result, []string) {
	w.t.Helper()
	w.writes = nil
	res, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: testKey})
	if err != nil {
		w.t.Fatalf("Reconcile: %v", err)
	}
	return res, w.writes
}

func (w *world) cluster() *v1alpha1.GlusterCluster {
	w.t.Helper()
	return get(w, &v1alpha1.GlusterCluster{}, "c1")
}

func get[T client.Object](w *world, o T, name string) T {
	w.t.Helper()
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: "ns", Name: name}, o); err != nil {
		w.t.Fatalf("reading %s: %v", name, err)
	}
	return o
}

func (w *world) gone(o client.Object, name string) bool {
	w.t.Helper()
	err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: "ns", Name: name}, o)
	return apierrors.IsNotFound(err)
}

func (w *world) open() []*view.Op {
	w.t.Helper()
	p, err := w.view.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	return p.Open
}

// append writes events about an operation as the executor would.
func (w *world) append(id journal.OpID, events ...journal.Event) {
	w.t.Helper()
	for i := range events {
		events[i].Op = id
	}
	if _, err := w.journal.Append(w.t.Context(), journal.Guard{Epoch: w.epoch}, events...); err != nil {
		w.t.Fatal(err)
	}
}

func fact(t *testing.T, typ journal.Type, step string, data any) journal.Event {
	t.Helper()
	ev, err := journal.New(typ, journal.OpID{}, data)
	if err != nil {
		t.Fatal(err)
	}
	ev.Step = step
	if step != "" {
		ev.Attempt = 1
	}
	return ev
}

func clusterObject(change ...func(*v1alpha1.GlusterCluster)) *v1alpha1.GlusterCluster {
	c := &v1alpha1.GlusterCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindCluster},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1", UID: "uid-c1", Generation: 1},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func withPool(c *v1alpha1.GlusterCluster) {
	c.Status.PoolID = testPool
	c.Finalizers = []string{v1alpha1.Finalizer}
}

func nodeObject(name string, change ...func(*v1alpha1.GlusterNode)) *v1alpha1.GlusterNode {
	n := &v1alpha1.GlusterNode{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindNode},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: v1alpha1.GlusterNodeSpec{Cluster: "c1", External: &v1alpha1.ExternalServer{Address: name + ".example",
			BrickDirs: []v1alpha1.BrickDir{"/bricks/b1"}}},
	}
	for _, f := range change {
		f(n)
	}
	return n
}

func volumeObject(name string, change ...func(*v1alpha1.GlusterVolume)) *v1alpha1.GlusterVolume {
	v := &v1alpha1.GlusterVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindVolume},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       v1alpha1.GlusterVolumeSpec{Cluster: "c1", Layout: v1alpha1.VolumeLayout{Replicate: &v1alpha1.ReplicateLayout{Replica: 3, Sets: 1}}},
	}
	for _, f := range change {
		f(v)
	}
	return v
}

func deleted(o client.Object) {
	now := metav1.NewTime(time.Unix(1_699_999_000, 0))
	o.SetDeletionTimestamp(&now)
	o.SetFinalizers([]string{v1alpha1.Finalizer})
}

// plan is a plan of one step for an object.
func plan(kind, object, target, intent string) planner.Planned {
	return planner.Planned{Key: intent, Plan: journal.Plan{
		Kind: kind, Scope: testPool, Object: object, Target: target, Intent: intent,
		Reason: journal.Reason{Action: "test", Difference: target + " is missing", Generation: 1},
		Steps:  []journal.Step{{ID: "do", Name: "do@1", Stage: journal.Compensatable}},
		Locks:  []string{target},
	}}
}

// once decides d in the first cycle and nothing afterwards.
func once(d planner.Decision) func(planner.Snapshot) planner.Decision {
	done := false
	return func(planner.Snapshot) planner.Decision {
		if done {
			return planner.Decision{}
		}
		done = true
		return d
	}
}

// converged is what planning finds of objects with which all is well.
func converged(objects ...string) []planner.Finding {
	var out []planner.Finding
	for _, o := range objects {
		for t, s := range map[string]string{v1alpha1.ConditionAvailable: "True", v1alpha1.ConditionProgressing: "False",
			v1alpha1.ConditionDegraded: "False", v1alpha1.ConditionBlocked: "False", v1alpha1.ConditionSpecAccepted: "True"} {
			out = append(out, planner.Finding{Object: o, Type: t, Status: s, Reason: "Fine"})
		}
	}
	return out
}

// countingIDs makes ids that are easy to predict.
type countingIDs struct{ n byte }

func (c *countingIDs) Op() (journal.OpID, error) {
	c.n++
	return journal.OpID{0: 1, 6: 0x70, 8: 0x80, 15: c.n}, nil
}
func (c *countingIDs) Pool() (string, error)   { return testPool, nil }
func (c *countingIDs) Volume() (string, error) { return testVolume, nil }

type fakeExecutor struct {
	notes  map[journal.OpID]Note
	fence  string
	forgot []string
}

func (e *fakeExecutor) Notes() map[journal.OpID]Note { return maps.Clone(e.notes) }
func (e *fakeExecutor) FenceProblem(string) (string, string) {
	if e.fence == "" {
		return "", ""
	}
	return "FenceIncomplete", e.fence
}
func (e *fakeExecutor) Forget(scope string) { e.forgot = append(e.forgot, scope) }

// recorder keeps Kubernetes events as "Kind/name type reason: note".
type recorder struct {
	mu   sync.Mutex
	list []string
}

func (r *recorder) Eventf(o, _ runtime.Object, kind, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if action == "" || len(action) > 128 || len(fmt.Sprintf(note, args...)) > noteMax {
		kind = "INVALID"
	}
	r.list = append(r.list, fmt.Sprintf("%s %s %s: %s", short(o.(client.Object)), kind, reason, fmt.Sprintf(note, args...)))
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.list...)
}

func (r *recorder) with(part string) []string {
	var out []string
	for _, e := range r.all() {
		if strings.Contains(e, part) {
			out = append(out, e)
		}
	}
	return out
}

func conflict(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "x"}, name, fmt.Errorf("changed"))
}

func same(t *testing.T, reason, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s (-want +got):\n%s", reason, what, diff)
	}
}
