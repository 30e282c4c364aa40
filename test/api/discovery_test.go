package api

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// TestDiscovery: how kubectl knows the kinds.
func TestDiscovery(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	served, err := d.ServerResourcesForGroupVersion(groupVersion)
	if err != nil {
		t.Fatal(err)
	}
	short := map[string]string{"glusterclusters": "gcl", "glusternodes": "gn", "glustervolumes": "gvol"}
	found := 0
	for _, r := range served.APIResources {
		want, ok := short[r.Name]
		if !ok {
			continue
		}
		found++
		if !r.Namespaced {
			t.Errorf("%s is not namespaced", r.Name)
		}
		if !slices.Equal(r.ShortNames, []string{want}) {
			t.Errorf("%s has the short names %q, want %q", r.Name, r.ShortNames, want)
		}
		if !slices.Equal(r.Categories, []string{"gluster"}) {
			t.Errorf("%s has the categories %q, want gluster", r.Name, r.Categories)
		}
		if !slices.ContainsFunc(served.APIResources, func(s metav1.APIResource) bool { return s.Name == r.Name+"/status" }) {
			t.Errorf("%s has no status subresource", r.Name)
		}
	}
	if found != len(short) {
		t.Errorf("%d of %d kinds are served", found, len(short))
	}
}
