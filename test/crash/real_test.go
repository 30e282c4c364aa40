package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

const (
	namespace = "crash"
	secret    = "crash-ssh"
)

// Deadlines: generous, a machine may have other things to do.
const (
	soon = 90 * time.Second
	late = 5 * time.Minute
)

// A pool of real servers, and the operator that looks after it.
type pool struct {
	rig *rig.Rig
	op  *rig.Operator
}

// TestReal is what needs real servers: first a pool is made while the operator
// is killed again and again, then everything else happens to that pool. Each
// part can be run alone: it makes the pool in peace then.
func TestReal(t *testing.T) {
	p := &pool{}
	t.Run("Kills", p.kills)
	t.Run("CommandKilled", p.commandKilled)
	t.Run("ConnectionKilled", p.connectionKilled)
	t.Run("LateCommit", p.lateCommit)
	t.Run("ForeignCommands", p.foreignCommands)
	t.Run("Impossible", p.impossible)
	t.Run("JournalDamaged", p.journalDamaged)
	t.Run("SecondOperator", p.secondOperator)
	t.Run("OtherInstance", p.otherInstance)
	t.Run("Fences", p.fences)
}

// begin makes the operator and declares a pool of three with a volume, without
// starting anything.
func (p *pool) begin(t *testing.T) {
	t.Helper()
	p.rig = withServers(t)
	ctx := within(t, late)
	must(t, rig.Namespace(ctx, p.rig.Client, namespace))
	must(t, p.rig.Secret(ctx, namespace, secret))
	var err error
	p.op, err = p.rig.NewOperator(ctx, environment.binary, "real")
	must(t, err)
	p.op.Args = []string{"--namespace", namespace, "--resync", "1s"}
	objects := []client.Object{rig.Cluster(namespace, cluster)}
	for n := 1; n <= 3; n++ {
		objects = append(objects, p.node(t, n))
	}
	v := rig.Replicated(namespace, cluster, volumeName, 1)
	v.Spec.Options = map[string]v1alpha1.OptionValue{"performance.cache-size": "64MB"}
	for _, o := range append(objects, v) {
		must(t, p.rig.Client.Create(ctx, o))
	}
}

func (p *pool) node(t *testing.T, n int) *v1alpha1.GlusterNode {
	t.Helper()
	node, err := p.rig.Node(namespace, cluster, secret, n)
	must(t, err)
	return node
}

// converged makes sure that there is a pool at rest with four servers and a
// volume of two sets, and a running operator.
func (p *pool) converged(t *testing.T) {
	t.Helper()
	if p.rig == nil {
		p.begin(t)
		p.start(t)
		p.await(t, late, volumeObject())
		must(t, p.rig.Client.Create(t.Context(), p.node(t, 4)))
		p.edit(t, func(v *v1alpha1.GlusterVolume) { v.Spec.Layout.Replicate.Sets = 2 })
		p.grown(t)
	}
	explain(t, p.op)
	p.start(t)
	p.settled(t)
}

func volumeObject() *v1alpha1.GlusterVolume { return rig.Replicated(namespace, cluster, volumeName, 1) }

// start starts the operator unless it runs.
func (p *pool) start(t *testing.T) {
	t.Helper()
	if !p.op.Running() {
		must(t, p.op.Start())
	}
	must(t, p.op.AwaitReady(within(t, soon)))
}

// await waits until objects are available and nothing is under way.
func (p *pool) await(t *testing.T, max time.Duration, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		must(t, p.rig.AwaitConverged(t.Context(), max, o))
	}
}

// settled waits until everything declared is so.
func (p *pool) settled(t *testing.T) {
	t.Helper()
	_, err := p.op.AwaitView(t.Context(), late, func(v *rig.View) string {
		for _, op := range v.Open() {
			return fmt.Sprintf("%s of %s is %s", op.Plan.Kind, op.Plan.Target, op.State)
		}
		return ""
	})
	must(t, err)
	p.await(t, soon, rig.Cluster(namespace, cluster), volumeObject())
}

// grown waits until the volume has two sets.
func (p *pool) grown(t *testing.T) {
	t.Helper()
	v := volumeObject()
	must(t, p.rig.Await(t.Context(), late, v, func() string {
		if v.Status.BricksTotal == nil || *v.Status.BricksTotal != 6 {
			return "not all of six bricks are there"
		}
		return ""
	}))
	p.settled(t)
}

// edit changes the volume.
func (p *pool) edit(t *testing.T, change func(*v1alpha1.GlusterVolume)) {
	t.Helper()
	v := volumeObject()
	must(t, p.rig.Client.Get(t.Context(), client.ObjectKeyFromObject(v), v))
	before := v.DeepCopy()
	change(v)
	must(t, p.rig.Client.Patch(t.Context(), v, client.MergeFrom(before)))
}

// option declares an option of the volume.
func (p *pool) option(t *testing.T, key, value string) {
	t.Helper()
	p.edit(t, func(v *v1alpha1.GlusterVolume) {
		if v.Spec.Options == nil {
			v.Spec.Options = map[string]v1alpha1.OptionValue{}
		}
		v.Spec.Options[key] = v1alpha1.OptionValue(value)
	})
}

// applied waits until the volume has an option.
func (p *pool) applied(t *testing.T, max time.Duration, key, value string) {
	t.Helper()
	v := volumeObject()
	must(t, p.rig.Await(t.Context(), max, v, func() string {
		if have := v.Status.AppliedOptions[key]; string(have) != value {
			return fmt.Sprintf("option %s is %q, not %q", key, have, value)
		}
		return ""
	}))
}

// servers of the pool.
func (p *pool) servers() []*local.Server { return p.rig.Env.Servers()[:4] }

// changes counts the commands that glusterds were given and carried out, by
// what they say.
func (p *pool) changes(t *testing.T) map[string]int {
	t.Helper()
	all, err := rig.AllChanges(p.rig.Env.Servers()...)
	must(t, err)
	out := map[string]int{}
	for _, list := range all {
		for _, c := range list {
			if c.Success {
				out[stripIDs(c.Text)]++
			}
		}
	}
	return out
}

// count adds up the changes that begin with words.
func count(changes map[string]int, words string) int {
	n := 0
	for c, times := range changes {
		if strings.HasPrefix(c, words) {
			n += times
		}
	}
	return n
}

// receipts are those of a server's gate, oldest first.
func receipts(s *local.Server) ([]gate.Receipt, error) {
	files, err := filepath.Glob(filepath.Join(s.Root(), gate.StateDir, "receipts", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []gate.Receipt
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var r gate.Receipt
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("receipt %q: %w", f, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b gate.Receipt) int { return int(a.Started - b.Started) })
	return out, nil
}

// fences checks that no server ever carried out something with a lower fence
// than before: whoever acted last had the right to.
func (p *pool) fences(t *testing.T) {
	p.converged(t)
	for _, s := range p.servers() {
		list, err := receipts(s)
		must(t, err)
		if len(list) == 0 {
			t.Errorf("%s has no receipts", s.Name())
		}
		var top gate.Receipt
		for _, r := range list {
			if r.Fence < top.Fence {
				t.Errorf("%s: %s with fence %d after %s with fence %d", s.Name(), r.Attempt, r.Fence, top.Attempt, top.Fence)
			}
			if r.Fence >= top.Fence {
				top = r
			}
		}
	}
}

// follow calls fn for each event of the operator's journal from now on, until
// it says true, ctx ends or the operator does.
func follow(ctx context.Context, op *rig.Operator, fn func(journal.Event) bool) error {
	c, err := journal.Dial(ctx, journal.SocketPath(op.Journal()))
	if err != nil {
		return err
	}
	defer c.Close()
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = c.Follow(ctx, info.Head.Seq+1, func(ev journal.Event) error {
		if fn(ev) {
			return errSeen
		}
		return nil
	})
	if errors.Is(err, errSeen) {
		return nil
	}
	return err
}

type seenError struct{}

func (seenError) Error() string { return "seen" }

var errSeen error = seenError{}

// ended checks that every operation came to a good end, and how many of a kind
// did.
func (p *pool) ended(t *testing.T) {
	t.Helper()
	v, err := p.op.View(t.Context())
	must(t, err)
	for _, op := range v.All() {
		switch op.State {
		case view.Completed, view.Superseded, view.Cancelled:
		default:
			t.Errorf("%s of %s is %s", op.Plan.Kind, op.Plan.Target, op.State)
		}
	}
	must(t, p.op.Verify(t.Context()))
}
