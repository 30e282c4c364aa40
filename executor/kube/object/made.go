package object

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// MadeBy is the field owner under which Anthill writes what pods consist of. The
// API server notes it in everything it creates.
const MadeBy = v1alpha1.FieldOwner + "-pods"

// NotMade says why an object is not taken for one that Anthill made for a
// cluster, although it may carry the labels; empty: it made it. Labels can be
// copied with a manifest, and a claim that a person restored or prepared under
// our name is theirs: so who created it counts, as the API server noted it.
func NotMade(o metav1.Object, cluster string) string {
	switch {
	case cluster == "" || o.GetLabels()[v1alpha1.LabelCluster] != cluster:
		return "it does not carry the label of the cluster"
	case !slices.ContainsFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == MadeBy }):
		return "Anthill did not make it"
	}
	return ""
}

// NotMadeClaim is NotMade of a claim that is made for a node of a template.
func NotMadeClaim(o metav1.Object, cluster string) string {
	if why := NotMade(o, cluster); why != "" {
		return why
	}
	node := o.GetLabels()[v1alpha1.LabelNode]
	if node == "" || !planner.IsTemplateClaim(node, o.GetName()) {
		return fmt.Sprintf("it is none that is made for node %q", node)
	}
	return ""
}
