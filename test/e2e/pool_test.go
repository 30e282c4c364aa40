package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// Names used in every namespace.
const (
	clusterName = "pool"
	secretName  = "servers-ssh"
	volumeName  = "data"
)

// A pool is a GlusterCluster in a namespace of its own, with servers of the
// environment.
type pool struct {
	ns      string
	cluster *v1alpha1.GlusterCluster
	numbers []int // servers, from 1
	shift   int   // server n is the GlusterNode node-(n-shift)
}

// What is in use: by a pool, or by a test that dirtied it.
var (
	shared *pool
	dirty  = map[int]*pool{}
	spaces = 0
	failed = false // a test did; its pools are forgotten before the next one
)

// begin gives a test the environment. Should the test fail, it prints what the
// operator has to say, and the shared pool is made anew for the next one.
func begin(t *testing.T) *rig.Rig {
	t.Helper()
	r, err := setUp()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Operator.Env = nil
		if t.Failed() {
			t.Logf("what the objects say:\n%s\nthe operator's account:\n%s", said(r), r.Operator.Account(context.Background()))
			failed = true
		}
	})
	if failed {
		for _, p := range dirty {
			if p != nil {
				p.forget(t, r)
			}
		}
		failed, shared = false, nil
	}
	if !r.Operator.Running() {
		restart(t, r)
	}
	return r
}

// restart starts the operator, which does not run.
func restart(t *testing.T, r *rig.Rig) {
	t.Helper()
	must(t, r.Operator.Start())
	must(t, r.Operator.AwaitReady(t.Context()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take makes servers fresh ones for the caller. A pool that had one of them is
// forgotten.
func take(t *testing.T, r *rig.Rig, numbers ...int) []*local.Server {
	t.Helper()
	var all, used []*local.Server
	for _, n := range numbers {
		all = append(all, r.Env.Server(n))
		if p, ok := dirty[n]; ok {
			used = append(used, r.Env.Server(n))
			if p != nil {
				p.forget(t, r)
			}
		}
		dirty[n] = nil
	}
	must(t, rig.Refresh(t.Context(), used...))
	return all
}

// forget takes all objects of the pool away without letting the operator do
// anything; the servers stay as they are.
func (p *pool) forget(t *testing.T, r *rig.Rig) {
	t.Helper()
	if shared == p {
		shared = nil
	}
	for n, owner := range dirty {
		if owner == p {
			dirty[n] = nil
		}
	}
	running := r.Operator.Running()
	r.Operator.Stop() // it would put its finalizers back
	for _, list := range []client.ObjectList{&v1alpha1.GlusterVolumeList{}, &v1alpha1.GlusterNodeList{}, &v1alpha1.GlusterClusterList{}} {
		must(t, r.Client.List(t.Context(), list, client.InNamespace(p.ns)))
		for _, o := range objects(list) {
			before := o.DeepCopyObject().(client.Object)
			o.SetFinalizers(nil)
			must(t, client.IgnoreNotFound(r.Client.Patch(t.Context(), o, client.MergeFrom(before))))
			must(t, client.IgnoreNotFound(r.Client.Delete(t.Context(), o)))
		}
	}
	if running {
		restart(t, r)
	}
}

// said is what the conditions of all objects say that is not as one wishes.
func said(r *rig.Rig) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var out strings.Builder
	for _, list := range []client.ObjectList{&v1alpha1.GlusterClusterList{}, &v1alpha1.GlusterNodeList{}, &v1alpha1.GlusterVolumeList{}} {
		if err := r.Client.List(ctx, list); err != nil {
			fmt.Fprintln(&out, err)
		}
		for _, o := range objects(list) {
			for _, c := range rig.Conditions(o) {
				good := c.Type == v1alpha1.ConditionAvailable || c.Type == v1alpha1.ConditionSpecAccepted
				if good != (c.Status == metav1.ConditionTrue) || c.ObservedGeneration != o.GetGeneration() {
					fmt.Fprintf(&out, "%T %s/%s: %s=%s for generation %d of %d (%s: %s)\n", o, o.GetNamespace(), o.GetName(), c.Type, c.Status,
						c.ObservedGeneration, o.GetGeneration(), c.Reason, c.Message)
				}
			}
		}
	}
	var events eventsv1.EventList
	if err := r.Client.List(ctx, &events); err != nil {
		fmt.Fprintln(&out, err)
	}
	slices.SortFunc(events.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	for _, e := range events.Items[max(0, len(events.Items)-saidMax):] {
		fmt.Fprintf(&out, "event %s %s %s/%s: %s: %s\n", e.EventTime.Format(time.TimeOnly), e.Regarding.Kind, e.Regarding.Namespace, e.Regarding.Name, e.Reason, e.Note)
	}
	return out.String()
}

// saidMax is how many events are shown.
const saidMax = 30

func objects(list client.ObjectList) []client.Object {
	var out []client.Object
	switch l := list.(type) {
	case *v1alpha1.GlusterVolumeList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *v1alpha1.GlusterNodeList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *v1alpha1.GlusterClusterList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	}
	return out
}

// namespace makes one that nobody used before.
func namespace(t *testing.T, r *rig.Rig, name string) string {
	t.Helper()
	spaces++
	ns := fmt.Sprintf("%s-%d", name, spaces)
	must(t, rig.Namespace(t.Context(), r.Client, ns))
	return ns
}

// declare makes a cluster of servers, which the caller has taken, in a namespace
// of its own, and does not wait for anything.
func declare(t *testing.T, r *rig.Rig, name string, numbers ...int) *pool {
	t.Helper()
	return declareAs(t, r, name, 0, numbers...)
}

// declareAs is declare with the names that servers with lower numbers have.
func declareAs(t *testing.T, r *rig.Rig, name string, shift int, numbers ...int) *pool {
	t.Helper()
	p := &pool{ns: namespace(t, r, name), shift: shift}
	must(t, r.Secret(t.Context(), p.ns, secretName))
	p.cluster = rig.Cluster(p.ns, clusterName)
	must(t, r.Client.Create(t.Context(), p.cluster))
	for _, n := range numbers {
		p.add(t, r, n)
	}
	return p
}

// zones is how many zones the servers are spread over.
const zones = 3

// node is server n as the pool's GlusterNode.
func (p *pool) node(t *testing.T, r *rig.Rig, n int) *v1alpha1.GlusterNode {
	t.Helper()
	node, err := r.Node(p.ns, clusterName, secretName, n)
	must(t, err)
	node.Name = fmt.Sprintf("node-%d", n-p.shift)
	node.Spec.Zone = fmt.Sprintf("rack-%d", (n-1)%zones+1)
	return node
}

// add declares server n a node of the pool. It must have been taken.
func (p *pool) add(t *testing.T, r *rig.Rig, n int) *v1alpha1.GlusterNode {
	t.Helper()
	node := p.node(t, r, n)
	must(t, r.Client.Create(t.Context(), node))
	p.numbers = append(p.numbers, n)
	dirty[n] = p
	return node
}

func (p *pool) servers(r *rig.Rig) []*local.Server {
	var out []*local.Server
	for _, n := range p.numbers {
		out = append(out, r.Env.Server(n))
	}
	return out
}

// converged waits until the pool has all its servers and nothing is under way.
func (p *pool) converged(t *testing.T, r *rig.Rig) {
	t.Helper()
	must(t, r.Await(t.Context(), slow, p.cluster, func() string {
		if n := p.cluster.Status.Nodes; n == nil || int(n.Healthy) != len(p.numbers) {
			return fmt.Sprintf("not all of %d nodes are healthy: %+v", len(p.numbers), n)
		}
		for _, want := range []struct {
			typ    string
			status metav1.ConditionStatus
		}{
			{v1alpha1.ConditionAvailable, metav1.ConditionTrue},
			{v1alpha1.ConditionProgressing, metav1.ConditionFalse},
			{v1alpha1.ConditionDegraded, metav1.ConditionFalse},
		} {
			if s := rig.Is(p.cluster, want.typ, want.status, ""); s != "" {
				return s
			}
		}
		return ""
	}))
}

// volume declares a volume of one replica set and waits for it.
func (p *pool) volume(t *testing.T, r *rig.Rig, name string) *v1alpha1.GlusterVolume {
	t.Helper()
	v := rig.Replicated(p.ns, clusterName, name, 1)
	must(t, r.Client.Create(t.Context(), v))
	must(t, r.AwaitConverged(t.Context(), slow, v))
	return v
}

// get reads a volume of the pool.
func (p *pool) get(t *testing.T, r *rig.Rig, name string) *v1alpha1.GlusterVolume {
	t.Helper()
	v := &v1alpha1.GlusterVolume{}
	must(t, r.Client.Get(t.Context(), client.ObjectKey{Namespace: p.ns, Name: name}, v))
	return v
}

// base is the pool that tests share: servers 1 to 3, with the volume "data",
// and nothing else. Tests leave it so.
func base(t *testing.T, r *rig.Rig) *pool {
	t.Helper()
	if shared == nil {
		take(t, r, 1, 2, 3)
		p := declare(t, r, "base", 1, 2, 3)
		p.converged(t, r)
		p.volume(t, r, volumeName)
		shared = p
	}
	return shared
}

// patch changes an object as it is now.
func patch[T client.Object](t *testing.T, r *rig.Rig, o T, change func(T)) {
	t.Helper()
	must(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	before := o.DeepCopyObject().(client.Object)
	change(o)
	must(t, r.Client.Patch(t.Context(), o, client.MergeFrom(before)))
}

// gone waits until an object is no more.
func gone(t *testing.T, r *rig.Rig, o client.Object) {
	t.Helper()
	await(t, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() string {
		switch err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); {
		case apierrors.IsNotFound(err):
			return ""
		case err != nil:
			return err.Error()
		}
		return fmt.Sprintf("it is there: %+v", rig.Conditions(o))
	})
}

// blocked waits for the condition Blocked with a reason, whose message has all
// of these parts.
func blocked(t *testing.T, r *rig.Rig, o client.Object, reason string, parts ...string) {
	t.Helper()
	condition(t, r, o, v1alpha1.ConditionBlocked, metav1.ConditionTrue, reason, parts...)
}

// await waits until ok says nothing is missing.
func await(t *testing.T, what string, ok func() string) {
	t.Helper()
	deadline := time.Now().Add(slow)
	for missing := ok(); missing != ""; missing = ok() {
		if time.Now().After(deadline) || t.Context().Err() != nil {
			t.Fatalf("waiting until %s: %s", what, missing)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// condition waits for a condition whose message has all of these parts.
func condition(t *testing.T, r *rig.Rig, o client.Object, typ string, status metav1.ConditionStatus, reason string, parts ...string) {
	t.Helper()
	must(t, r.Await(t.Context(), slow, o, func() string {
		if s := rig.Is(o, typ, status, reason); s != "" {
			return s
		}
		return lacks(rig.Message(o, typ), parts)
	}))
}

// ops are the operations of the pool, oldest first.
func (p *pool) ops(t *testing.T, r *rig.Rig) []*view.Op {
	t.Helper()
	v, err := r.Operator.View(t.Context())
	must(t, err)
	id := ""
	c := &v1alpha1.GlusterCluster{}
	must(t, client.IgnoreNotFound(r.Client.Get(t.Context(), client.ObjectKeyFromObject(p.cluster), c)))
	id = c.Status.PoolID
	return slices.DeleteFunc(v.All(), func(o *view.Op) bool { return id == "" || o.Plan.Scope != id })
}

// secret makes a Secret with these bytes as private key.
func secret(t *testing.T, r *rig.Rig, ns, name string, key []byte) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{v1alpha1.SecretKeyPrivateKey: key}}
	s.Namespace, s.Name = ns, name
	must(t, r.Client.Create(t.Context(), s))
	return s
}

// only forgets all other pools.
func (p *pool) only(t *testing.T, r *rig.Rig) {
	t.Helper()
	for _, other := range dirty {
		if other != nil && other != p {
			other.forget(t, r)
		}
	}
}

// died waits until the operator, which was told to, has killed itself.
func died(t *testing.T, r *rig.Rig) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slow)
	defer cancel()
	code, err := r.Operator.Wait(ctx)
	must(t, err)
	if code != -1 {
		t.Fatalf("the operator ended with status %d, want it killed", code)
	}
}

// remove deletes a volume for good and waits until it is gone.
func remove(t *testing.T, r *rig.Rig, v *v1alpha1.GlusterVolume) {
	t.Helper()
	confirm(t, r, v)
	must(t, r.Client.Delete(t.Context(), v))
	gone(t, r, v)
}

// confirm lets a deletion of v take its data out of service.
func confirm(t *testing.T, r *rig.Rig, v *v1alpha1.GlusterVolume) {
	t.Helper()
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) {
		metav1.SetMetaDataAnnotation(&v.ObjectMeta, v1alpha1.AnnotationConfirmDelete, v.Name)
	})
}
