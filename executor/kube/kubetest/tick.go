package kubetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet is the finalizer that keeps a pod until its container has ended.
const kubelet = "kubetest/kubelet"

// Tick is one round: pods are stopped, made, placed, started and found to serve,
// each one step further.
func (c *Cluster) Tick(ctx context.Context) error {
	var sets appsv1.StatefulSetList
	var pods corev1.PodList
	if err := c.plain.List(ctx, &sets); err != nil {
		return fmt.Errorf("listing StatefulSets: %w", err)
	}
	if err := c.plain.List(ctx, &pods); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		if err := c.tickPod(ctx, &pods.Items[i], sets.Items); err != nil && !gone(err) {
			return err
		}
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		if set.Status.ObservedGeneration != set.Generation && !c.overlooks() {
			set.Status.ObservedGeneration = set.Generation
			if err := c.plain.Status().Update(ctx, set); err != nil && !gone(err) {
				return fmt.Errorf("taking up StatefulSet %s: %w", set.Name, err)
			}
		}
		if slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Namespace == set.Namespace && p.Name == set.Name+"-0" }) {
			continue
		}
		if len(set.Spec.Template.Spec.Containers) == 0 {
			continue // the real API server refuses such a set; tests of foreign ones make them
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name + "-0", UID: types.UID(uuid.NewString()),
				Labels: set.Spec.Template.Labels, Annotations: set.Spec.Template.Annotations,
				OwnerReferences: ownedBy(set), Finalizers: []string{kubelet}},
			Spec:   *set.Spec.Template.Spec.DeepCopy(),
			Status: corev1.PodStatus{Phase: corev1.PodPending},
		}
		if err := c.plain.Create(ctx, pod); err != nil && !gone(err) {
			return fmt.Errorf("making pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// gone: somebody else was faster; the next round sees it.
func gone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

func (c *Cluster) tickPod(ctx context.Context, pod *corev1.Pod, sets []appsv1.StatefulSet) error {
	owned := slices.ContainsFunc(sets, func(s appsv1.StatefulSet) bool {
		return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.UID })
	})
	switch {
	case pod.DeletionTimestamp != nil:
		c.Stop(pod)
		pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == kubelet })
		return c.plain.Update(ctx, pod)
	case !owned && len(pod.OwnerReferences) > 0:
		return c.plain.Delete(ctx, pod)
	case pod.Spec.NodeName == "":
		return c.place(ctx, pod)
	case len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Running == nil:
		return c.start(ctx, pod)
	}
	return c.ready(ctx, pod, c.Ready(pod))
}

func (c *Cluster) place(ctx context.Context, pod *corev1.Pod) error {
	host, why := c.Place(pod)
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil || why != "" {
			continue
		}
		var claim corev1.PersistentVolumeClaim
		key := client.ObjectKey{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
		if err := c.plain.Get(ctx, key, &claim); apierrors.IsNotFound(err) {
			why = fmt.Sprintf("persistentvolumeclaim %q not found", key.Name)
			continue
		} else if err != nil {
			return err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			claim.Status.Phase = corev1.ClaimBound
			if err := c.plain.Status().Update(ctx, &claim); err != nil {
				return err
			}
		}
	}
	if why != "" {
		set(pod, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, why)
		return c.plain.Status().Update(ctx, pod)
	}
	pod.Spec.NodeName = host
	return c.plain.Update(ctx, pod)
}

func (c *Cluster) start(ctx context.Context, pod *corev1.Pod) error {
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	set(pod, corev1.PodScheduled, corev1.ConditionTrue, "", "")
	if why := c.Start(pod); why != "" {
		state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: why}}
	} else {
		pod.Status.Phase = corev1.PodRunning
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}
	return c.plain.Status().Update(ctx, pod)
}

func (c *Cluster) ready(ctx context.Context, pod *corev1.Pod, yes bool) error {
	status, reason := corev1.ConditionFalse, "ContainersNotReady"
	if yes {
		status, reason = corev1.ConditionTrue, ""
	}
	if set(pod, corev1.PodReady, status, reason, "") {
		return c.plain.Status().Update(ctx, pod)
	}
	return nil
}

// set sets a condition and reports whether that changed it.
func set(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) bool {
	want := corev1.PodCondition{Type: t, Status: status, Reason: reason, Message: message}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			changed := pod.Status.Conditions[i] != want
			pod.Status.Conditions[i] = want
			return changed
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, want)
	return true
}
