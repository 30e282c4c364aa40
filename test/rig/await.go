package rig

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// Await reads obj again and again until ok is satisfied with it. ok returns ""
// then, and what is missing otherwise; that is what the error says after max.
// obj has the last state seen.
func (r *Rig) Await(ctx context.Context, max time.Duration, obj client.Object, ok func() string) error {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	missing := "never read"
	for {
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		switch {
		case err == nil:
			if missing = ok(); missing == "" {
				return nil
			}
		case ctx.Err() == nil:
			missing = err.Error()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting %v for %T %s: %s", max, obj, obj.GetName(), missing)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Conditions returns the conditions of one of Anthill's objects.
func Conditions(obj client.Object) []metav1.Condition {
	switch o := obj.(type) {
	case *v1alpha1.GlusterCluster:
		return o.Status.Conditions
	case *v1alpha1.GlusterNode:
		return o.Status.Conditions
	case *v1alpha1.GlusterVolume:
		return o.Status.Conditions
	}
	return nil
}

// Is says "" if the condition of that type has that status, was set for the
// object's present generation and, unless it is empty, has that reason; else
// what it is.
func Is(obj client.Object, typ string, status metav1.ConditionStatus, reason string) string {
	c := meta.FindStatusCondition(Conditions(obj), typ)
	switch {
	case c == nil:
		return "no condition " + typ
	case c.ObservedGeneration != obj.GetGeneration():
		return fmt.Sprintf("%s is about generation %d, not %d", typ, c.ObservedGeneration, obj.GetGeneration())
	case c.Status != status || (reason != "" && c.Reason != reason):
		return fmt.Sprintf("%s is %s (%s: %s)", typ, c.Status, c.Reason, c.Message)
	}
	return ""
}

// AwaitCondition waits for a condition; see Is.
func (r *Rig) AwaitCondition(ctx context.Context, max time.Duration, obj client.Object, typ string, status metav1.ConditionStatus, reason string) error {
	return r.Await(ctx, max, obj, func() string { return Is(obj, typ, status, reason) })
}

// AwaitConverged waits until obj is available and nothing is under way.
func (r *Rig) AwaitConverged(ctx context.Context, max time.Duration, obj client.Object) error {
	return r.Await(ctx, max, obj, func() string {
		if s := Is(obj, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); s != "" {
			return s
		}
		return Is(obj, v1alpha1.ConditionProgressing, metav1.ConditionFalse, "")
	})
}

// Message is the message of obj's condition of that type.
func Message(obj client.Object, typ string) string {
	if c := meta.FindStatusCondition(Conditions(obj), typ); c != nil {
		return c.Message
	}
	return ""
}
