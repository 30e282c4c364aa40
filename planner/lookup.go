package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/journal"
)

// lookupOptimize makes clients ask only the set that a file's name points at.
// While a rebalance has files yet to move, they do not find those (gluster's
// default is on; seen with 10.3: ENOENT, gluster/glusterfs issue 973), which
// rule S10 forbids.
const lookupOptimize = "cluster.lookup-optimize"

// findable is the step that lets clients find files wherever they are, before
// there are sets that they have to be moved to. It is not undone afterwards:
// nothing is lost with it but a little time per name that does not exist, and
// who wants it back declares it. nil: it is so already.
func (v *volume) findable() []journal.Step {
	if isOff(v.g.Options[lookupOptimize]) {
		return nil
	}
	return []journal.Step{step("findable", StepSetOption, journal.Compensatable,
		OptionParams{Volume: v.name(), VolumeID: v.id, Key: lookupOptimize, Value: "off"})}
}

// heldOptions are the options of a volume that are left as they are for now,
// whatever is declared, with why a person is told of it; empty: it passes.
func (c *cycle) heldOptions(v *volume) map[string]string {
	switch {
	case v.g == nil:
		return nil
	case of(v.ops, KindAddBrick) != nil, v.sets < v.layout().Sets():
		return map[string]string{lookupOptimize: ""}
	}
	value, declared := v.cr.Spec.Options[lookupOptimize]
	left := c.leftBehind(v)
	switch {
	case left == 0 || (declared && isOff(string(value))):
		return nil
	case !declared: // nobody asks for it; it is put back when the files are moved
		return map[string]string{lookupOptimize: ""}
	}
	return map[string]string{lookupOptimize: fmt.Sprintf(
		"option %s stays %q: the last rebalance left %s where clients would not find them with it; move them first: gluster volume rebalance %s start",
		lookupOptimize, v.g.Options[lookupOptimize], files(left), v.name())}
}

// losing is the open operation that lets clients not find files that have to be
// moved; nil if there is none.
func (v *volume) losing() *openOp {
	for _, o := range v.ops {
		value, sets := o.end.Set[lookupOptimize]
		if resets := slices.Contains(o.end.Reset, lookupOptimize); o.counts() && (resets || (sets && !isOff(value))) {
			return o
		}
	}
	return nil
}

// isOff reports whether gluster takes a value for false. It does not look at case.
func isOff(value string) bool {
	switch strings.ToLower(value) {
	case "off", "disable", "no", "false", "0":
		return true
	}
	return false
}
