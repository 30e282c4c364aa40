package crash

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/rig"
)

// foreignCommands adds a node while somebody else sets options of the volume
// without a pause: commands collide, and nothing is marked as failed for it.
func (p *pool) foreignCommands(t *testing.T) {
	p.converged(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	set, refused := 0, 0
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := p.rig.Env.Server(2).Gluster(ctx, "volume", "set", volumeName, "user.foreign", fmt.Sprint(n)); err == nil {
				set++
			} else {
				refused++
			}
		}
	})
	node := p.node(t, 5)
	must(t, p.rig.Client.Create(t.Context(), node))
	advised := func() bool {
		return strings.Contains(rig.Message(node, v1alpha1.ConditionProgressing), "restart glusterd there")
	}
	must(t, p.rig.Await(t.Context(), late, node, func() string {
		if advised() {
			return ""
		}
		if s := rig.Is(node, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); s != "" {
			return s
		}
		return rig.Is(node, v1alpha1.ConditionProgressing, metav1.ConditionFalse, "")
	}))
	stop()
	wg.Wait()
	if advised() {
		// Rarely, on a busy machine, a foreign command is given at the one moment in
		// which glusterd lets the new peer miss it. It is said what helps; it does.
		t.Logf("the new server missed a foreign change: %s", rig.Message(node, v1alpha1.ConditionProgressing))
		must(t, p.rig.Env.Server(5).StopGlusterd(t.Context()))
		must(t, p.rig.Env.Server(5).StartGlusterd(t.Context()))
	}
	must(t, p.rig.AwaitCondition(t.Context(), late, node, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	t.Logf("%d foreign commands, %d refused", set, refused)
	if set == 0 {
		t.Error("nobody disturbed")
	}
	p.settled(t)
	p.ended(t)
	v, err := p.op.View(t.Context())
	must(t, err)
	for _, op := range v.All() {
		if op.Plan.Target == "node/"+node.Name && op.State != view.Completed {
			t.Errorf("%s of %s is %s", op.Plan.Kind, op.Plan.Target, op.State)
		}
	}
	if n := count(p.changes(t), "peer probe "+p.rig.Env.Server(5).Name()); n != 1 {
		t.Errorf("the server was probed %d times with success, want once", n)
	}
}

// typed finds the command that a condition says to type.
var typed = regexp.MustCompile(`anthill (journal [a-z]+ \S+) --reason`)

// impossible asks for something that gluster refuses. The operation is parked,
// says why and what to type; that works; others go on; and nothing is tried
// again without being asked.
func (p *pool) impossible(t *testing.T) {
	p.converged(t)
	const key, bad = "performance.io-thread-count", "banana"
	p.option(t, key, bad)
	first := p.parked(t, 1)
	words := func() int {
		n := 0
		for _, c := range p.attempts(t) {
			if strings.Contains(c, bad) {
				n++
			}
		}
		return n
	}
	// The pool's other operations are not held up.
	p.clusterOption(t, "cluster.daemon-log-level", "WARNING")
	if n := words(); n != 1 {
		t.Errorf("the command was sent %d times, want once", n)
	}
	// What the condition says works.
	p.typeIt(t, first)
	second := p.parked(t, 2)
	if n := words(); n != 2 {
		t.Errorf("the command was sent %d times, want once more for the retry", n)
	}
	// A person may let go of it: it is not planned again ...
	op := strings.Fields(typed.FindStringSubmatch(second)[1])[2]
	_, err := p.op.CLI(t.Context(), "journal", "abandon", op, "--reason", "gluster does not take it")
	must(t, err)
	v := volumeObject()
	must(t, p.rig.AwaitCondition(t.Context(), soon, v, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonIntentAbandoned))
	if n := words(); n != 2 {
		t.Errorf("the command was sent %d times, an abandoned one is not sent again", n)
	}
	// ... until something else is wanted.
	p.option(t, key, "16")
	p.applied(t, soon, key, "16")
	p.settled(t)
	must(t, p.rig.AwaitCondition(t.Context(), soon, v, v1alpha1.ConditionBlocked, metav1.ConditionFalse, ""))
	// One that is parked gives way to what is wanted now.
	p.option(t, key, bad+"s")
	p.parked(t, 1)
	p.option(t, key, "8")
	p.applied(t, soon, key, "8")
	p.settled(t)
	must(t, p.op.Verify(t.Context()))
}

// parked waits until the volume says that an operation is parked after so many
// attempts, and returns what it says.
func (p *pool) parked(t *testing.T, attempts int) string {
	t.Helper()
	_, err := p.op.AwaitView(t.Context(), soon, func(v *rig.View) string {
		for _, op := range v.Open() {
			if op.Plan.Kind == planner.KindSetOptions && op.State == view.Suspended && op.Suspended.Attempts == attempts {
				return ""
			}
		}
		return fmt.Sprintf("no set-options is parked after %d attempts", attempts)
	})
	must(t, err)
	v := volumeObject()
	must(t, p.rig.AwaitCondition(t.Context(), soon, v, v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonOperationSuspended))
	says := ""
	for _, c := range v.Status.Conditions {
		if c.Type == v1alpha1.ConditionBlocked {
			says = c.Message
		}
	}
	if !strings.Contains(says, "banana") || typed.FindString(says) == "" {
		t.Fatalf("the condition says %q: not why, or not what to type", says)
	}
	return says
}

// typeIt types what a condition says.
func (p *pool) typeIt(t *testing.T, says string) {
	t.Helper()
	args := append(strings.Fields(typed.FindStringSubmatch(says)[1]), "--reason", "to see whether it works now")
	_, err := p.op.CLI(t.Context(), args...)
	must(t, err)
}

// attempts are all commands that glusterds were given, carried out or not.
func (p *pool) attempts(t *testing.T) []string {
	t.Helper()
	all, err := rig.AllChanges(p.rig.Env.Servers()...)
	must(t, err)
	var out []string
	for _, list := range all {
		for _, c := range list {
			out = append(out, c.Text)
		}
	}
	return out
}

// declare declares an option of the pool.
func (p *pool) declare(t *testing.T, key, value string) {
	t.Helper()
	c := rig.Cluster(namespace, cluster)
	must(t, p.rig.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	before := c.DeepCopy()
	c.Spec.ClusterOptions = map[string]v1alpha1.OptionValue{key: v1alpha1.OptionValue(value)}
	must(t, p.rig.Client.Patch(t.Context(), c, client.MergeFrom(before)))
}

// clusterOption declares an option of the pool and waits until it has it.
func (p *pool) clusterOption(t *testing.T, key, value string) {
	t.Helper()
	p.declare(t, key, value)
	c := rig.Cluster(namespace, cluster)
	must(t, p.rig.Await(t.Context(), soon, c, func() string {
		if have := c.Status.AppliedOptions[key]; string(have) != value {
			return fmt.Sprintf("option %s is %q, not %q", key, have, value)
		}
		return ""
	}))
}
