package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds, as they are written in manifests and in the journal's objects.
const (
	KindCluster = "GlusterCluster"
	KindNode    = "GlusterNode"
	KindVolume  = "GlusterVolume"
)

// GroupVersion is operator.gluster.org/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "operator.gluster.org", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that generated code expects.
var SchemeGroupVersion = GroupVersion

// schemeBuilder collects what AddToScheme registers.
var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package, and the option types of
// their group, with a scheme. It fails only on a conflicting registration.
var AddToScheme = schemeBuilder.AddToScheme

// Resource qualifies a resource name with the group, for API errors.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&GlusterCluster{}, &GlusterClusterList{},
		&GlusterNode{}, &GlusterNodeList{},
		&GlusterVolume{}, &GlusterVolumeList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
