package e2e

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// gluster runs a command by hand, behind the operator's back.
func byHand(t *testing.T, s *local.Server, args ...string) {
	t.Helper()
	if _, err := s.Gluster(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

// handBricks are bricks as a person would add them: one a server, elsewhere than
// Anthill would put them.
func handBricks(t *testing.T, all []*local.Server, name string) []string {
	t.Helper()
	var out []string
	for _, s := range all {
		dir := s.Bricks()[1] + "/" + name
		_, err := s.Exec(t.Context(), "mkdir", "-p", dir)
		must(t, err)
		out = append(out, s.Name()+":"+dir+"/brick")
	}
	return out
}

// R29: a set of bricks added by hand is noticed, never taken out, and planned
// around; declared, it is one of the volume's.
func TestBricksAddedByHand(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	one := p.servers(r)[0]
	v := p.volume(t, r, "grown")
	bricks := handBricks(t, p.servers(r), "by-hand")
	byHand(t, one, append([]string{"volume", "add-brick", v.Name}, bricks...)...)
	blocked(t, r, v, v1alpha1.ReasonLayoutDiffers, "2 sets", "declared are 1")
	condition(t, r, v, v1alpha1.ConditionAvailable, metav1.ConditionTrue, "")
	must(t, r.Await(t.Context(), slow, v, func() string {
		if n := v.Status.BricksTotal; n == nil || *n != 6 {
			return fmt.Sprintf("bricks: %v", n)
		}
		return ""
	}))
	// Other work goes on meanwhile.
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = options{"user.note": "seen"} })
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		if o["user.note"] != "seen" {
			return "not user.note"
		}
		return ""
	})
	cyclesMore(t, r, 3)
	if got := volumes(t, one)[v.Name]; len(got.Bricks) != 6 {
		t.Errorf("%d bricks, want the six there were", len(got.Bricks))
	}
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Layout.Replicate.Sets = 2 })
	must(t, r.AwaitConverged(t.Context(), slow, v))
	condition(t, r, v, v1alpha1.ConditionBlocked, metav1.ConditionFalse, "")
	for _, o := range p.ops(t, r) {
		if o.Plan.Kind == planner.KindAddBrick && o.Plan.Target == "volume/"+v.Name {
			t.Errorf("operation %s adds bricks that were there", o.ID)
		}
	}
	// Deleted, what Anthill did not make stays where it is.
	remove(t, r, v)
	for _, s := range p.servers(r) {
		if _, err := s.Exec(t.Context(), "test", "-d", s.Bricks()[1]+"/by-hand/brick"); err != nil {
			t.Errorf("the brick that was made by hand is gone: %v", err)
		}
		_, err := s.Exec(t.Context(), "rm", "-rf", s.Bricks()[1]+"/by-hand")
		must(t, err)
	}
}

// R29: options set by hand stay as they are, but for those that are declared.
func TestOptionsSetByHand(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	one := p.servers(r)[0]
	v := p.get(t, r, volumeName)
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = options{"performance.cache-refresh-timeout": "2"} })
	must(t, r.AwaitConverged(t.Context(), slow, v))
	byHand(t, one, "volume", "set", v.Name, "performance.cache-size", "64MB")
	byHand(t, one, "volume", "set", v.Name, "cluster.quorum-count", "2")
	byHand(t, one, "volume", "set", v.Name, "performance.cache-refresh-timeout", "9")
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-refresh-timeout"], "2")
	})
	must(t, r.AwaitConverged(t.Context(), slow, v))
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = nil })
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-refresh-timeout"], "")
	})
	cyclesMore(t, r, 3)
	o := optionsOf(t, one, v.Name)
	if o["performance.cache-size"] != "64MB" || o["cluster.quorum-count"] != "2" {
		t.Errorf("what was set by hand was undone: %v", o)
	}
	byHand(t, one, "volume", "reset", v.Name, "performance.cache-size")
	byHand(t, one, "volume", "reset", v.Name, "cluster.quorum-count")
	must(t, r.AwaitConverged(t.Context(), slow, v))
}

// R29: a volume stopped by hand is not started behind the person's back, and one
// made by hand under a name that is declared is left alone.
func TestVolumesChangedByHand(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	one := p.servers(r)[0]
	v := p.get(t, r, volumeName)
	byHand(t, one, "volume", "stop", v.Name)
	condition(t, r, v, v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonNotStarted, "gluster volume start "+v.Name)
	cyclesMore(t, r, 3)
	if got := volumes(t, one)[v.Name]; got.Status != "Stopped" {
		t.Errorf("the volume is %q, want it as the person left it", got.Status)
	}
	byHand(t, one, "volume", "start", v.Name)
	must(t, r.AwaitConverged(t.Context(), slow, v))

	byHand(t, one, append([]string{"volume", "create", "theirs", "replica", "3"}, handBricks(t, p.servers(r), "theirs")...)...)
	was := volumes(t, one)["theirs"]
	theirs := rig.Replicated(p.ns, clusterName, "theirs", 1)
	must(t, r.Client.Create(t.Context(), theirs))
	blocked(t, r, theirs, v1alpha1.ReasonVolumeExistsWithoutMarker)
	confirm(t, r, theirs)
	must(t, r.Client.Delete(t.Context(), theirs))
	gone(t, r, theirs)
	if now := volumes(t, one)["theirs"]; now.ID != was.ID || now.Status != was.Status {
		t.Errorf("somebody else's volume was touched: %+v, was %+v", now, was)
	}
	byHand(t, one, "volume", "delete", "theirs")
	for _, s := range p.servers(r) {
		_, err := s.Exec(t.Context(), "rm", "-rf", s.Bricks()[1]+"/theirs")
		must(t, err)
	}
	p.converged(t, r)
}

// R29: a server that was probed by hand is noticed; once it is declared it is
// taken up without being probed again. Detached by hand, it is joined again as
// long as it is declared, and let go of when it is not.
func TestPeersChangedByHand(t *testing.T) {
	r := begin(t)
	s := take(t, r, 4, 5, 6)[2]
	p := declare(t, r, "peers", 4, 5)
	p.converged(t, r)
	fresh := treeOf(t, s)
	one := p.servers(r)[0]
	byHand(t, one, "peer", "probe", s.Name())
	blocked(t, r, p.cluster, v1alpha1.ReasonForeignPeer, s.Name())
	node := p.add(t, r, 6)
	p.converged(t, r)
	if n := probes(t, p, r, s.Name()); n != 1 {
		t.Errorf("the server was probed %d times, want only by hand", n)
	}

	byHand(t, one, "peer", "detach", s.Name())
	await(t, "the server is joined again", func() string {
		if n := probes(t, p, r, s.Name()); n != 2 {
			return fmt.Sprintf("%d probes", n)
		}
		return ""
	})
	p.converged(t, r)
	must(t, r.Client.Delete(t.Context(), node))
	blocked(t, r, node, v1alpha1.ReasonRemoveNodeNotSupported)
	byHand(t, one, "peer", "detach", s.Name())
	gone(t, r, node)
	if diff := fresh.changed(treeOf(t, s)); len(diff) > 0 {
		t.Errorf("left behind on the server: %v", diff)
	}
	p.numbers = []int{4, 5}
	p.converged(t, r)
}

// probes counts the times a server was probed, by its name.
func probes(t *testing.T, p *pool, r *rig.Rig, name string) int {
	t.Helper()
	n := 0
	for _, s := range p.servers(r) {
		commands, err := rig.Changes(s)
		must(t, err)
		for range slices.Values(slices.DeleteFunc(commands, func(c rig.Command) bool { return c.Text != "peer probe "+name })) {
			n++
		}
	}
	return n
}
