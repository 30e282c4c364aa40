package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// explain says, in Kubernetes' own words where it has some, why a pod of ours
// is not ready.
func (r *PodReader) explain(ctx context.Context, pod *corev1.Pod, v *PodView) {
	v.Reason = v1alpha1.ReasonPodNotReady
	scheduled := condition(pod, corev1.PodScheduled)
	c := container(pod)
	switch {
	case v.Stopping:
		v.Message = fmt.Sprintf("pod %s is being stopped", pod.Name)
	case pod.Spec.NodeName == "" && scheduled.Status == corev1.ConditionFalse:
		v.Reason = v1alpha1.ReasonPodUnschedulable
		v.Message = sentence(fmt.Sprintf("no host takes pod %s: %s", pod.Name, scheduled.Message))
	case pod.Spec.NodeName == "":
		v.Message = fmt.Sprintf("pod %s waits for a host", pod.Name)
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		v.Message = sentence(fmt.Sprintf("pod %s has ended on %s: %s %s", pod.Name, pod.Spec.NodeName, pod.Status.Reason, pod.Status.Message))
	case c == nil || c.State.Waiting != nil && c.State.Waiting.Message == "":
		v.Message = withWarning(fmt.Sprintf("pod %s is being started on %s", pod.Name, pod.Spec.NodeName), r.warning(ctx, pod))
	case c.State.Waiting != nil:
		v.Message = sentence(fmt.Sprintf("pod %s does not start on %s: %s: %s%s", pod.Name, pod.Spec.NodeName,
			c.State.Waiting.Reason, c.State.Waiting.Message, ended(c.LastTerminationState.Terminated)))
	case c.State.Terminated != nil:
		v.Message = sentence(fmt.Sprintf("the container of pod %s has ended%s", pod.Name, ended(c.State.Terminated)))
	default:
		v.Message = withWarning(fmt.Sprintf("pod %s runs on %s; its glusterd does not serve yet", pod.Name, pod.Spec.NodeName), readyWhy(pod))
	}
}

// ended says how a container ended.
func ended(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("; it ended with %d (%s): %s", t.ExitCode, t.Reason, t.Message), ": ")
}

// readyWhy is what the condition Ready says beyond the obvious, for example that
// the host is lost.
func readyWhy(pod *corev1.Pod) string {
	c := condition(pod, corev1.PodReady)
	if c.Reason == "ContainersNotReady" {
		return ""
	}
	return c.Message
}

func withWarning(what, warning string) string {
	if warning == "" {
		return what
	}
	return sentence(what + ": " + warning)
}

// warning is the newest warning that Kubernetes has recorded of an object: what
// keeps a pod from starting (a device that is not there, a pod that is
// forbidden in the namespace) or a claim from being bound stands nowhere else.
// It explains and decides nothing: when it cannot be read there is none.
func (r *PodReader) warning(ctx context.Context, of client.Object) string {
	var list corev1.EventList
	err := r.Live.List(ctx, &list, client.InNamespace(of.GetNamespace()),
		client.MatchingFields{"involvedObject.uid": string(of.GetUID()), "type": corev1.EventTypeWarning})
	if err != nil || len(list.Items) == 0 {
		return ""
	}
	newest := slices.MaxFunc(list.Items, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	return newest.Message
}

// permit is what lets a pod be made that the namespace forbids; empty if that is
// not what keeps it.
func permit(namespace, why string) string {
	if !strings.Contains(why, "violates PodSecurity") {
		return ""
	}
	return "; pods of glusterd are privileged, the namespace must permit it: kubectl label namespace " + namespace +
		" pod-security.kubernetes.io/enforce=privileged --overwrite"
}

func eventTime(e *corev1.Event) time.Time {
	last := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.EventTime.Time, e.LastTimestamp.Time} {
		if t.After(last) {
			last = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last
}
