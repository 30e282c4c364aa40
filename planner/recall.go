package planner

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

// recall completes what status remembers of servers by what the operations of
// this epoch did: a server that went away right after it was claimed, or joined,
// must not be taken for one that was never touched.
func (c *cycle) recall() {
	for _, n := range c.nodes {
		n.before = n.recorded != "" && missed(n.cr.Status.Conditions)
	}
	released := map[string]bool{}
	for _, o := range c.open {
		c.recallOp(o.Op, released)
	}
	for i := range c.s.Ended { // newest first
		c.recallOp(&c.s.Ended[i], released)
	}
}

func (c *cycle) recallOp(o *view.Op, released map[string]bool) {
	end, err := endStateOf(&o.Plan)
	if err != nil || end.Node == nil || released[end.Node.Name] {
		return
	}
	n := c.byName[end.Node.Name]
	if n == nil {
		return
	}
	done := o.State == view.Completed
	switch o.Plan.Kind {
	case KindReleaseNode:
		released[n.name()] = done
	case KindJoinNode:
		n.before = n.before || (done && n.recorded != "")
	case KindPrepareNode:
		n.prepared = n.prepared || done
	}
	for i := range o.Steps {
		if uuid := claimed(&o.Steps[i], n.address()); uuid != "" && n.recorded == "" {
			n.recorded = uuid
			if n.uuid == "" {
				n.uuid = uuid
			}
		}
	}
	if o.Plan.Kind == KindBootstrapPool && done && n.recorded != "" {
		n.before = true
	}
}

// claimed is the UUID with which a step claimed the server at an address; empty
// if it did not, or that was undone.
func claimed(s *view.Step, address string) string {
	var p ClaimParams
	var r ClaimReceipt
	if s.Name != StepClaimServer || s.State != view.Succeeded ||
		json.Unmarshal(s.Params, &p) != nil || p.Address != address || json.Unmarshal(s.Receipt, &r) != nil {
		return ""
	}
	return r.UUID
}

// missed reports whether conditions say that a node is in the pool: it is a
// connected peer, or is missed as one.
func missed(conditions []metav1.Condition) bool {
	for _, cond := range conditions {
		switch {
		case cond.Status != metav1.ConditionTrue:
		case cond.Type == v1alpha1.ConditionAvailable, cond.Type == v1alpha1.ConditionDegraded && cond.Reason == v1alpha1.ReasonNodesDown:
			return true
		}
	}
	return false
}
