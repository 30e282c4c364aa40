package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

var operationStates = map[view.OpState]v1alpha1.OperationState{
	view.Planned:    v1alpha1.OperationPlanned,
	view.Running:    v1alpha1.OperationRunning,
	view.Suspended:  v1alpha1.OperationSuspended,
	view.Cancelling: v1alpha1.OperationCancelling,
}

// operationOf finds the open operation to show for an object: the one on it
// that was started first, or else the one that is next. A cluster shows those
// of all its objects; a suspended one only if there is no other.
func (c *cycle) operationOf(o client.Object, all bool) *view.Op {
	name := planObject(o)
	var best *view.Op
	for _, op := range c.open {
		if (all || op.Plan.Object == name) && (best == nil || before(op, best)) {
			best = op
		}
	}
	return best
}

// before reports whether a is to be shown rather than b.
func before(a, b *view.Op) bool {
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra < rb
	}
	if a.Started.Equal(b.Started) {
		return a.First < b.First
	}
	return a.Started.Before(b.Started)
}

func rank(op *view.Op) int {
	switch op.State {
	case view.Running, view.Cancelling:
		return 0
	case view.Planned:
		return 1
	}
	return 2
}

// current is the glance at an operation that status shows; nil for none.
func current(op *view.Op) *v1alpha1.CurrentOperation {
	if op == nil {
		return nil
	}
	since := op.Started
	if since.IsZero() {
		since = op.Planned
	}
	cur := &v1alpha1.CurrentOperation{ID: op.ID.String(), Kind: op.Plan.Kind, Target: op.Plan.Target,
		State: operationStates[op.State], Since: metav1.NewTime(since).Rfc3339Copy()}
	if k := op.Current(); k < len(op.Steps) {
		cur.Step = op.Steps[k].ID
	}
	if op.State == view.Suspended {
		cur.Message = v1alpha1.Bounded(suspendedText(op))
	}
	return cur
}
