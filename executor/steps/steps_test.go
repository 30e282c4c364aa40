package steps

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/planner"
)

var seedsFlag = flag.Int("seeds", 0, "seeds of the random schedules; default 15, 3 with -short, 400 with ANTHILL_TEST_FULL=1")

func seeds() int {
	switch {
	case *seedsFlag > 0:
		return *seedsFlag
	case os.Getenv("ANTHILL_TEST_FULL") == "1":
		return 400
	case testing.Short():
		return 3
	}
	return 15
}

// pooled is a box with a pool of three and a volume of one replica set.
func pooled(t *testing.T, seed uint64, servers int) *box {
	t.Helper()
	b := newBox(t, seed, servers)
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	for i := 1; i <= 3; i++ {
		b.addNode(i)
	}
	b.addVolume(1)
	b.settle(400)
	return b
}

func (b *box) volume() planner.Volume {
	b.t.Helper()
	obs, err := b.world.Observed(b.t.Context(), b.cluster.Status.PoolID)
	if err != nil {
		b.t.Fatal(err)
	}
	var first *planner.PoolView
	for _, n := range sortedKeys(obs.Servers) {
		v := obs.Servers[n].View
		if v == nil || len(v.Peers) == 0 {
			continue
		}
		if first == nil {
			first = v
		} else if d := planner.Differ(first, v); d != "" {
			b.t.Errorf("views differ: %s", d)
		}
	}
	vol, ok := first.Volume("v")
	if !ok {
		b.t.Fatal("there is no volume v")
	}
	return vol
}

func TestPoolAndVolumeFromNothing(t *testing.T) {
	b := pooled(t, 1, 3)
	vol := b.volume()
	if len(vol.Bricks) != 3 || !vol.Started || vol.Options[planner.Marker] != b.volumes[0].Status.VolumeID {
		t.Errorf("volume %+v; want three bricks, started, marked", vol)
	}
	b.once("peer probe s2", "peer probe s3", "volume create v", "volume start v")
	before := len(b.pool.Effects())
	for range 100 {
		b.cycle()
	}
	if n := len(b.pool.Effects()); n != before {
		t.Errorf("%d effects in 100 idle cycles", n-before)
	}
}

func TestGrow(t *testing.T) {
	b := pooled(t, 2, 4)
	b.addNode(4)
	b.settle(400)
	b.volumes[0].Spec.Layout.Replicate.Sets = 2
	b.volumes[0].Generation++
	b.settle(400)
	if n := len(b.volume().Bricks); n != 6 {
		t.Errorf("%d bricks, want 6", n)
	}
	b.once("peer probe s4", "volume add-brick v", "volume rebalance v")
}

func TestOptionsAndDelete(t *testing.T) {
	b := pooled(t, 3, 3)
	b.volumes[0].Spec.Options = map[string]v1alpha1.OptionValue{"performance.cache-size": "64MB"}
	b.volumes[0].Generation++
	b.settle(200)
	if v := b.volume().Options["performance.cache-size"]; v != "64MB" {
		t.Errorf("option is %q, want 64MB", v)
	}
	b.volumes[0].Spec.Options = nil
	b.volumes[0].Generation++
	b.settle(200)
	if v, set := b.volume().Options["performance.cache-size"]; set {
		t.Errorf("option is still %q after it left the spec", v)
	}
	deleting(b, "v")
	b.settle(200)
	obs, err := b.world.Observed(t.Context(), b.cluster.Status.PoolID)
	if err != nil {
		t.Fatal(err)
	}
	for n, s := range obs.Servers {
		if len(s.Volumes) > 0 {
			t.Errorf("%s still has %v", n, s.Volumes)
		}
	}
	b.once("volume stop v", "volume delete v")
}

func deleting(b *box, confirm string) {
	now := metaNow(b.pool.Now())
	b.volumes[0].DeletionTimestamp = &now
	b.volumes[0].Finalizers = []string{v1alpha1.Finalizer}
	b.volumes[0].Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: confirm}
}

// faults are what can happen to one command. Each must lead to the same end.
var faults = map[string]sim.Rule{
	"LostReply":        {Lost: true},
	"LostOnItsWay":     {Effect: sim.EffectNever, Lost: true},
	"Held":             {Effect: sim.EffectHeld, Lost: true},
	"Busy":             {Effect: sim.EffectNone, Text: "Another transaction is in progress. Please try again after some time.", Errno: 30802, Times: 3},
	"SaysItFailed":     {Text: "Post Validation failed on s2. Please check log file for details."},
	"FailsWithNothing": {Effect: sim.EffectNone, Text: "Staging failed on s2. Error: Host s3 not connected", Times: 2},
	"EmptyError":       {Text: " "},
}

func TestEveryFaultOfEveryCommand(t *testing.T) {
	commands := []string{"peer probe", "volume create", "volume set", "volume start", "volume add-brick", "volume rebalance"}
	for _, command := range commands {
		for name, fault := range faults {
			t.Run(command+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := newBox(t, 7, 4)
				defer func() { b.stop(); _ = b.j.Close() }()
				rule := fault
				rule.Name, rule.Command = "fault", command
				if err := b.pool.AddRule(rule); err != nil {
					t.Fatal(err)
				}
				if rule.Effect == sim.EffectHeld {
					// It lands a minute later, whatever anybody has done since.
					go func() {
						for until := b.pool.Now().Add(2 * time.Minute); b.pool.Now().Before(until); {
							time.Sleep(time.Millisecond)
						}
						_ = b.pool.Release("fault")
					}()
				}
				for i := 1; i <= 4; i++ {
					b.addNode(i)
				}
				b.addVolume(1)
				b.settle(20000)
				b.volumes[0].Spec.Layout.Replicate.Sets = 2
				b.volumes[0].Generation++
				b.settle(20000)
				if n := len(b.volume().Bricks); n != 6 {
					t.Errorf("%d bricks, want 6", n)
				}
				b.once("peer probe s2", "peer probe s3", "peer probe s4", "volume create v", "volume start v", "volume add-brick v")
			})
		}
	}
}

// TestCrashes ends the operator at random moments, with the journal as it was
// then, while everything is made and grown.
func TestCrashes(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, uint64(seed), 4)
			defer func() { b.stop(); _ = b.j.Close() }()
			for i := 1; i <= 4; i++ {
				b.addNode(i)
			}
			b.addVolume(1)
			grown := false
			for crashes := 0; ; {
				d := b.cycle()
				idle := len(d.Plan)+len(d.Supersede)+len(d.Cancel) == 0 && len(b.j.OpenOps()) == 0
				if idle && grown {
					break
				}
				if idle && d.Volumes["v"].Total > 0 {
					b.volumes[0].Spec.Layout.Replicate.Sets = 2
					b.volumes[0].Generation++
					grown = true
				}
				time.Sleep(time.Duration(b.rand.IntN(8)) * time.Millisecond)
				if crashes < 12 && b.rand.IntN(4) == 0 {
					crashes++
					b.crash()
				}
			}
			if n := len(b.volume().Bricks); n != 6 {
				t.Errorf("%d bricks, want 6", n)
			}
			b.once("peer probe s2", "peer probe s3", "peer probe s4", "volume create v", "volume start v", "volume add-brick v")
		})
	}
}

func TestPoolOfOne(t *testing.T) {
	b := newBox(t, 4, 1)
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	b.addNode(1)
	b.addVolume(1)
	b.volumes[0].Spec.Layout = v1alpha1.VolumeLayout{Distribute: &v1alpha1.DistributeLayout{Bricks: 2}}
	b.settle(400)
	b.once("volume create v", "volume start v")
}
