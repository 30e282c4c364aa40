package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube/object"
	"github.com/gluster/anthill/planner"
)

// A PodView is what Kubernetes says of a node's pod. It is of this moment, or of
// the cache's.
type PodView struct {
	planner.Pod
	// Stopping: it was told to stop. Going: its StatefulSet is being deleted.
	Stopping, Going bool
	// Exists: there is a pod of ours; else UID and Host are empty.
	Exists bool
	// TakenUp: the StatefulSet's controller has seen it as it is; until then it
	// might make a pod as it was declared before.
	TakenUp bool
}

// A PodKey names a node that is a pod.
type PodKey struct{ Namespace, Cluster, Node string }

// KeyOf is the key of a node.
func KeyOf(n *v1alpha1.GlusterNode) PodKey {
	return PodKey{Namespace: n.Namespace, Cluster: n.Spec.Cluster, Node: n.Name}
}

func (k PodKey) set() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.Node}
}

func (k PodKey) pod() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.Node + "-0"}
}

// made is what Anthill's objects for the node carry.
func (k PodKey) made() metav1.Object {
	return &metav1.ObjectMeta{Labels: object.Labels(k.Cluster, k.Node)}
}

// A PodReader tells what Kubernetes says of pods. Safe for concurrent use.
type PodReader struct {
	// Cache may hold objects with our labels only; nil: there is none. Live is
	// asked for what is not in it, and why a pod does not start.
	Cache, Live client.Reader
}

// lookMax is how long Kubernetes is waited for: a cache that may not read what
// it should hold never fills.
const lookMax = 20 * time.Second

// Look tells of one node's pod and of the claims with these names.
func (r *PodReader) Look(ctx context.Context, k PodKey, claims []string) (PodView, error) {
	ctx, cancel := context.WithTimeout(ctx, lookMax)
	defer cancel()
	var v PodView
	var set appsv1.StatefulSet
	found, err := r.get(ctx, k.set(), &set)
	if err != nil {
		return v, fmt.Errorf("reading StatefulSet %s: %w", k.Node, err)
	}
	if err := r.claims(ctx, k, claims, &v); err != nil {
		return v, err
	}
	v.Reason = v1alpha1.ReasonPodNotReady
	switch {
	case !found:
		v.Message = fmt.Sprintf("there is no StatefulSet %s yet", k.Node)
	case !object.IsOurs(&set, k.made()):
		v.Foreign, v.Reason = true, v1alpha1.ReasonNameTaken
		v.Message = fmt.Sprintf("StatefulSet %s is there, and Anthill did not make it for this node", k.Node)
		return v, nil
	default:
		v.Declared, v.Going = true, set.DeletionTimestamp != nil
		v.Declares = set.Spec.Template.Annotations[v1alpha1.AnnotationPodDigest]
		v.TakenUp = set.Status.ObservedGeneration >= set.Generation
	}
	return v, r.pod(ctx, k, &set, &v)
}

func (r *PodReader) pod(ctx context.Context, k PodKey, set *appsv1.StatefulSet, v *PodView) error {
	var pod corev1.Pod
	found, err := r.get(ctx, k.pod(), &pod)
	switch {
	case err != nil:
		return fmt.Errorf("reading pod %s: %w", k.pod().Name, err)
	case !found && v.Declared:
		v.Message = withWarning(fmt.Sprintf("there is no pod %s yet", k.pod().Name), r.warning(ctx, set))
		v.Message += permit(k.Namespace, v.Message)
		return nil
	case !found:
		return nil
	case !object.IsOurs(&pod, k.made()):
		v.Foreign, v.Reason = true, v1alpha1.ReasonNameTaken
		v.Message = fmt.Sprintf("pod %s is there, and Anthill did not make it for this node", pod.Name)
		return nil
	}
	v.Exists, v.UID, v.Host = true, string(pod.UID), pod.Spec.NodeName
	v.Runs = pod.Annotations[v1alpha1.AnnotationPodDigest]
	v.Stopping = pod.DeletionTimestamp != nil
	v.Running = podProblem(&pod, k) == nil
	v.Ready = v.Running && podReady(&pod)
	if v.Ready {
		v.Reason, v.Message = "", ""
		return nil
	}
	r.explain(ctx, &pod, v)
	return nil
}

// claims looks at the claims that exist, whoever made them.
func (r *PodReader) claims(ctx context.Context, k PodKey, names []string, v *PodView) error {
	v.Claims = make(map[string]planner.ClaimView, len(names))
	for _, name := range names {
		var c corev1.PersistentVolumeClaim
		found, err := r.get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: name}, &c)
		if err != nil {
			return fmt.Errorf("reading claim %s: %w", name, err)
		}
		if !found {
			continue
		}
		view := planner.ClaimView{Bound: c.Status.Phase == corev1.ClaimBound, Block: object.IsBlock(&c), Class: object.ClassOf(&c), Size: object.SizeOf(&c)}
		switch {
		case c.DeletionTimestamp != nil:
			view.Lost, view.Message = true, "it is being deleted"
		case c.Status.Phase == corev1.ClaimLost:
			view.Lost, view.Message = true, "the volume it was bound to is gone"
		case !view.Bound:
			view.Message = withWarning("it waits for a volume", r.warning(ctx, &c))
		}
		v.Claims[name] = view
	}
	return nil
}

// get reads from the cache and, what is not there, from the API server.
func (r *PodReader) get(ctx context.Context, key client.ObjectKey, into client.Object) (found bool, err error) {
	if r.Cache != nil {
		err = r.Cache.Get(ctx, key, into)
	}
	if r.Cache == nil || apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, into)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// podProblem says why no command can be sent into the pod; nil if it can.
func podProblem(pod *corev1.Pod, k PodKey) *Problem {
	var why string
	switch {
	case !object.IsOurs(pod, k.made()):
		return &Problem{v1alpha1.ReasonNameTaken, fmt.Sprintf("pod %s is there, and Anthill did not make it for this node", pod.Name)}
	case pod.DeletionTimestamp != nil:
		why = "is being stopped"
	case !containerRuns(pod):
		why = "does not run"
	default:
		return nil
	}
	return &Problem{v1alpha1.ReasonPodNotReady, fmt.Sprintf("pod %s %s", pod.Name, why)}
}

func container(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == v1alpha1.ContainerName {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

func containerRuns(pod *corev1.Pod) bool {
	c := container(pod)
	return c != nil && c.State.Running != nil
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == t {
			return c
		}
	}
	return corev1.PodCondition{}
}

func podReady(pod *corev1.Pod) bool {
	return condition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// sentence keeps what Kubernetes says fit for a condition: one line, bounded.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 512 {
		s = s[:512] + "..."
	}
	return s
}
