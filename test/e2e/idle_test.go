package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/test/rig"
)

// cyclesIdle is how many looks at a converged pool must leave no trace.
const cyclesIdle = 100

// operatorUser is whom the API server takes the operator for.
const operatorUser = "system:serviceaccount:" + rig.SystemNamespace + ":" + rig.OperatorAccount

// cycles is how often the running operator has looked at clusters.
func cycles(t *testing.T, r *rig.Rig) float64 {
	t.Helper()
	n, err := r.Operator.Metric(t.Context(), "controller_runtime_reconcile_total", `controller="cluster"`)
	must(t, err)
	return n
}

// R28, S9: a converged pool is left alone. In a hundred cycles no server is
// given a command that changes something, nothing is written to the API but the
// Lease, and the journal does not grow.
func TestConvergedPoolIsLeftAlone(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	p.only(t, r) // so that every cycle is about this pool
	args := r.Operator.Args
	t.Cleanup(func() { r.Operator.Stop(); r.Operator.Args = args })
	r.Operator.Stop()
	r.Operator.Args = []string{"--resync", "100ms"}
	restart(t, r)
	must(t, r.AwaitConverged(t.Context(), slow, p.cluster))
	cyclesMore(t, r, 5) // whatever a start brings along is over

	head, err := r.Operator.Head(t.Context())
	must(t, err)
	commands, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	before, err := r.Env.APIServer.Writes()
	must(t, err)
	files := trees(t, p.servers(r))

	cyclesMore(t, r, cyclesIdle)

	after, err := r.Env.APIServer.Writes()
	must(t, err)
	leases := 0
	for _, w := range after[len(before):] {
		switch {
		case w.User != operatorUser:
		case w.Resource == "leases":
			leases++
		default:
			t.Errorf("written to the API while idle: %s", w)
		}
	}
	t.Logf("%d cycles; %d writes of the Lease", cyclesIdle, leases)
	now, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	if diff := cmp.Diff(commands, now); diff != "" {
		t.Errorf("commands given while idle (-before +after):\n%s", diff)
	}
	then, err := r.Operator.Head(t.Context())
	must(t, err)
	if then != head {
		t.Errorf("the journal went from event %d to %d while idle", head.Seq, then.Seq)
	}
	for _, s := range p.servers(r) {
		if diff := files[s.Name()].changed(treeOf(t, s)); len(diff) > 0 {
			t.Errorf("files of %s changed while idle:\n%s", s.Name(), strings.Join(diff, "\n"))
		}
	}
}

// cyclesMore waits until the operator has looked n times more.
func cyclesMore(t *testing.T, r *rig.Rig, n int) {
	t.Helper()
	begun := cycles(t, r)
	await(t, fmt.Sprintf("%d cycles have passed", n), func() string {
		if done := cycles(t, r) - begun; done < float64(n) {
			return fmt.Sprintf("%v of %d", done, n)
		}
		return ""
	})
}
