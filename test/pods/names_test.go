package pods

import (
	"context"
	"os"
	"testing"

	"github.com/gluster/anthill/test/cluster"
)

// again is a word by which one run of the tests after the other can be made in a
// cluster that stays up in between, for who writes tests: `ANTHILL_PODS_RUN=b go
// test -run X ./pods`. Empty: a cluster of the run's own, that goes with it. It
// is taken down by `make cluster-down INSTANCE=pods`.
var again = os.Getenv("ANTHILL_PODS_RUN")

// named makes a name of this run's own: of a namespace, a disk, a class.
func named(name string) string { return name + again }

// ours returns the site, unless it is somebody's cluster, whose hosts are not to
// be given disks and images.
func ours(t *testing.T, namespace string) *Site {
	t.Helper()
	s := begin(t, namespace)
	if !s.Env.Ours() {
		t.Skip("the disks and images of hosts are not ours to change in the cluster that KUBECONFIG names")
	}
	return s
}

// sh runs a constant script on a host, outside of any container; what it is about
// comes as arguments, $0 first.
func sh(t *testing.T, n *cluster.Node, script string, args ...string) string {
	t.Helper()
	out, err := n.Exec(t.Context(), append([]string{"/bin/sh", "-ec", script}, args...)...)
	must(t, err)
	return string(out)
}

// background is for what has to be done when a test is over.
var background = context.Background()
