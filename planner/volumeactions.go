package planner

import (
	"fmt"
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/placement"
)

// identified: what the pool has under the volume's name, if anything, is it.
func (x ofVolume) identified() (outcome, error) {
	switch v := x.v; {
	case x.conflict != nil:
		return untold("%s", x.conflict.message)
	case len(x.pool.members) == 0:
		return untold("the cluster has no server yet")
	case !v.seen:
		return untold("no glusterd of the pool answers")
	case v.wrong != nil:
		x.block(v.object(), v.wrong)
		return lacks("%s: %s", v.wrong.reason, v.wrong.message)
	case v.g == nil:
		return holds("not made yet")
	}
	return holds("%s", x.v.id)
}

// created: the volume is there, and it has been started once. One that was made
// and never started is the rest of a creation that nobody knows of any more,
// since the journal was lost; one that somebody stopped stays stopped.
func (x ofVolume) created() (outcome, error) {
	v := x.v
	if v.exists() && !v.g.New {
		return holds("")
	}
	if why := busy(v.ops); why != "" {
		return lacks("%s", why)
	}
	if o := of(v.ops, KindCreateVolume); o != nil {
		return lacks("%s is open", o.ref())
	}
	if p := x.held(); p != nil {
		return lacks("not made now: %s", p.message)
	}
	if v.exists() {
		return x.want(x.finishing())
	}
	sets, waits, err := x.place(v)
	if outcome, done, err := x.unplaced(waits, err); done {
		return outcome, err
	}
	id := v.id
	if id == "" {
		if id = x.s.NewVolumeIDs[v.name()]; id == "" {
			return untold("no id for the volume")
		}
	}
	out, err := x.want(x.creation(id, sets))
	if len(out.Changes) > 0 {
		v.id, x.out.VolumeIDs[v.name()] = id, id
		x.promise(sets)
	}
	return out, err
}

// unplaced tells why there is no placement; done is false when there is one.
func (x ofVolume) unplaced(waits string, err error) (out outcome, done bool, _ error) {
	switch {
	case placement.IsNotEnoughServers(err):
		x.block(x.v.object(), problemf(v1alpha1.ReasonNotEnoughServers, "%s", err))
		out, err = lacks("%s", err)
	case err != nil:
		return outcome{}, true, err
	case waits != "":
		x.v.waits = waits
		out, err = lacks("%s", waits)
	default:
		return outcome{}, false, nil
	}
	return out, true, err
}

// creation makes the volume.
func (x ofVolume) creation(id string, sets [][]BrickRef) draft {
	v, layout := x.v, x.v.layout()
	bricks := BricksParams{Volume: v.name(), VolumeID: id, Bricks: slices.Concat(sets...)}
	s := shapeOf(layout)
	create := CreateParams{BricksParams: bricks, Arbiter: s.arbiter, Disperse: s.disperse, Redundancy: s.redundancy}
	if s.replica > 1 {
		create.Replica = s.replica
	}
	d := x.creationAfter(id,
		step("bricks", StepMakeBricks, journal.Compensatable, bricks),
		step("create", StepCreateVolume, journal.Pivot, create))
	d.difference = "the volume is not there; it becomes " + layout.String()
	d.end.Volume.Created, d.end.Volume.Bricks = true, bricks.Bricks
	return d
}

// finishing does what is left of a creation whose volume is there. It is the
// same intent: abandoned is abandoned.
func (x ofVolume) finishing() draft {
	d := x.creationAfter(x.v.id)
	d.difference = "the volume was made and never started"
	return d
}

// creationAfter is a creation from where the volume is there; first are the
// steps to that.
func (x ofVolume) creationAfter(id string, first ...journal.Step) draft {
	v, layout := x.v, x.v.layout()
	steps := append(first,
		step("mark", StepSetOption, journal.Retriable, OptionParams{Volume: v.name(), VolumeID: id, Key: Marker, Value: id}))
	wanted := x.wantedOptions(v)
	set := make(map[string]string, len(wanted))
	for i, o := range wanted {
		steps = append(steps, step(fmt.Sprintf("option%d", i+1), StepSetOption, journal.Retriable,
			OptionParams{Volume: v.name(), VolumeID: id, Key: o.key, Value: o.value, OnlyEmpty: o.onlyEmpty}))
		set[o.key] = o.value
	}
	steps = append(steps,
		step("start", StepStartVolume, journal.Retriable, VolumeParams{Volume: v.name(), VolumeID: id}),
		step("healthy", StepBricksHealthy, journal.Waiting, HealthyParams{VolumeParams: VolumeParams{Volume: v.name(), VolumeID: id}}))
	return draft{
		kind: KindCreateVolume, target: targetVolume(v.name()), object: v.object(), generation: v.cr.Generation,
		action: "volumeCreated",
		canonical: struct {
			Layout  string            `json:"layout"`
			Options map[string]string `json:"options,omitempty"`
		}{layout.String(), set},
		locks: append(lockVolumeWhole(v.name()), lockSets(v.name(), 0, layout.Sets())...),
		steps: steps,
		end:   EndState{Set: set, Volume: &VolumeEnd{Name: v.name(), VolumeID: id, Sets: layout.Sets()}},
	}
}

// complete: the volume has all its sets.
func (x ofVolume) complete() (outcome, error) {
	v, want := x.v, x.v.layout().Sets()
	switch {
	case v.sets > want:
		x.block(v.object(), problemf(v1alpha1.ReasonLayoutDiffers,
			"the volume has %s, declared are %d: it was grown by hand; declare as many to keep them (shrinking is not supported)", count(v.sets, "set"), want))
		return lacks("%s more than declared", count(v.sets-want, "set"))
	case v.sets == want:
		return holds("%s", count(want, "set"))
	}
	if why := busy(v.ops); why != "" {
		return lacks("%s", why)
	}
	for _, kind := range []string{KindCreateVolume, KindAddBrick} {
		if o := of(v.ops, kind); o != nil {
			return lacks("%s is open", o.ref())
		}
	}
	if o := v.losing(); o != nil && !sharded(v.g) {
		return lacks("waits for %s to end: files that are moved must be found", o.ref())
	}
	if p := x.held(); p != nil {
		return lacks("not grown now: %s", p.message)
	}
	if down := v.down(); len(down) > 0 {
		x.block(v.object(), problemf(v1alpha1.ReasonBricksDown, "the volume is not grown from %d to %s while bricks are down: %s", v.sets, count(want, "set"), listed(down)))
		return lacks("not grown while bricks are down: %s", listed(down))
	}
	if !v.g.Started {
		x.block(v.object(), problemf(v1alpha1.ReasonNotStarted, "the volume is not grown from %d to %s while it is stopped", v.sets, count(want, "set")))
		return lacks("not grown while it is stopped")
	}
	sets, waits, err := x.place(v)
	if outcome, done, err := x.unplaced(waits, err); done {
		return outcome, err
	}
	out, err := x.want(x.growth(sets))
	if len(out.Changes) > 0 {
		x.promise(sets)
	}
	return out, err
}

func (x ofVolume) growth(sets [][]BrickRef) draft {
	v, want := x.v, x.v.layout().Sets()
	bricks := BricksParams{Volume: v.name(), VolumeID: v.id, Bricks: slices.Concat(sets...)}
	steps := []journal.Step{
		step("bricks", StepMakeBricks, journal.Compensatable, bricks),
		step("add", StepAddBrick, journal.Pivot, AddBrickParams{BricksParams: bricks, Before: len(v.bricks)}),
	}
	difference := fmt.Sprintf("the volume has %s, declared are %d", count(v.sets, "set"), want)
	if sharded(v.g) {
		difference += "; files stay where they are, since the volume is sharded (S11)"
	} else {
		steps = append(v.findable(), steps...)
		steps = append(steps, step("rebalance", StepRebalance, journal.Retriable, VolumeParams{Volume: v.name(), VolumeID: v.id}))
	}
	steps = append(steps, step("healthy", StepBricksHealthy, journal.Waiting,
		HealthyParams{VolumeParams: VolumeParams{Volume: v.name(), VolumeID: v.id}, From: len(v.bricks)}))
	return draft{
		kind: KindAddBrick, target: targetVolume(v.name()), object: v.object(), generation: v.cr.Generation,
		action: "setsComplete", difference: difference,
		canonical: struct {
			From int `json:"from"`
			To   int `json:"to"`
		}{v.sets, want},
		locks: append(lockSets(v.name(), v.sets, want), lockVolume(v.name(), "layout")),
		steps: steps,
		end: EndState{Volume: &VolumeEnd{
			Name: v.name(), VolumeID: v.id, Before: len(v.bricks), Bricks: bricks.Bricks, Sets: want,
		}},
	}
}

func lockSets(volume string, from, to int) []string {
	var out []string
	for k := from; k < to; k++ {
		out = append(out, lockSet(volume, k))
	}
	return out
}

// sharded reports whether the volume's files are cut into pieces. Rebalancing
// such a volume has lost data, so we never start it.
func sharded(g *Volume) bool {
	value := g.Options["features.shard"]
	return value != "" && !isOff(value)
}

// down names the bricks that are not seen to serve.
func (v *volume) down() []string {
	var out []string
	for i := range v.bricks {
		if b := &v.bricks[i]; !b.online {
			out = append(out, b.Host+":"+b.Path)
		}
	}
	return out
}

// bricksOnline: every brick serves.
func (x ofVolume) bricksOnline() (outcome, error) {
	switch v := x.v; {
	case !v.g.Started:
		return lacks("the volume is stopped")
	case len(v.down()) > 0:
		return lacks("not serving: %s", listed(v.down()))
	}
	return holds("%s", count(len(x.v.bricks), "brick"))
}
