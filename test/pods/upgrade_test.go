package pods

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// cyclesIdle is how many looks at a converged pool must leave no trace.
const cyclesIdle = 100

// operatorUser is whom the API server takes the operator for.
const operatorUser = "system:serviceaccount:" + rig.SystemNamespace + ":" + rig.OperatorAccount

// R28, S9: the operator gets another image and another argument, as an upgrade
// does, while a client writes. Pods and pools are left alone; then it looks a
// hundred times at what has converged, and no glusterd is given a command that
// changes something, no pod changes, and nothing is written to the API but its
// Lease. Not beside other tests, for which it has work.
func TestOperatorUpgradeAndIdleCycles(t *testing.T) {
	const name = "idle"
	ns := named("idle")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	must(t, s.Disks(t.Context(), named("idle"), 1))
	c, v := s.Cluster(ns, name, 3), Volume(ns, name, volume, 1)
	create(t, s, c, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	must(t, s.AwaitConverged(t.Context(), slow, c))
	mount, err := s.Mount(t.Context(), ns, "client", Server(ns, name, 0), volume)
	must(t, err)
	must(t, mount.StartWriter(t.Context()))
	pods, err := s.WatchPods(t.Context(), ns, name)
	must(t, err)
	uids, err := s.UIDs(t.Context(), ns, name)
	must(t, err)
	commands, err := s.Changes(t.Context(), ns, name)
	must(t, err)

	next := s.Env.OperatorImage() + "-next"
	must(t, s.Env.TagImage(t.Context(), s.Env.OperatorImage(), next))
	upgradeOperator(t, s, next, "--resync=100ms")
	must(t, s.AwaitConverged(t.Context(), slow, c))
	s.cycles(t, 5) // whatever a start brings along is over
	before, err := s.Env.Local().APIServer.Writes()
	must(t, err)
	generations := generationsOf(t, s, ns, name)

	s.cycles(t, cyclesIdle)

	after, err := s.Env.Local().APIServer.Writes()
	must(t, err)
	idle(t, after[len(before):])
	if diff := cmp.Diff(generations, generationsOf(t, s, ns, name)); diff != "" {
		t.Errorf("pods changed while idle (-before +after):\n%s", diff)
	}
	now, err := s.Changes(t.Context(), ns, name)
	must(t, err)
	if diff := cmp.Diff(commands, now); diff != "" {
		t.Errorf("commands given by an operator that had nothing to do (-before +after):\n%s", diff)
	}
	same(t, s, ns, name, uids)
	must(t, pods.Stop())
	if down := pods.DownAtOnce(); len(down) > 0 {
		t.Errorf("not ready: %v", down)
	}
	report, err := mount.StopWriter(t.Context())
	must(t, err)
	if p := report.Problem(); p != "" {
		t.Errorf("the client saw: %s", p)
	}
	must(t, mount.Unmount(t.Context()))
	for _, args := range [][]string{{"journal", "verify"}, {"plan", "--all-namespaces"}} {
		if out, err := s.Operator.CLI(t.Context(), args...); err != nil {
			t.Errorf("anthill %v: %v\n%s", args, err, out)
		}
	}
	s.tidy(t, ns)
}

// idle fails for what the operator wrote, except its Lease; running the gate in a
// pod, which looks, is no change.
func idle(t *testing.T, writes []local.Write) {
	t.Helper()
	leases, looks := 0, 0
	for _, w := range writes {
		switch {
		case w.User != operatorUser:
		case w.Resource == "leases":
			leases++
		case w.Resource == "pods/exec":
			looks++
		default:
			t.Errorf("written to the API while idle: %s", w)
		}
	}
	t.Logf("%d cycles; %d writes of the Lease, %d looks by POST", cyclesIdle, leases, looks)
}

// generationsOf are the resource versions of pods: any write changes them.
func generationsOf(t *testing.T, s *Site, ns, name string) map[string]string {
	t.Helper()
	list, err := s.podsOf(t.Context(), ns, name)
	must(t, err)
	out := map[string]string{}
	for i := range list {
		out[list[i].Name] = list[i].ResourceVersion
	}
	return out
}

// upgradeOperator gives the operator another image and one more argument, waits
// until that runs, and puts it back at the end.
func upgradeOperator(t *testing.T, s *Site, image, arg string) {
	t.Helper()
	pod, err := s.Operator.Pod(t.Context())
	must(t, err)
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name = operatorPod.Namespace, "anthill-operator"
	must(t, s.Change(t.Context(), set, func() {
		c := &set.Spec.Template.Spec.Containers[0]
		c.Image, c.Args = image, append(c.Args, arg)
	}))
	must(t, s.Operator.AwaitReady(t.Context(), slow, containerID(pod)))
	t.Cleanup(func() {
		pod, err := s.Operator.Pod(background)
		must(t, err)
		must(t, s.Install(background))
		must(t, s.Operator.AwaitReady(background, slow, containerID(pod)))
	})
}
