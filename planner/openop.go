package planner

import (
	"fmt"

	"github.com/gluster/anthill/journal/view"
)

// An openOp is an open operation with what it will make true.
type openOp struct {
	*view.Op
	end EndState
	// unreadable says why this version must leave the operation alone; nothing
	// is planned for what it works on.
	unreadable string
	// ending is set when its goal has vanished: it is being cancelled, or this
	// decision cancels or supersedes it. Its end state counts no more.
	ending bool
	gone   bool // superseded by this decision: it will hold no lock
	// yields is set when its goal has vanished and it only waits past its pivot:
	// why another one may take its place.
	yields string
}

// openOps reads the open operations and hangs them onto what they work on.
func (c *cycle) openOps() {
	for i := range c.s.Open {
		o := &openOp{Op: &c.s.Open[i]}
		if o.State.Terminal() {
			continue
		}
		end, err := endStateOf(&o.Plan)
		switch {
		case o.Alien != "":
			o.unreadable = fmt.Sprintf("%s was written by a newer version (it holds %q): it is left alone", o.ref(), o.Alien)
		case err != nil:
			o.unreadable = fmt.Sprintf("%s was written by another version: it is left alone (%v)", o.ref(), err)
		}
		o.end = end
		o.ending = o.State == view.Cancelling
		c.holders.add(o.Plan.Locks, len(c.open))
		c.open = append(c.open, o)
		if n := c.byName[o.nodeName()]; n != nil {
			n.ops = append(n.ops, o)
		}
		if v := c.volume(o.volumeName()); v != nil {
			v.ops = append(v.ops, o)
		}
	}
}

func (o *openOp) nodeName() string {
	if o.end.Node != nil {
		return o.end.Node.Name
	}
	return after(o.Plan.Target, targetNode(""))
}

func (o *openOp) volumeName() string {
	if o.end.Volume != nil {
		return o.end.Volume.Name
	}
	return after(o.Plan.Target, targetVolume(""))
}

func after(s, prefix string) string {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):]
	}
	return ""
}

func (o *openOp) started() bool { return o.State != view.Planned }

// counts reports whether the end state may be taken as if it were so.
func (o *openOp) counts() bool { return !o.ending && o.unreadable == "" }

// ref is how a message names the operation.
func (o *openOp) ref() string { return fmt.Sprintf("operation %s (%s)", o.ID, o.Plan.Kind) }

// busy is the first operation among ops after which an object has to be looked
// at anew: one that is being undone, or that cannot be read.
func busy(ops []*openOp) string {
	for _, o := range ops {
		switch {
		case o.gone:
		case o.unreadable != "":
			return o.unreadable
		case o.ending:
			return "waits until " + o.ref() + " has been cancelled"
		}
	}
	return ""
}

// of finds an operation of a kind whose end state counts.
func of(ops []*openOp, kind string) *openOp {
	for _, o := range ops {
		if o.counts() && o.Plan.Kind == kind {
			return o
		}
	}
	return nil
}
