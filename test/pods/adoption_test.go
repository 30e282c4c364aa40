package pods

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// identities are the ids of a pool, its peers and its volumes, as Anthill and as
// glusterd give them.
func identities(t *testing.T, s *Site, ns, name string) map[string]string {
	t.Helper()
	c := rig.Cluster(ns, name)
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	out := map[string]string{"pool": c.Status.PoolID}
	var nodes v1alpha1.GlusterNodeList
	must(t, s.Client.List(t.Context(), &nodes, client.InNamespace(ns)))
	for i := range nodes.Items {
		out["peer "+nodes.Items[i].Name] = nodes.Items[i].Status.UUID
	}
	var volumes v1alpha1.GlusterVolumeList
	must(t, s.Client.List(t.Context(), &volumes, client.InNamespace(ns)))
	for i := range volumes.Items {
		v := &volumes.Items[i]
		out["volume "+v.Name], out["glusterd's volume "+v.Name] = v.Status.VolumeID, v.Status.GlusterID
	}
	for what, id := range out {
		if id == "" {
			t.Errorf("%s has no id", what)
		}
	}
	return out
}

// adopted waits until what was declared again is what it was (R67).
func adopted(t *testing.T, s *Site, ns, name string, was map[string]string) {
	t.Helper()
	joined(t, s, rig.Cluster(ns, name), countPeers(was))
	if diff := cmp.Diff(was, identities(t, s, ns, name)); diff != "" {
		t.Errorf("declared again, %s/%s is another pool (-before +after):\n%s", ns, name, diff)
	}
}

func countPeers(ids map[string]string) (n int32) {
	for what := range ids {
		if strings.HasPrefix(what, "peer ") {
			n++
		}
	}
	return n
}
