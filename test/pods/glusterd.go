package pods

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// podOf is the container of a node's pod.
func podOf(namespace, node string) cluster.PodRef {
	return cluster.PodRef{Namespace: namespace, Pod: node + "-0", Container: v1alpha1.ContainerName}
}

// In runs argv in a node's pod and returns its standard output without the space
// around it.
func (s *Site) In(ctx context.Context, namespace, node string, argv ...string) (string, error) {
	out, err := s.Env.Exec(ctx, podOf(namespace, node), argv...)
	return strings.TrimSpace(string(out)), err
}

// Gluster gives the gluster command of a node's pod, as a person does.
func (s *Site) Gluster(ctx context.Context, namespace, node string, args ...string) (string, error) {
	return s.In(ctx, namespace, node, append([]string{"gluster", "--mode=script"}, args...)...)
}

// Changes are the commands that the glusterds of a cluster's pods were given and
// that are not known to change nothing, by pod.
func (s *Site) Changes(ctx context.Context, namespace, clusterName string) (map[string][]rig.Command, error) {
	list, err := s.podsOf(ctx, namespace, clusterName)
	if err != nil {
		return nil, err
	}
	out := map[string][]rig.Command{}
	for i := range list {
		ref := cluster.PodRef{Namespace: namespace, Pod: list[i].Name, Container: v1alpha1.ContainerName}
		history, err := s.Env.Exec(ctx, ref, "cat", rig.CommandLog)
		if err != nil {
			return nil, fmt.Errorf("reading the history of %s: %w", ref, err)
		}
		out[list[i].Name] = rig.ChangesIn(history)
	}
	return out, nil
}

// podsOf are the pods of a cluster.
func (s *Site) podsOf(ctx context.Context, namespace, clusterName string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := s.Client.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelCluster: clusterName}); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return list.Items, nil
}

// UIDs tells the pods of a cluster from others of the same names.
func (s *Site) UIDs(ctx context.Context, namespace, clusterName string) (map[string]string, error) {
	list, err := s.podsOf(ctx, namespace, clusterName)
	out := map[string]string{}
	for i := range list {
		out[list[i].Name] = string(list[i].UID)
	}
	return out, err
}
