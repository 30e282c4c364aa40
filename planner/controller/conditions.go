package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
)

// conditions are the five conditions of an object: what planning found, with
// what an open operation on it waits for. A type that planning said nothing of
// is unknown: a condition is never older than the cycle.
func (c *cycle) conditions(o client.Object, op *view.Op, have []metav1.Condition, now metav1.Time) []metav1.Condition {
	want := map[string]metav1.Condition{}
	for _, t := range v1alpha1.ConditionTypes() {
		want[t] = metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotYetObserved}
	}
	name := short(o)
	for _, f := range c.decision.Findings {
		if f.Object == name {
			want[f.Type] = metav1.Condition{Type: f.Type, Status: metav1.ConditionStatus(f.Status), Reason: f.Reason, Message: v1alpha1.Bounded(f.Message)}
		}
	}
	if op != nil {
		c.working(want, op)
	}
	if c.full && len(c.decision.Plan) > 0 {
		want[v1alpha1.ConditionBlocked] = v1alpha1.Blocked(v1alpha1.ReasonJournalFull,
			"the journal has no space for new operations; what is open is finished; free disk space or raise the journal's maximum size")
	}
	list := make([]metav1.Condition, 0, len(want))
	for _, w := range want {
		list = append(list, w)
	}
	return v1alpha1.MergeConditions(have, list, o.GetGeneration(), now)
}

// working says what an open operation does or waits for. Planning does not know
// that: it sees operations as they were before this cycle's were added, and
// nothing of what the executor waits for.
func (c *cycle) working(want map[string]metav1.Condition, op *view.Op) {
	if op.State == view.Suspended {
		want[v1alpha1.ConditionProgressing] = v1alpha1.NotProgressing(v1alpha1.ReasonBlocked, "")
		if b := want[v1alpha1.ConditionBlocked]; b.Status != metav1.ConditionTrue {
			want[v1alpha1.ConditionBlocked] = v1alpha1.Blocked(v1alpha1.ReasonOperationSuspended, suspendedText(op))
		}
		return
	}
	reason := v1alpha1.ReasonOperationRunning
	if was := want[v1alpha1.ConditionProgressing]; was.Status == metav1.ConditionTrue && was.Reason == v1alpha1.ReasonDeleting {
		reason = was.Reason
	}
	text := fmt.Sprintf("%s of %s", op.Plan.Kind, op.Plan.Target)
	if k := op.Current(); op.State != view.Planned && k < len(op.Steps) {
		text += ", step " + op.Steps[k].ID
	}
	if note, ok := c.notes[op.ID]; ok {
		if note.Text != "" {
			text += ": " + note.Text
		}
		if (note.Reason == noteWaitingForLock || note.Reason == noteWaitingForOperation) && reason == v1alpha1.ReasonOperationRunning {
			reason = v1alpha1.ReasonOperationQueued
		}
	}
	want[v1alpha1.ConditionProgressing] = v1alpha1.Progressing(reason, text)
}

// suspendedText is why an operation is parked and what to type.
func suspendedText(op *view.Op) string {
	text := fmt.Sprintf("%s of %s is suspended", op.Plan.Kind, op.Plan.Target)
	if s := op.Suspended; s != nil {
		text += " (" + s.Cause + "): " + s.Message
		if s.Next != "" {
			text += "; to go on: " + s.Next
		}
	}
	return text
}
