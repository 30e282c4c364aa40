package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube/podexec"
)

// Exec reaches the gates of pods through pods/exec.
type Exec struct {
	Pool *podexec.Pool
	// Cache holds pods with our labels; it may be behind.
	Cache client.Reader
}

var _ PodDialer = Exec{}

// Pod makes the way into a node's pod, if it runs. It is good for this pod only:
// one that took its place gets nothing that was meant for it.
func (e Exec) Pod(ctx context.Context, n *v1alpha1.GlusterNode) (gate.Server, error) {
	k := KeyOf(n)
	pod, err := e.running(ctx, k)
	if err != nil {
		return nil, err
	}
	uid := pod.UID
	return e.Pool.Server(podexec.Target{
		Namespace: k.Namespace, Pod: pod.Name, Container: v1alpha1.ContainerName,
		Check: func(ctx context.Context) error {
			now, err := e.running(ctx, k)
			if err == nil && now.UID != uid {
				err = &Problem{v1alpha1.ReasonPodNotReady, fmt.Sprintf("another pod has taken the place of %s", pod.Name)}
			}
			return err
		},
	}), nil
}

func (e Exec) running(ctx context.Context, k PodKey) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, lookMax)
	defer cancel()
	var pod corev1.Pod
	err := e.Cache.Get(ctx, k.pod(), &pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &Problem{v1alpha1.ReasonPodNotReady, fmt.Sprintf("there is no pod %s", k.pod().Name)}
	case err != nil:
		return nil, &Problem{v1alpha1.ReasonPodNotReady, fmt.Sprintf("reading pod %s: %v", k.pod().Name, err)}
	}
	if p := podProblem(&pod, k); p != nil {
		return nil, p
	}
	return &pod, nil
}
