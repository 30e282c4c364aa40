package pods

import (
	"fmt"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// Template is the name of the template of Cluster.
const Template = "main"

// Cluster is a GlusterCluster of ten lines: a template of so many nodes on
// claims of the site's storage.
func (s *Site) Cluster(namespace, name string, nodes int32) *v1alpha1.GlusterCluster {
	c := rig.Cluster(namespace, name)
	c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
		Name:       Template,
		Thresholds: v1alpha1.Thresholds{Nodes: nodes},
		Storage:    s.storage(),
	}}
	return c
}

// Volume is a GlusterVolume of sets replica sets of three.
func Volume(namespace, cluster, name string, sets int32) *v1alpha1.GlusterVolume {
	return rig.Replicated(namespace, cluster, name, sets)
}

// NodeName is the name of node n (from 0) of a cluster's template.
func NodeName(cluster string, n int) string { return fmt.Sprintf("%s-%s-%d", cluster, Template, n) }

// Server is the address of node n (from 0) of a cluster's template.
func Server(namespace, cluster string, n int) string {
	return fmt.Sprintf("%s-0.%s.%s.svc", NodeName(cluster, n), cluster, namespace)
}
