package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/option"
)

// An optionChange is one option that is to get another value; reset when it is
// to have none.
type optionChange struct {
	Key       string `json:"key"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	onlyEmpty bool
}

type wantedOption struct {
	key, value string
	onlyEmpty  bool
}

// An optionSet is the options of one thing: the pool, or a volume.
type optionSet struct {
	scope        option.Scope
	object       string
	declared     map[string]v1alpha1.OptionValue
	allowUnknown bool
	fresh        bool              // holds no data yet
	seen         map[string]string // as they are
	applied      map[string]bool   // keys that are, or were, ours to reset
	held         map[string]string // keys that are left alone now, with what is said of it
}

// wanted are the declared options that may be set, by key. What is refused is
// noted for the condition and holds up nothing (R9).
func (c *cycle) wanted(s optionSet) []wantedOption {
	var out []wantedOption
	for _, key := range slices.Sorted(maps.Keys(s.declared)) {
		value := string(s.declared[key])
		onlyEmpty, err := option.Check(s.scope, key, value, s.allowUnknown)
		if err == nil && onlyEmpty && s.seen[key] != value {
			err = option.CheckOption(s.scope, key, value, s.fresh, s.allowUnknown)
		}
		if err != nil {
			c.refuse(s.object, err.Error())
			continue
		}
		out = append(out, wantedOption{key, value, onlyEmpty})
	}
	return out
}

func (c *cycle) refuse(object, why string) {
	if !slices.Contains(c.refused[object], why) {
		c.refused[object] = append(c.refused[object], why)
	}
}

// changes are what leads from the options as they are, or will be when the open
// operations have ended, to the wanted ones. Only what is ours is reset.
func (c *cycle) changes(s optionSet, ops []*openOp) []optionChange {
	will := maps.Clone(s.seen)
	if will == nil {
		will = map[string]string{}
	}
	for _, o := range ops {
		if !o.counts() {
			continue
		}
		maps.Copy(will, o.end.Set)
		for _, k := range o.end.Reset {
			delete(will, k)
		}
	}
	var out []optionChange
	for _, o := range c.wanted(s) {
		if have, ok := will[o.key]; (!ok || have != o.value) && !c.holds(s, o.key) {
			out = append(out, optionChange{o.key, have, o.value, o.onlyEmpty})
		}
	}
	for key := range s.applied {
		_, declared := s.declared[key]
		have, is := will[key]
		if declared || !is || c.holds(s, key) {
			continue
		}
		if err := option.CheckReset(s.scope, key); err != nil {
			c.refuse(s.object, err.Error())
			continue
		}
		out = append(out, optionChange{Key: key, From: have})
	}
	slices.SortFunc(out, func(a, b optionChange) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// holds reports whether an option is not to be changed now.
func (c *cycle) holds(s optionSet, key string) bool {
	why, held := s.held[key]
	if why != "" {
		c.refuse(s.object, why)
	}
	return held
}

// keep are the options that status shows as ours: applied and seen. What was
// declared as it was already is ours too, as if it had been applied: a cluster
// that is taken up again would find nothing of its own otherwise. Not so where it
// could never be put back, which would be refused for ever.
func (s optionSet) keep() map[string]string {
	out := map[string]string{}
	for key := range s.applied {
		if value, ok := s.seen[key]; ok {
			out[key] = value
		}
	}
	for key, value := range s.declared {
		if s.seen[key] == string(value) && option.CheckReset(s.scope, key) == nil {
			out[key] = string(value)
		}
	}
	return out
}

// optionsApplied: the cluster-wide options are as declared.
func (c *cycle) optionsApplied() (outcome, error) {
	s, ops := c.clusterOptions()
	return c.applyOptions(s, ops, draft{
		target: targetPool, object: s.object, generation: c.cluster.Generation,
		action: "clusterOptionsApplied", locks: []string{lockPoolOptions},
	}, "", "")
}

func (c *cycle) clusterOptions() (optionSet, []*openOp) {
	s := optionSet{
		scope: option.Cluster, object: clusterObject(c.cluster.Name), declared: c.cluster.Spec.ClusterOptions,
		allowUnknown: c.cluster.Spec.AllowUnknownOptions, applied: keysOf(c.cluster.Status.AppliedOptions),
	}
	if view := c.pool.view(); view != nil {
		s.seen = view.Options
	}
	var ops []*openOp
	for _, o := range c.open {
		if o.Plan.Kind == KindSetOptions && o.end.Volume == nil {
			ops = append(ops, o)
		}
	}
	c.applying(s.applied, ops, func(e *EndState) bool { return e.Volume == nil })
	return s, ops
}

// optionsApplied: the volume's options are as declared, and it has its marker.
func (x ofVolume) optionsApplied() (outcome, error) {
	v := x.v
	s := x.volumeOptions(v)
	return x.applyOptions(s, v.ops, draft{
		target: targetVolume(v.name()), object: v.object(), generation: v.cr.Generation,
		action: "optionsApplied", locks: []string{lockOptions(v.name())},
		end: EndState{Volume: &VolumeEnd{Name: v.name(), VolumeID: v.id}},
	}, v.name(), v.id)
}

// volumeOptions of a volume that may not be there yet.
func (c *cycle) volumeOptions(v *volume) optionSet {
	s := optionSet{
		scope: option.Volume, object: v.object(), declared: v.cr.Spec.Options,
		allowUnknown: v.cr.Spec.AllowUnknownOptions, fresh: v.g == nil || v.g.New, applied: keysOf(v.cr.Status.AppliedOptions),
	}
	if v.g != nil {
		s.seen = v.g.Options
	}
	s.held = c.heldOptions(v)
	c.applying(s.applied, v.ops, func(e *EndState) bool { return e.Volume != nil && e.Volume.Name == v.name() })
	delete(s.applied, Marker)
	return s
}

func (c *cycle) wantedOptions(v *volume) []wantedOption { return c.wanted(c.volumeOptions(v)) }

// applying adds the options that operations have set, or are setting, and that
// status may not have been told of.
func (c *cycle) applying(applied map[string]bool, open []*openOp, about func(*EndState) bool) {
	for _, o := range open {
		if o.started() {
			for key := range o.end.Set {
				applied[key] = true
			}
		}
	}
	for i := range c.s.Ended {
		o := &c.s.Ended[i]
		if k := o.Plan.Kind; k != KindSetOptions && k != KindCreateVolume || o.Started.IsZero() {
			continue
		}
		if end, err := endStateOf(&o.Plan); err == nil && about(&end) {
			for key := range end.Set {
				applied[key] = true
			}
		}
	}
}

func (c *cycle) applyOptions(s optionSet, ops []*openOp, d draft, volume, volumeID string) (outcome, error) {
	changes := c.changes(s, ops)
	if volume != "" && s.seen[Marker] == "" && of(ops, KindCreateVolume) == nil && !setting(ops, Marker) {
		changes = append([]optionChange{{Key: Marker, To: volumeID}}, changes...)
	}
	if len(changes) == 0 {
		for _, o := range ops {
			if o.counts() && len(o.end.Set)+len(o.end.Reset) > 0 {
				return lacks("%s is open", o.ref())
			}
		}
		if n := len(c.refused[s.object]); n > 0 {
			return lacks("refused: %s", listed(slices.Sorted(slices.Values(c.refused[s.object]))))
		}
		return holds("")
	}
	if why := busy(ops); why != "" {
		return lacks("%s", why)
	}
	if p := c.held(); p != nil {
		return lacks("not set now: %s", p.message)
	}
	d.kind, d.canonical = KindSetOptions, canonicalChanges(changes)
	d.end.Set = map[string]string{}
	var said []string
	for i, ch := range changes {
		p := OptionParams{Volume: volume, VolumeID: volumeID, Key: ch.Key, Value: ch.To, OnlyEmpty: ch.onlyEmpty}
		id := fmt.Sprintf("option%d", i+1)
		if ch.To == "" {
			d.steps = append(d.steps, step(id, StepResetOption, journal.Retriable, p))
			d.end.Reset = append(d.end.Reset, ch.Key)
			said = append(said, fmt.Sprintf("%s is %q and no longer declared", ch.Key, ch.From))
			continue
		}
		d.steps = append(d.steps, step(id, StepSetOption, journal.Retriable, p))
		d.end.Set[ch.Key] = ch.To
		is := "is not set"
		if ch.From != "" {
			is = fmt.Sprintf("is %q", ch.From)
		}
		said = append(said, fmt.Sprintf("%s %s, declared is %q", ch.Key, is, ch.To))
	}
	d.difference = listed(said)
	return c.want(d)
}

// canonicalChanges leaves the marker's value out, which is an id made by
// chance.
func canonicalChanges(changes []optionChange) []optionChange {
	out := slices.Clone(changes)
	for i := range out {
		if out[i].Key == Marker {
			out[i].To = "its id"
		}
	}
	return out
}

func setting(ops []*openOp, key string) bool {
	return slices.ContainsFunc(ops, func(o *openOp) bool { _, ok := o.end.Set[key]; return ok && o.counts() })
}

func keysOf(m map[string]v1alpha1.OptionValue) map[string]bool {
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}
