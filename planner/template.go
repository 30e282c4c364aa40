package planner

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A TemplateNode is a GlusterNode that a template asks for and that is not
// there, or not as the template says. Whoever acts on the decision applies it.
type TemplateNode struct {
	Name     string
	Template string
	Spec     v1alpha1.GlusterNodeSpec
	// Reverts: it is there, and somebody has edited it.
	Reverts bool
}

// What the claims of a node made from a template are called, and how large they
// are unless the template says.
const (
	bricksName  = "bricks" // the first entry of its storage; then bricks-1, bricks-2 ...
	stateSize   = "1Gi"
	bricksSize  = "10Gi"
	nodeNameMax = 52
	stateSuffix = "-state"
)

// templates asks for the nodes of the cluster's templates.
func (c *cycle) templates() {
	if c.idle != "" {
		return
	}
	object := clusterObject(c.cluster.Name)
	for i := range c.cluster.Spec.NodeTemplates {
		t := &c.cluster.Spec.NodeTemplates[i]
		for k := range int(t.Thresholds.Nodes) {
			name := nodeName(c.cluster.Name, t.Name, k)
			if len(name) > nodeNameMax {
				c.block(object, problemf(v1alpha1.ReasonNameTooLong, "the nodes of template %s would be called %s: at most %d characters are accepted", t.Name, name, nodeNameMax))
				break
			}
			want := nodeSpec(c.cluster, t, name)
			n := c.byName[name]
			switch {
			case n == nil:
				c.out.TemplateNodes = append(c.out.TemplateNodes, TemplateNode{Name: name, Template: t.Name, Spec: want})
				continue
			case n.cr.Annotations[v1alpha1.AnnotationTemplate] != t.Name:
				c.block(object, problemf(v1alpha1.ReasonNameTaken, "GlusterNode %s, which template %s asks for, was made by hand; it is left alone", name, t.Name))
				continue
			case n.deleting():
				continue
			}
			var taken string
			want.Storage, taken = merged(n.cr.Spec.Storage, want.Storage)
			if taken != "" {
				c.block(object, problemf(v1alpha1.ReasonNameTaken, "storage entry %s of GlusterNode %s, which template %s asks for, is there as something else; it is left alone", taken, name, t.Name))
			}
			if sameSpec(&n.cr.Spec, &want) {
				continue
			}
			grown := n.cr.Spec
			grown.Storage = want.Storage
			c.out.TemplateNodes = append(c.out.TemplateNodes, TemplateNode{Name: name, Template: t.Name, Spec: want, Reverts: !sameSpec(&grown, &want)})
		}
	}
	for _, n := range c.nodes {
		if why := c.surplus(n); why != "" && !n.deleting() && !c.deleting() { // it goes with the cluster
			c.block(object, problemf(v1alpha1.ReasonRemoveNodeNotSupported, "%s; this version cannot take nodes out, it stays", why))
		}
	}
}

// surplus says why no template asks for a node that was made from one.
func (c *cycle) surplus(n *node) string {
	name := n.cr.Annotations[v1alpha1.AnnotationTemplate]
	if name == "" {
		return ""
	}
	t := c.templateOf(n)
	if t == nil {
		return fmt.Sprintf("template %s of node %s is gone", name, n.name())
	}
	for k := range int(t.Thresholds.Nodes) {
		if nodeName(c.cluster.Name, t.Name, k) == n.name() {
			return ""
		}
	}
	return fmt.Sprintf("node %s is more than template %s asks for", n.name(), name)
}

func nodeName(cluster, template string, k int) string {
	return fmt.Sprintf("%s-%s-%d", cluster, template, k)
}

// nodeSpec is how a template describes one of its nodes.
func nodeSpec(cluster *v1alpha1.GlusterCluster, t *v1alpha1.NodeTemplate, name string) v1alpha1.GlusterNodeSpec {
	spec := v1alpha1.GlusterNodeSpec{
		Cluster: cluster.Name, Zone: cmp.Or(t.Zone, t.Name),
		State:        &v1alpha1.NodeState{PVCName: name + stateSuffix},
		NodeAffinity: t.NodeAffinity.DeepCopy(), Tolerations: t.Tolerations,
		Resources: t.Resources.DeepCopy(), PriorityClassName: t.PriorityClassName,
	}
	for _, entry := range entriesOf(t) {
		spec.Storage = append(spec.Storage, v1alpha1.Storage{Name: entry, PVCName: name + "-" + entry})
	}
	return spec
}

// entriesOf are the names of a template's storage.
func entriesOf(t *v1alpha1.NodeTemplate) []string {
	out := []string{bricksName}
	for k := 1; k < int(t.Storage.Count); k++ {
		out = append(out, fmt.Sprintf("%s-%d", bricksName, k))
	}
	return out
}

// merged is have with what it lacks of want: storage only grows, and entries that
// somebody added stay. taken is an entry of want that have has as something else.
func merged(have, want []v1alpha1.Storage) (out []v1alpha1.Storage, taken string) {
	out = slices.Clip(have)
	for _, w := range want {
		i := slices.IndexFunc(have, func(h v1alpha1.Storage) bool { return h.Name == w.Name })
		switch {
		case i < 0:
			out = append(out, w)
		case have[i] != w:
			taken = w.Name
		}
	}
	return out, taken
}

func sameSpec(a, b *v1alpha1.GlusterNodeSpec) bool { return equality.Semantic.DeepEqual(a, b) }

// claimsOf are the claims of a node made from a template.
func claimsOf(n *v1alpha1.GlusterNode, t *v1alpha1.NodeTemplate) []Claim {
	size := bricksSize
	if q := t.Storage.Size; q != nil {
		size = q.String()
	}
	out := []Claim{{Name: n.Name + stateSuffix, Class: cmp.Or(t.Storage.StateStorageClassName, t.Storage.StorageClassName), Size: stateSize}}
	for _, entry := range entriesOf(t) {
		out = append(out, Claim{Name: n.Name + "-" + entry, Class: t.Storage.StorageClassName, Size: size,
			Block: t.Storage.VolumeMode != nil && *t.Storage.VolumeMode == corev1.PersistentVolumeBlock})
	}
	return out
}
