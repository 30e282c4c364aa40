package pods

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// logLines is how much of a log an account shows.
const logLines = 20

// Account is what somebody needs who wants to know why something failed in a
// namespace: what blocks, the pods and what they log, the operator's log and
// its open operations.
func (s *Site) Account(ctx context.Context, namespace string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var b strings.Builder
	s.conditions(ctx, &b, namespace)
	var list corev1.PodList
	if err := s.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		fmt.Fprintln(&b, err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		fmt.Fprintf(&b, "--- pod %s on %s: %s %s\n", pod.Name, pod.Spec.NodeName, pod.Status.Phase, notReady(pod))
		for _, c := range pod.Spec.Containers {
			log, err := s.Env.Logs(ctx, cluster.PodRef{Namespace: namespace, Pod: pod.Name, Container: c.Name}, logLines)
			if err != nil {
				log = err.Error()
			}
			fmt.Fprintln(&b, log)
		}
	}
	log, err := s.Env.Logs(ctx, operatorPod, 2*logLines)
	if err != nil {
		log = err.Error()
	}
	fmt.Fprintf(&b, "--- end of the operator's log\n%s\n", log)
	for _, args := range [][]string{{"journal", "ls", "--all"}, {"journal", "tail", "-n", "30"}} {
		out, err := s.Operator.CLI(ctx, args...)
		fmt.Fprintf(&b, "--- anthill %s\n%s\n", strings.Join(args, " "), out)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	return b.String()
}

// conditions tells those of Anthill's objects that are not as they should be.
func (s *Site) conditions(ctx context.Context, b *strings.Builder, namespace string) {
	for _, list := range []client.ObjectList{&v1alpha1.GlusterClusterList{}, &v1alpha1.GlusterNodeList{}, &v1alpha1.GlusterVolumeList{}} {
		if err := s.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			fmt.Fprintln(b, err)
			continue
		}
		for _, o := range objectsOf(list) {
			for _, c := range rig.Conditions(o) {
				fmt.Fprintf(b, "--- %T %s: %s=%s %s: %s\n", o, o.GetName(), c.Type, c.Status, c.Reason, c.Message)
			}
		}
	}
}

func objectsOf(list client.ObjectList) []client.Object {
	var out []client.Object
	switch l := list.(type) {
	case *v1alpha1.GlusterClusterList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *v1alpha1.GlusterNodeList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *v1alpha1.GlusterVolumeList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	}
	return out
}
