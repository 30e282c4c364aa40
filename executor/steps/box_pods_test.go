package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

const boxPool = "9f8e7d6c-0000-4000-8000-000000000001"

// withPods gives the box a Kubernetes. The pod of node n3 is the server s3.
func withPods(b *box) {
	b.t.Helper()
	c, err := kubetest.New()
	if err != nil {
		b.t.Fatal(err)
	}
	server := func(p *corev1.Pod) string { return "s" + strings.Trim(p.Labels[v1alpha1.LabelNode], "n") }
	off := map[string]bool{}
	c.Start = func(p *corev1.Pod) string {
		if p.Spec.Containers[0].Image == "missing" {
			return "image not found"
		}
		if s := server(p); off[s] {
			off[s] = false
			_ = b.pool.Power(s, true)
		}
		return ""
	}
	c.Stop = func(p *corev1.Pod) {
		if s := server(p); !off[s] && p.Status.Phase == corev1.PodRunning {
			off[s] = true
			_ = b.pool.Power(s, false)
		}
	}
	b.kube = c
}

func (b *box) tick(ctx context.Context) {
	if b.kube == nil {
		return
	}
	if err := b.kube.Tick(ctx); err != nil && ctx.Err() == nil {
		b.t.Error(err)
	}
}

// podProblem is why the pod of a node cannot be reached, if it has one.
func (b *box) podProblem(n *v1alpha1.GlusterNode) *kube.Problem {
	if b.kube == nil {
		return nil
	}
	v, err := b.lookAt(n.Name)
	if err == nil && v.Declared && !v.Running {
		return &kube.Problem{Reason: v.Reason, Message: v.Message}
	}
	return nil
}

// lookAt is what the test itself sees of a node's pod.
func (b *box) lookAt(node string) (kube.PodView, error) {
	r := kube.PodReader{Live: b.kube.Plain()}
	return r.Look(context.Background(), kube.PodKey{Namespace: "ns", Cluster: "c", Node: node}, nil)
}

// boxPods are Pods of the box's only cluster.
type boxPods struct{ *kube.Pods }

func (boxPods) Key(_ context.Context, _, node string) (kube.PodKey, error) {
	return kube.PodKey{Namespace: "ns", Cluster: "c", Node: node}, nil
}

func (w *boxWorld) Pods() Pods {
	pods := boxPods{&kube.Pods{Client: w.b.kube.Client()}}
	if w.b.mortal != nil {
		return w.b.mortal.pods(pods)
	}
	return pods
}

// seePods adds what Kubernetes says of the nodes that are declared as pods, as
// package observe does.
func (b *box) seePods(ctx context.Context, out *planner.Observed) error {
	b.world.mu.Lock()
	nodes := slices.Clone(b.nodes)
	b.world.mu.Unlock()
	for i := range nodes {
		n := &nodes[i]
		if b.kube == nil || !n.IsPod() {
			continue
		}
		out.Classes = []string{"fast"}
		claims := []string{n.Spec.State.PVCName}
		for _, s := range n.Spec.Storage {
			claims = append(claims, s.PVCName)
		}
		r := kube.PodReader{Live: b.kube.Plain()}
		v, err := r.Look(ctx, kube.KeyOf(n), claims)
		if err != nil {
			return err
		}
		seen := out.Servers[n.Name]
		if !v.Running {
			seen = planner.Server{Reason: v.Reason, Message: v.Message}
		}
		seen.Pod = &v.Pod
		out.Servers[n.Name] = seen
	}
	return nil
}

// A boxStep is a step of a plan that a test makes itself.
type boxStep struct {
	name   string
	params any
}

// podStep describes the pod of a node.
func podStep(node, image string) planner.PodParams {
	p := planner.PodParams{Node: node, Cluster: "c", PodSpec: planner.PodSpec{Image: image,
		State:   planner.PodState{Claim: node + "-state"},
		Storage: []planner.PodStorage{{Name: "b1", Claim: node + "-b1"}}}}
	p.Digest = p.Sum()
	return p
}

func claimsStep(node string) planner.ClaimsParams {
	return planner.ClaimsParams{Node: node, Claims: []planner.Claim{
		{Name: node + "-state", Class: "fast", Size: "1Gi"}, {Name: node + "-b1", Class: "fast", Size: "10Gi"}}}
}

// plan records an operation of these steps.
func (b *box) plan(steps ...boxStep) journal.OpID {
	b.t.Helper()
	scope := b.cluster.Status.PoolID
	if scope == "" {
		scope = boxPool
	}
	id := b.id()
	plan := journal.Plan{Kind: "test", Scope: scope, Object: "GlusterNode/ns/n", Target: "node/n", Intent: fmt.Sprintf("%064x", id[:]),
		Reason: journal.Reason{Action: "test", Difference: "a test"}}
	for i, s := range steps {
		raw, err := json.Marshal(s.params)
		if err != nil {
			b.t.Fatal(err)
		}
		stage := journal.Compensatable
		switch s.name {
		case planner.StepPodReady, planner.StepHealed:
			stage = journal.Waiting
		case planner.StepRestartPod:
			stage = journal.Pivot
		}
		if i > 0 && steps[0].name == planner.StepHealed && stage == journal.Compensatable {
			stage = journal.Retriable
		}
		plan.Steps = append(plan.Steps, journal.Step{ID: fmt.Sprint("s", i), Name: s.name, Stage: stage, Params: raw})
	}
	ev, err := journal.New(journal.OpPlanned, id, plan)
	if err != nil {
		b.t.Fatal(err)
	}
	ev.Actor = "planner"
	if _, err := b.j.Append(b.t.Context(), journal.Guard{OpVer: map[journal.OpID]uint64{id: 0}}, ev); err != nil {
		b.t.Fatal(err)
	}
	return id
}

// until waits for something to be true of the operation.
func (b *box) until(id journal.OpID, what string, is func(*view.Op) bool) *view.Op {
	b.t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		op, err := b.state.Op(id)
		if err == nil && is(op) {
			return op
		}
	}
	b.t.Fatalf("waiting for %s: %s", what, b.account())
	return nil
}

func completed(op *view.Op) bool { return op.State == view.Completed }

// waiting reports whether the operation waits, for what the text names.
func (b *box) waiting(text string) func(*view.Op) bool {
	return func(op *view.Op) bool {
		n := b.e.Notes()[op.ID]
		return strings.Contains(n.Text, text) || op.Suspended != nil && strings.Contains(op.Suspended.Message, text)
	}
}

// effects counts the changes in Kubernetes by their words.
func (b *box) effects() map[string]int {
	out := map[string]int{}
	for _, e := range b.kube.Effects() {
		out[e]++
	}
	return out
}

// podPool is a box with a pool of three and a volume of one replica set, each
// server of which is a pod of image gluster:1.
func podPool(t *testing.T, seed uint64) *box {
	t.Helper()
	b := podBox(t, seed, 3)
	for i := 1; i <= 3; i++ {
		b.addNode(i)
	}
	b.addVolume(1)
	b.settle(400)
	for i := 1; i <= 3; i++ {
		b.until(b.plan(preparing(fmt.Sprint("n", i), "gluster:1")...), "a pod", completed)
	}
	return b
}

func podBox(t *testing.T, seed uint64, servers int) *box {
	t.Helper()
	b := newBox(t, seed, servers, withPods)
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	return b
}
