package crash

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// touched is everything that was ever done to the servers of the pool by
// somebody who may: commands of any outcome, and receipts.
func (p *pool) touched(t *testing.T) []string {
	t.Helper()
	out := p.attempts(t)
	for _, s := range p.servers() {
		list, err := receipts(s)
		must(t, err)
		for _, r := range list {
			out = append(out, s.Name()+" "+r.Attempt)
		}
	}
	slices.Sort(out)
	return out
}

// cycles waits until the operator has looked at the pool a few times more.
func (p *pool) cycles(t *testing.T, op *rig.Operator) {
	t.Helper()
	const name, which = "controller_runtime_reconcile_total", `controller="cluster"`
	ctx := within(t, soon)
	first, err := op.Metric(ctx, name, which)
	must(t, err)
	must(t, eventually(ctx, func() error {
		now, err := op.Metric(ctx, name, which)
		if err == nil && now < first+3 {
			err = fmt.Errorf("%v cycles, not 3 more than %v", now, first)
		}
		return err
	}))
}

// news counts the Kubernetes events of a reason.
func (p *pool) news(t *testing.T, reason string) int {
	t.Helper()
	var list eventsv1.EventList
	must(t, p.rig.Client.List(t.Context(), &list, client.InNamespace(namespace)))
	n := 0
	for i := range list.Items {
		if list.Items[i].Reason == reason {
			n++
		}
	}
	return n
}

// journalDamaged takes the journal of a pool at rest away, in every way. It is
// noticed and said, the pool is adopted without one command, and the operator
// can work again.
func (p *pool) journalDamaged(t *testing.T) {
	p.converged(t)
	p.op.Stop()
	old, err := os.ReadFile(p.op.Journal())
	must(t, err)
	p.start(t)
	for n, c := range []struct {
		name   string
		damage func(file string) error
		kept   bool // the damaged file is kept aside
	}{
		{"Rewound", func(file string) error { return os.WriteFile(file, old, 0o600) }, false},
		{"Truncated", func(file string) error { return os.Truncate(file, 3*4096+100) }, true},
		{"Flipped", flip, true},
		{"Deleted", os.Remove, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			explain(t, p.op)
			// There is something to lose.
			value := fmt.Sprint(3 + n)
			p.option(t, "performance.low-prio-threads", value)
			p.applied(t, soon, "performance.low-prio-threads", value)
			p.settled(t)
			p.op.Stop()
			before, news, kept := p.touched(t), p.news(t, v1alpha1.EventJournalRebuilt), p.asides(t)
			must(t, c.damage(p.op.Journal()))
			p.start(t)
			must(t, eventually(within(t, soon), func() error {
				if p.news(t, v1alpha1.EventJournalRebuilt) == news {
					return fmt.Errorf("no event %s", v1alpha1.EventJournalRebuilt)
				}
				return nil
			}))
			p.cycles(t, p.op)
			p.settled(t)
			if after := p.touched(t); !slices.Equal(before, after) {
				t.Errorf("a pool at rest was touched %d times, then %d times: %v", len(before), len(after), more(before, after))
			}
			if got := p.asides(t) - kept; (got == 1) != c.kept {
				t.Errorf("%d damaged journals were kept aside", got)
			}
			must(t, p.op.Verify(t.Context()))
			value += "1"
			p.option(t, "performance.low-prio-threads", value)
			p.applied(t, soon, "performance.low-prio-threads", value)
			p.settled(t)
		})
	}
}

// more lists what is in b and not in a.
func more(a, b []string) []string {
	var out []string
	for _, s := range b {
		if !slices.Contains(a, s) {
			out = append(out, s)
		}
	}
	return out
}

// asides counts the journals that were kept aside.
func (p *pool) asides(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(p.op.Dir)
	must(t, err)
	n := 0
	for _, e := range entries {
		if strings.Contains(e.Name(), ".corrupt-") {
			n++
		}
	}
	return n
}

// flip flips one bit of every copy of the journal's last kind of event.
func flip(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	word := []byte(journal.OpCompleted)
	at := 0
	for n := 0; ; n++ {
		i := bytes.Index(data[at:], word)
		if i < 0 {
			if n == 0 {
				return fmt.Errorf("no %s in %q", word, file)
			}
			return os.WriteFile(file, data, 0o600)
		}
		data[at+i] ^= 1
		at += i + len(word)
	}
}

// secondOperator starts another process of the same instance on a copy of the
// journal. Both believe that the pool is theirs; as soon as both want to act
// one of them has to end, and says so. Nothing is done twice.
func (p *pool) secondOperator(t *testing.T) {
	p.converged(t)
	const key = "performance.least-prio-threads"
	twin, err := p.rig.NewOperator(t.Context(), environment.binary, "twin")
	must(t, err)
	twin.Args, twin.Instance = p.op.Args, p.op.Instance
	explain(t, twin)
	defer twin.Kill()
	must(t, copyJournal(t.Context(), p.op, twin))
	must(t, twin.Start())
	must(t, twin.AwaitReady(within(t, soon)))
	var loser *rig.Operator
	for n := 0; n < 40 && loser == nil; n++ {
		value := fmt.Sprint(1 + n)
		p.option(t, key, value)
		p.applied(t, soon, key, value)
		for _, op := range []*rig.Operator{p.op, twin} {
			if !op.Running() {
				loser = op
			}
		}
	}
	if loser == nil {
		t.Fatal("both operators still act after forty changes")
	}
	code, err := loser.Wait(within(t, soon))
	must(t, err)
	if code <= 0 {
		t.Errorf("the operator that was overtaken ended with status %d", code)
	}
	if says := local.Tail(loser.LogFile(), 20); !strings.Contains(says, "another process of this instance has taken over") {
		t.Errorf("the operator that was overtaken does not say so:\n%s", says)
	}
	must(t, loser.Verify(t.Context()))
	if loser == p.op { // the twin's journal is the one to go on with
		twin.Stop()
		data, err := os.ReadFile(twin.Journal())
		must(t, err)
		must(t, os.WriteFile(p.op.Journal(), data, 0o600))
	} else {
		p.op.Stop()
	}
	p.start(t)
	p.settled(t)
	p.fences(t)
}

// copyJournal gives an operator a copy of another's live journal.
func copyJournal(ctx context.Context, from, to *rig.Operator) error {
	c, err := journal.Dial(ctx, journal.SocketPath(from.Journal()))
	if err != nil {
		return err
	}
	defer c.Close()
	f, err := os.OpenFile(to.Journal(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = c.Snapshot(ctx, f)
	return err
}

// rested waits until an operator has no operation open.
func rested(t *testing.T, op *rig.Operator) {
	t.Helper()
	_, err := op.AwaitView(t.Context(), late, func(v *rig.View) string {
		for _, o := range v.Open() {
			return fmt.Sprintf("%s of %s is %s", o.Plan.Kind, o.Plan.Target, o.State)
		}
		return ""
	})
	must(t, err)
}

// otherInstance lets an operator of another instance find the pool. It touches
// nothing and says whose it is, until a person lets it take over; from then on
// the first one touches nothing.
func (p *pool) otherInstance(t *testing.T) {
	p.converged(t)
	const key = "performance.least-prio-threads"
	other, err := p.rig.NewOperator(t.Context(), environment.binary, "other")
	must(t, err)
	other.Args = append(slices.Clone(p.op.Args), "--leader-elect=false")
	other.Instance = "elsewhere/anthill"
	explain(t, other)
	defer other.Kill()
	p.op.Stop()
	before := p.touched(t)
	must(t, other.Start())
	must(t, other.AwaitReady(within(t, soon)))
	p.option(t, key, "50")
	p.owned(t, "rig/anthill")
	p.cycles(t, other)
	if after := p.touched(t); !slices.Equal(before, after) {
		t.Errorf("a pool of another instance was touched: %v", more(before, after))
	}
	p.takeOver(t, "rig/anthill")
	p.applied(t, soon, key, "50")
	rested(t, other) // it is seen to be so before its command has returned
	// The first one comes back.
	before = p.touched(t)
	p.start(t)
	p.option(t, key, "51")
	p.applied(t, soon, key, "51") // by the other one
	// It says once more whose the pool is, and leaves the status to its owner.
	p.cycles(t, p.op)
	version := p.version(t)
	p.cycles(t, p.op)
	if now := p.version(t); now != version {
		t.Errorf("the cluster is written although nothing changes: version %s, then %s", version, now)
	}
	for _, c := range more(before, p.touched(t)) {
		if strings.Contains(c, "volume set") && !strings.Contains(c, " 51") {
			t.Errorf("the operator that was replaced did %q", c)
		}
	}
	// The owner goes. What is new is told at once.
	other.Stop()
	p.declare(t, "cluster.daemon-log-level", "ERROR")
	p.owned(t, "elsewhere/anthill")
	p.takeOver(t, "elsewhere/anthill")
	p.option(t, key, "52")
	p.applied(t, soon, key, "52")
	p.takeOver(t, "")
	p.settled(t)
	p.fences(t)
}

// version of the cluster object.
func (p *pool) version(t *testing.T) string {
	t.Helper()
	c := rig.Cluster(namespace, cluster)
	must(t, p.rig.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	return c.ResourceVersion
}

// owned waits until the cluster says which instance owns the pool.
func (p *pool) owned(t *testing.T, instance string) {
	t.Helper()
	c := rig.Cluster(namespace, cluster)
	must(t, p.rig.Await(t.Context(), soon, c, func() string {
		if s := rig.Is(c, v1alpha1.ConditionBlocked, "True", v1alpha1.ReasonOwnedByOtherInstance); s != "" {
			return s
		}
		for _, cond := range c.Status.Conditions {
			if cond.Type == v1alpha1.ConditionBlocked && !strings.Contains(cond.Message, instance) {
				return fmt.Sprintf("%q does not name %q", cond.Message, instance)
			}
		}
		return ""
	}))
}

// takeOver annotates the cluster so that the pool of an instance may be taken.
func (p *pool) takeOver(t *testing.T, instance string) {
	t.Helper()
	c := rig.Cluster(namespace, cluster)
	must(t, p.rig.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[v1alpha1.AnnotationTakeOver] = instance
	if instance == "" {
		delete(c.Annotations, v1alpha1.AnnotationTakeOver)
	}
	must(t, p.rig.Client.Patch(t.Context(), c, client.MergeFrom(before)))
}
