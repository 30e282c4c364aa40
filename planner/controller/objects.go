package controller

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// objects of the cycle: the cluster first, if there is one, then nodes, then
// volumes. They are pointers into the cycle.
func (c *cycle) objects() []client.Object {
	out := make([]client.Object, 0, 1+len(c.nodes)+len(c.volumes))
	if c.cluster != nil {
		out = append(out, c.cluster)
	}
	for i := range c.nodes {
		out = append(out, &c.nodes[i])
	}
	for i := range c.volumes {
		out = append(out, &c.volumes[i])
	}
	return out
}

// short names an object within its namespace, as a Decision does:
// "GlusterNode/n1".
func short(o client.Object) string { return kindOf(o) + "/" + o.GetName() }

func kindOf(o client.Object) string {
	switch o.(type) {
	case *v1alpha1.GlusterCluster:
		return v1alpha1.KindCluster
	case *v1alpha1.GlusterNode:
		return v1alpha1.KindNode
	case *v1alpha1.GlusterVolume:
		return v1alpha1.KindVolume
	}
	return ""
}

// parseObject reads the object of a plan: "GlusterVolume/<namespace>/<name>".
func parseObject(s string) (kind string, key types.NamespacedName, ok bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return "", types.NamespacedName{}, false
	}
	return parts[0], types.NamespacedName{Namespace: parts[1], Name: parts[2]}, true
}

// planObject is the inverse of parseObject.
func planObject(o client.Object) string {
	return kindOf(o) + "/" + o.GetNamespace() + "/" + o.GetName()
}

// newObject makes an empty object of a kind, or nil.
func newObject(kind string) client.Object {
	switch kind {
	case v1alpha1.KindCluster:
		return &v1alpha1.GlusterCluster{}
	case v1alpha1.KindNode:
		return &v1alpha1.GlusterNode{}
	case v1alpha1.KindVolume:
		return &v1alpha1.GlusterVolume{}
	}
	return nil
}
