package steps

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// restarting are the steps that bring a node's pod to another image.
func (b *box) restarting(node, image string) journal.OpID {
	uuid := b.pool.UUID("s" + node[1:])
	return b.plan(
		boxStep{planner.StepHealed, planner.HealedParams{Node: node, UUID: uuid, Without: true}},
		boxStep{planner.StepMakePod, podStep(node, image)},
		boxStep{planner.StepRestartPod, podStep(node, image)},
		boxStep{planner.StepPodReady, podStep(node, image)},
		boxStep{planner.StepHealed, planner.HealedParams{Node: node, UUID: uuid}},
	)
}

func (b *box) runsImage(node, image string) {
	b.t.Helper()
	v, err := b.lookAt(node)
	if err != nil {
		b.t.Fatal(err)
	}
	want := podStep(node, image)
	if !v.Ready || v.Runs != want.Digest || v.Declares != want.Digest {
		b.t.Errorf("pod of %s: %+v; want a ready one with digest %s", node, v, want.Digest)
	}
}

func TestRestartPod(t *testing.T) {
	b := podPool(t, 1)
	for i := 1; i <= 3; i++ {
		node := fmt.Sprint("n", i)
		b.until(b.restarting(node, "gluster:2"), "the restart of "+node, completed)
		b.runsImage(node, "gluster:2")
		if n := b.effects()["delete Pod "+node+"-0"]; n != 1 {
			t.Errorf("the pod of %s was deleted %d times, want once", node, n)
		}
	}
	before := len(b.kube.Effects())
	b.until(b.restarting("n1", "gluster:2"), "the same again", completed)
	if n := len(b.kube.Effects()); n != before {
		t.Errorf("%d changes by restarting a pod that is as declared: %v", n-before, b.kube.Effects()[before:])
	}
}

// No pod is let go while another copy is not whole.
func TestRestartWaits(t *testing.T) {
	cases := map[string]struct {
		reason  string
		hinder  func(b *box)
		clear   func(b *box)
		waitFor string
	}{
		"Heals": {"what n1 has is not on the others yet",
			func(b *box) { b.pool.SetHeal("v", b.brickOf(0), sim.Heal{Pending: 4}) },
			func(b *box) { b.pool.SetHeal("v", b.brickOf(0), sim.Heal{}) }, "counts 4 files to be healed"},
		"SplitBrain": {"nobody knows which copy is good",
			func(b *box) { b.pool.SetHeal("v", b.brickOf(1), sim.Heal{SplitBrain: 1}) },
			func(b *box) { b.pool.SetHeal("v", b.brickOf(1), sim.Heal{}) }, "in split brain"},
		"Crawls": {"what is to be healed is not known yet",
			func(b *box) { b.pool.SetCrawl("v", b.brickOf(2), true) },
			func(b *box) { b.pool.SetCrawl("v", b.brickOf(2), false) }, "on its way through brick"},
		"BrickDown": {"another copy is out of service",
			func(b *box) { _ = b.pool.KillBrick("s2", b.volume().Bricks[1].Path) },
			func(b *box) { _ = b.pool.Kill("s2"); _ = b.pool.Start("s2") }, "brick"},
		"GlusterdDown": {"a server cannot be seen",
			func(b *box) { _ = b.pool.Kill("s3") }, func(b *box) { _ = b.pool.Start("s3") }, "s3"},
		"ServerAway": {"a server cannot be seen",
			func(b *box) { _ = b.pool.Power("s3", false) }, func(b *box) { _ = b.pool.Power("s3", true) }, "s3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := podPool(t, 2)
			tc.hinder(b)
			id := b.restarting("n1", "gluster:2")
			until := b.pool.Now().Add(2 * time.Minute)
			b.until(id, "two minutes", func(op *view.Op) bool { return b.pool.Now().After(until) })
			if n := b.effects()["delete Pod n1-0"]; n != 0 {
				t.Fatalf("%s: the pod was deleted %d times", tc.reason, n)
			}
			tc.clear(b)
			b.until(id, tc.reason, completed)
			b.runsImage("n1", "gluster:2")
		})
	}
}

// brickOf is a brick of the volume by its place, as host:/path.
func (b *box) brickOf(i int) string {
	brick := b.volume().Bricks[i]
	return brick.Host + ":" + brick.Path
}

// openGate is a heal gate that lets everything pass, for what comes behind it.
var openGate = boxStep{planner.StepHealed, planner.HealedParams{Node: "nobody"}}

// A pod that was not to run, and runs, has passed no gate: one look is none.
func TestRestartWithoutAGate(t *testing.T) {
	b := podPool(t, 8)
	id := b.plan(boxStep{planner.StepMakePod, podStep("n1", "gluster:2")}, boxStep{planner.StepRestartPod, podStep("n1", "gluster:2")})
	b.until(id, "the guard", b.waiting("it runs by now"))
	if n := b.effects()["delete Pod n1-0"]; n != 0 {
		t.Errorf("the pod was deleted %d times", n)
	}
}

// The gate is looked at again right before: what went wrong since the wait for
// it keeps the pod.
func TestRestartGuards(t *testing.T) {
	b := podPool(t, 3)
	b.pool.SetHeal("v", b.brickOf(2), sim.Heal{Pending: 1})
	id := b.plan(openGate, boxStep{planner.StepMakePod, podStep("n1", "gluster:2")}, boxStep{planner.StepRestartPod, podStep("n1", "gluster:2")})
	b.until(id, "the guard", b.waiting("must not go now"))
	if n := b.effects()["delete Pod n1-0"]; n != 0 {
		t.Fatalf("the pod was deleted %d times", n)
	}
	b.pool.SetHeal("v", b.brickOf(2), sim.Heal{})
	b.until(id, "the restart", completed)
}

// A pod that does not run is replaced whatever the pool is like: it takes
// nothing with it, and may be what the pool waits for.
func TestRestartOfAPodThatDoesNotRun(t *testing.T) {
	b := podPool(t, 4)
	id := b.restarting("n1", "missing")
	op := b.until(id, "the image", b.waiting("image not found"))
	if !op.OnlyWaits() {
		t.Errorf("the old pod is gone, and step %s is not done: nobody could declare another image", op.Steps[op.Current()].Name)
	}
	stuck := b.plan(boxStep{planner.StepMakePod, podStep("n1", "gluster:3")}, boxStep{planner.StepRestartPod, podStep("n1", "gluster:3")},
		boxStep{planner.StepPodReady, podStep("n1", "gluster:3")})
	b.until(stuck, "the restart", completed)
	b.runsImage("n1", "gluster:3")
}

// Nothing is let go before Kubernetes knows what is to come instead: it would
// make the same pod again.
func TestRestartWaitsForTheDeclaration(t *testing.T) {
	b := podPool(t, 6)
	b.kube.Overlook(true)
	id := b.plan(openGate, boxStep{planner.StepMakePod, podStep("n1", "gluster:2")}, boxStep{planner.StepRestartPod, podStep("n1", "gluster:2")})
	b.until(id, "the declaration", b.waiting("has not taken up yet"))
	if n := b.effects()["delete Pod n1-0"]; n != 0 {
		t.Errorf("the pod was deleted %d times", n)
	}
	b.kube.Overlook(false)
	b.until(id, "the restart", completed)
}

// A pod that runs keeps a claim that is going alive; without one its successor
// would never run.
func TestRestartKeepsAPodWithoutClaims(t *testing.T) {
	cases := map[string]struct {
		reason string
		hinder func(b *box, c *corev1.PersistentVolumeClaim) error
		clear  func(b *box, c *corev1.PersistentVolumeClaim) error
		want   string
	}{
		"Going": {"only the pod still holds it", func(b *box, c *corev1.PersistentVolumeClaim) error {
			c.Finalizers = []string{"kubernetes.io/pvc-protection"}
			return errors.Join(b.kube.Plain().Update(b.t.Context(), c), b.kube.Plain().Delete(b.t.Context(), c))
		}, nil, "claim n1-b1: it is being deleted"},
		"Gone": {"nobody has made it", func(b *box, c *corev1.PersistentVolumeClaim) error {
			return b.kube.Plain().Delete(b.t.Context(), c)
		}, func(b *box, c *corev1.PersistentVolumeClaim) error {
			c.ResourceVersion = ""
			return b.kube.Plain().Create(b.t.Context(), c)
		}, "claim n1-b1: it is not there"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := podPool(t, 7)
			var claim corev1.PersistentVolumeClaim
			if err := b.kube.Plain().Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "n1-b1"}, &claim); err != nil {
				t.Fatal(err)
			}
			if err := tc.hinder(b, &claim); err != nil {
				t.Fatal(err)
			}
			id := b.restarting("n1", "gluster:2")
			b.until(id, tc.reason, b.waiting(tc.want))
			if n := b.effects()["delete Pod n1-0"]; n != 0 {
				t.Errorf("%s: the pod was deleted %d times", tc.reason, n)
			}
			if tc.clear == nil {
				return
			}
			if err := tc.clear(b, &claim); err != nil {
				t.Fatal(err)
			}
			b.until(id, "the restart", completed)
		})
	}
}

func TestRestartFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  kubetest.Fault
		twice  bool
	}{
		"LostReply": {"the pod goes all the same", kubetest.Fault{Err: errors.New("connection reset"), Lost: true}, false},
		"NoAnswer":  {"it does not", kubetest.Fault{Err: errors.New("connection refused"), Times: 2}, false},
		"Timeout":   {"nobody knows", kubetest.Fault{Err: apierrors.NewTimeoutError("later", 1), Lost: true}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := podPool(t, 5)
			f := tc.fault
			f.Verb, f.Kind = "delete", "Pod"
			b.kube.Fail(f)
			b.until(b.restarting("n2", "gluster:2"), tc.reason, completed)
			b.runsImage("n2", "gluster:2")
			if n := b.effects()["delete Pod n2-0"]; n != 1 {
				t.Errorf("%s: the pod was deleted %d times, want once", tc.reason, n)
			}
		})
	}
}

func TestRestartCrashes(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			b := podPool(t, uint64(seed))
			id := b.restarting("n3", "gluster:2")
			for range 10 {
				time.Sleep(time.Duration(b.rand.IntN(25)) * time.Millisecond)
				b.crash()
			}
			b.until(id, "the restart", completed)
			b.runsImage("n3", "gluster:2")
			if n := b.effects()["delete Pod n3-0"]; n != 1 {
				t.Errorf("the pod was deleted %d times, want once", n)
			}
		})
	}
}
