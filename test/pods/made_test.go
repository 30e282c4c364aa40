package pods

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// made lists what Anthill has made in a namespace in Kubernetes.
func (s *Site) made(t *testing.T, ns string, labels client.ListOption) []string {
	t.Helper()
	var out []string
	for _, list := range []client.ObjectList{&corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{}, &appsv1.StatefulSetList{}, &corev1.PodList{}} {
		must(t, s.Client.List(t.Context(), list, client.InNamespace(ns), labels))
		switch l := list.(type) {
		case *corev1.ServiceList:
			for i := range l.Items {
				out = append(out, "Service "+l.Items[i].Name)
			}
		case *corev1.PersistentVolumeClaimList:
			for i := range l.Items {
				out = append(out, "PersistentVolumeClaim "+l.Items[i].Name)
			}
		case *appsv1.StatefulSetList:
			for i := range l.Items {
				out = append(out, "StatefulSet "+l.Items[i].Name)
			}
		case *corev1.PodList:
			for i := range l.Items {
				out = append(out, "Pod "+l.Items[i].Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// madeFor lists what was made for a node.
func (s *Site) madeFor(t *testing.T, n *v1alpha1.GlusterNode) []string {
	t.Helper()
	return s.made(t, n.Namespace, client.MatchingLabels{v1alpha1.LabelNode: n.Name})
}

// AwaitThat asks again and again until ok has nothing to say.
func (s *Site) AwaitThat(ctx context.Context, max time.Duration, what string, ok func() string) error {
	deadline := time.Now().Add(max)
	for {
		missing := ok()
		switch {
		case missing == "":
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("waiting %v for %s: %s", max, what, missing)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %s", what, ctx.Err(), missing)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tidy deletes everything declared in a namespace and waits until it is gone, the
// pods too: volumes, clusters, then nodes made by hand.
func (s *Site) tidy(t *testing.T, ns string) {
	t.Helper()
	for _, list := range []client.ObjectList{&v1alpha1.GlusterVolumeList{}, &v1alpha1.GlusterClusterList{}, &v1alpha1.GlusterNodeList{}} {
		must(t, s.Client.List(t.Context(), list, client.InNamespace(ns)))
		all := objectsOf(list)
		for _, o := range all {
			must(t, client.IgnoreNotFound(s.Client.Delete(t.Context(), o)))
		}
		for _, o := range all {
			must(t, s.AwaitGone(t.Context(), slow, o))
		}
	}
	if pods := s.pods(t, ns); len(pods) != 0 {
		t.Errorf("pods are left: %v", pods)
	}
}
