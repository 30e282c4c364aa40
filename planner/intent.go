package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A draft is an operation as an action wants it.
type draft struct {
	kind, target string
	object       string // "GlusterVolume/v1"
	generation   int64
	action       string
	difference   string // for people
	// canonical is the difference for machines: no random ids, nothing that
	// depends on an order, and the same in every release.
	canonical any
	locks     []string
	steps     []journal.Step
	end       EndState
}

// repeatsMax is how often an operation with the same difference is planned in
// one epoch although it completed each time: somebody, or gluster, undoes it.
const repeatsMax = 3

// plan makes the operation of a draft, or says why it is not planned.
func (c *cycle) plan(d draft) ([]Planned, string) {
	if c.idle != "" {
		return nil, c.idle
	}
	p := journal.Plan{
		Kind: d.kind, Scope: c.poolID, Target: d.target, Object: c.qualified(d.object),
		Reason: journal.Reason{Action: d.action, Difference: d.difference, Generation: d.generation},
		Intent: intent(d.kind, c.poolID, d.target, d.canonical),
		Steps:  d.steps, Locks: slices.Sorted(slices.Values(d.locks)), EndState: d.end.encode(),
	}
	if t, ok := c.s.Tombstones[p.Intent]; ok && t.Generation == d.generation {
		c.block(d.object, problemf(v1alpha1.ReasonIntentAbandoned,
			"%s of %s was abandoned (operation %s: %s); it is planned again when the spec changes, or with: anthill journal retry %s --reason '...'",
			d.kind, d.target, t.Op, t.Reason, t.Op))
		return nil, fmt.Sprintf("operation %s was abandoned", t.Op)
	}
	if last, times := c.repeats(p.Intent); times >= repeatsMax {
		c.block(d.object, problemf(v1alpha1.ReasonGoalNotSeen,
			"%s of %s completed %d times and is still not seen (%s); it is not tried again until the operator restarts or the difference changes: anthill journal show %s",
			d.kind, d.target, times, d.difference, last))
		return nil, fmt.Sprintf("operation %s completed and its goal is not seen", last)
	}
	c.takeOver(&d)
	for _, i := range c.holders.of(p.Locks) {
		if o := c.open[i]; !o.gone {
			p.After = append(p.After, o.ID)
		}
	}
	for _, o := range c.open {
		if o.gone && o.Plan.Target == d.target {
			p.Supersedes = append(p.Supersedes, o.ID)
		}
	}
	return []Planned{{Key: d.kind + " " + d.target, Plan: p}}, ""
}

// holders says which operations, by number, are about what a lock stands for.
// All that change the pool share its lock without being about each other.
type holders map[string][]int

func (h holders) add(locks []string, i int) {
	for _, l := range locks {
		if l != lockPool {
			h[l] = append(h[l], i)
		}
	}
}

// of lists, in order, those that are about the same as any of the locks.
func (h holders) of(locks []string) []int {
	var out []int
	for _, l := range locks {
		out = append(out, h[l]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Locks (design.md 4). Options have locks of their own: an operation that is
// parked over an option must not keep a dead brick from being revived, nor a
// server from joining.
const (
	lockPool        = "pool"
	lockPoolOptions = "pool/options"
)

func lockNode(name string) string         { return "node:" + name }
func lockVolume(name, part string) string { return "volume:" + name + "/" + part }
func lockSet(volume string, n int) string { return fmt.Sprintf("set:%s/%d", volume, n) }
func lockOptions(volume string) string    { return lockVolume(volume, "options") }

func lockVolumeWhole(name string) []string {
	return []string{lockVolume(name, "layout"), lockOptions(name), lockVolume(name, "service")}
}

// intent is the key of what an operation is for: same inputs, same key.
func intent(kind, scope, target string, canonical any) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(kind), []byte(scope), []byte(target), mustJSON(canonical)} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// repeats counts operations of this epoch that completed for the same
// difference.
func (c *cycle) repeats(intent string) (last journal.OpID, times int) {
	for i := range c.s.Ended {
		o := &c.s.Ended[i]
		if c.s.Epoch != 0 && o.EndedIn != c.s.Epoch {
			continue
		}
		if o.State == view.Completed && o.Plan.Intent == intent {
			if times == 0 {
				last = o.ID
			}
			times++
		}
	}
	return last, times
}

// qualified is an object with its namespace, as the journal names it.
func (c *cycle) qualified(object string) string {
	kind, name := "", object
	for i := range object {
		if object[i] == '/' {
			kind, name = object[:i], object[i+1:]
			break
		}
	}
	return kind + "/" + c.cluster.Namespace + "/" + name
}

func step(id, name string, stage journal.Stage, params any) journal.Step {
	return journal.Step{ID: id, Name: name, Stage: stage, Params: mustJSON(params)}
}

// link fills in which plans of this decision come after which, now that their
// order is known.
func (c *cycle) link() {
	h := holders{}
	for i := range c.out.Plan {
		p := &c.out.Plan[i]
		for _, j := range h.of(p.Plan.Locks) {
			p.After = append(p.After, c.out.Plan[j].Key)
		}
		h.add(p.Plan.Locks, i)
	}
}
