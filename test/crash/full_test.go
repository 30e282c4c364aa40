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
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/test/rig"
)

// TestDiskFull fills the disk of the journal: before something is planned, and
// in the middle of an operation. It is said, nothing is lost, and the operator
// goes on by itself once there is space.
func TestDiskFull(t *testing.T) {
	r := api(t)
	by := map[string]*scenario{}
	for _, sc := range scenarios() {
		by[sc.name] = sc
	}
	t.Run("BeforeAnything", func(t *testing.T) {
		s := onSmallDisk(t, r, by["Join"])
		fill(t, s)
		must(t, by["Join"].declare(t.Context(), s))
		c := rig.Cluster(s.ns, cluster)
		node := nodes(2, 2)[0]
		node.SetNamespace(s.ns)
		must(t, r.AwaitCondition(t.Context(), soon, node, v1alpha1.ConditionBlocked, metav1.ConditionTrue, "JournalFull"))
		if n := len(s.pool.Effects()); n != s.effects {
			t.Errorf("%d effects without a plan", n-s.effects)
		}
		empty(t, s)
		must(t, s.awaitConverged(t.Context(), convergeMax, by["Join"]))
		must(t, r.AwaitCondition(t.Context(), soon, c, v1alpha1.ConditionBlocked, metav1.ConditionFalse, ""))
		must(t, s.op.Verify(t.Context()))
	})
	t.Run("UnderWay", func(t *testing.T) {
		s := onSmallDisk(t, r, by["Create"])
		ctx := within(t, convergeMax)
		values := 0
		// The disk fills up while gluster is at it.
		must(t, s.pool.AddRule(sim.Rule{Name: ruleName, Command: "volume create", Effect: sim.EffectHeld}))
		must(t, by["Create"].declare(ctx, s))
		must(t, eventually(ctx, func() error {
			if s.pool.Rules()[0].Applied == 0 {
				return errors.New("the volume is not being created")
			}
			return nil
		}))
		fill(t, s)
		must(t, s.pool.Release(ruleName))
		// What the file has free is used up first: one option after the other.
		must(t, eventually(ctx, func() error {
			values++
			if err := change(ctx, s, &v1alpha1.GlusterVolume{}, volumeName, func(v *v1alpha1.GlusterVolume) {
				v.Spec.Options["performance.cache-size"] = v1alpha1.OptionValue(fmt.Sprintf("%dMB", 100+values))
			}); err != nil {
				return err
			}
			return isFull(ctx, s.op)
		}))
		recorded(t, s)
		empty(t, s)
		must(t, s.awaitConverged(ctx, convergeMax, by["Create"]))
		must(t, s.op.Verify(ctx))
		got := effects(s.pool.Effects()[s.effects:])
		for what, n := range got {
			if n != 1 {
				t.Errorf("%q was done %d times", what, n)
			}
		}
		recorded(t, s)
	})
}

// recorded fails if the pool saw an effect of an attempt that the journal does
// not hold.
func recorded(t *testing.T, s *simulation) {
	t.Helper()
	events, err := s.op.Events(t.Context(), 1)
	must(t, err)
	var attempts []string
	for _, ev := range events {
		var started journal.Started
		if ev.Type == journal.StepStarted {
			must(t, json.Unmarshal(ev.Data, &started))
			attempts = append(attempts, started.AttemptID)
		}
	}
	for _, e := range s.pool.Effects() {
		known := func(a string) bool { return e.Attempt == a || strings.HasPrefix(e.Attempt, a+".") } // one for each server
		if e.Attempt != "" && !slices.ContainsFunc(attempts, known) {
			t.Errorf("%s %v on %s was done by attempt %q, which is not on record", e.Verb, e.Argv, e.Server, e.Attempt)
		}
	}
}

// smallDisk is the size of the journal's disk.
const smallDisk = "size=32m"

// onSmallDisk makes the base of a scenario with the operator's folder on a small
// file system of its own.
func onSmallDisk(t *testing.T, r *rig.Rig, sc *scenario) *simulation {
	t.Helper()
	s, err := newSimulation(t.Context(), r, environment.binary, sc.servers, nil)
	if s != nil {
		t.Cleanup(s.close)
	}
	must(t, err)
	dir, err := os.MkdirTemp("", "anthill-disk-") //nolint:usetesting // unmounted by a later clean-up than t.TempDir removes it
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, syscall.Mount("anthill", dir, "tmpfs", 0, smallDisk))
	t.Cleanup(func() {
		s.op.Kill()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s.op.Dir = dir
	explain(t, s.op)
	must(t, s.op.Start())
	must(t, s.op.AwaitReady(within(t, soon)))
	must(t, sc.base(t.Context(), s))
	head, err := s.op.Head(t.Context())
	must(t, err)
	s.head, s.effects = head.Seq, len(s.pool.Effects())
	return s
}

// isFull asks the operator whether its journal is full; nil: it is.
func isFull(ctx context.Context, op *rig.Operator) error {
	r, err := op.Read(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	st, err := r.Stats(ctx)
	if err == nil && !st.Full {
		err = errors.New("the journal is not full")
	}
	return err
}

func filler(s *simulation) string { return filepath.Join(s.op.Dir, "filler") }

// fill leaves no space on the journal's disk.
func fill(t *testing.T, s *simulation) {
	t.Helper()
	f, err := os.Create(filler(s))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Error(err)
			return
		}
	}
}

func empty(t *testing.T, s *simulation) {
	t.Helper()
	must(t, os.Remove(filler(s)))
}
