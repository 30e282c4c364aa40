package pods

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// Template is the name of the template of Cluster.
const Template = "main"

// Cluster is a GlusterCluster of ten lines: a template of so many nodes on
// claims of the site's storage class.
func (s *Site) Cluster(namespace, name string, nodes int32) *v1alpha1.GlusterCluster {
	c := rig.Cluster(namespace, name)
	size := resource.MustParse("1Gi")
	c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
		Name:       Template,
		Thresholds: v1alpha1.Thresholds{Nodes: nodes},
		Storage:    v1alpha1.TemplateStorage{StorageClassName: s.StorageClass(), Size: &size},
	}}
	return c
}

// NodeName is the name of node n (from 0) of a cluster's template.
func NodeName(cluster string, n int) string { return fmt.Sprintf("%s-%s-%d", cluster, Template, n) }

// Server is the address of node n (from 0) of a cluster's template.
func Server(namespace, cluster string, n int) string {
	return fmt.Sprintf("%s-0.%s.%s.svc", NodeName(cluster, n), cluster, namespace)
}
