package pods

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// diskMiB is the size of disks that hold nearly nothing: what XFS wants, and a
// little.
const diskMiB = 320

// onHost describes a node on disks of a host, by stable names, with its state in
// a folder of that host.
func onHost(t *testing.T, ns, clusterName string, n *cluster.Node, disks ...string) *v1alpha1.GlusterNode {
	t.Helper()
	node := &v1alpha1.GlusterNode{}
	node.Namespace, node.Name = ns, fmt.Sprintf("%s-%d", clusterName, len(disks))
	node.Spec = v1alpha1.GlusterNodeSpec{
		Cluster:      clusterName,
		State:        &v1alpha1.NodeState{HostPath: "/var/lib/anthill-nodes/" + ns + "-" + node.Name},
		NodeAffinity: hosts(n.Name()),
	}
	for _, name := range disks {
		d, err := n.AddDevice(named(ns+"-"+name), diskMiB)
		must(t, err)
		node.Spec.Storage = append(node.Spec.Storage, v1alpha1.Storage{Name: name, Device: d.Path()})
	}
	return node
}

// hosts is an affinity to hosts by their names.
func hosts(names ...string) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: names,
		}}}},
	}}
}

// R5, R6, R7, S4: nodes on disks of their hosts, one, two and three of them. One
// whose host is not unique waits. Then disks lie: two are swapped, one is
// emptied. No brick starts on what is not its own, nothing is formatted, and what
// is put right serves again, with all files.
func TestDisksOfHosts(t *testing.T) {
	t.Parallel()
	const name = "disks"
	ns := named("hosts")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	h := s.Env.Nodes()
	c := rig.Cluster(ns, name)
	one, two, three := onHost(t, ns, name, h[0], "a"), onHost(t, ns, name, h[1], "a", "b"), onHost(t, ns, name, h[2], "a", "b", "c")
	two.Spec.NodeAffinity = hosts(h[1].Name(), h[2].Name())
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = ns, "space"
	v.Spec.Cluster = name
	v.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 6}
	create(t, s, c, one, two, three)

	blocked(t, s, two, v1alpha1.ReasonHostNotUnique, "selects 2")
	if made := s.madeFor(t, two); len(made) > 0 {
		t.Errorf("made for a node whose host is not known: %v", made)
	}
	must(t, s.Change(t.Context(), two, func() { two.Spec.NodeAffinity = hosts(h[1].Name()) }))
	joined(t, s, c, 3)
	create(t, s, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	capacity(t, s, v, one, two, three)

	mount, err := s.Mount(t.Context(), ns, "client", podName(one, c), v.Name)
	must(t, err)
	files := wrote(t, s, mount)
	swapped(t, s, v, three, h[2])
	emptied(t, s, v, one, h[0])
	must(t, s.AwaitConverged(t.Context(), slow, v))
	must(t, mount.Unmount(t.Context()))
	// A client keeps what it could not reach for a while: another one looks anew.
	mount, err = s.Mount(t.Context(), ns, "client-again", podName(two, c), v.Name)
	must(t, err)
	if got := sums(t, s, mount); got != files {
		t.Errorf("files are\n%s, they were\n%s", got, files)
	}
	must(t, mount.Unmount(t.Context()))
	s.tidy(t, ns)
}

// podName is the address of a node's pod.
func podName(n *v1alpha1.GlusterNode, c *v1alpha1.GlusterCluster) string {
	return fmt.Sprintf("%s-0.%s.%s.svc", n.Name, c.Name, c.Namespace)
}

// capacity fails unless the volume is as large as all brick directories of the
// nodes together, and these are as large as their file systems say.
func capacity(t *testing.T, s *Site, v *v1alpha1.GlusterVolume, nodes ...*v1alpha1.GlusterNode) {
	t.Helper()
	var sum int64
	for _, n := range nodes {
		must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(n), n))
		if len(n.Status.BrickDirs) != len(n.Spec.Storage) {
			t.Errorf("%s has %d brick directories, want %d", n.Name, len(n.Status.BrickDirs), len(n.Spec.Storage))
		}
		for _, d := range n.Status.BrickDirs {
			out, err := s.In(t.Context(), n.Namespace, n.Name, "stat", "-f", "-c", "%S %b", string(d.Path))
			must(t, err)
			var block, blocks int64
			if _, err := fmt.Sscan(out, &block, &blocks); err != nil || block*blocks != d.SizeBytes {
				t.Errorf("%s of %s has %d bytes in status, the file system says %q (%v)", d.Path, n.Name, d.SizeBytes, out, err)
			}
			sum += d.SizeBytes
		}
	}
	must(t, s.Await(t.Context(), slow, v, func() string {
		if u := v.Status.UsableBytes; u == nil || *u != sum {
			return fmt.Sprintf("usable are %v bytes, the brick directories have %d", u, sum)
		}
		return ""
	}))
}

// swapped lets two disks of a node have each other's names when its pod starts
// again, and then their own.
func swapped(t *testing.T, s *Site, v *v1alpha1.GlusterVolume, n *v1alpha1.GlusterNode, h *cluster.Node) {
	t.Helper()
	a, b := n.Spec.Storage[0].Device, n.Spec.Storage[1].Device
	const swap = `one=$(readlink "$0"); two=$(readlink "$1"); ln -sfn "$two" "$0"; ln -sfn "$one" "$1"`
	sh(t, h, swap, a, b)
	s.restart(t, n)
	blocked(t, s, n, v1alpha1.ReasonBrickDirNotMounted, "/bricks/a", "/bricks/b", "and was")
	before := sh(t, h, "sha256sum < $0; sha256sum < $1", a, b)
	s.bricksDown(t, v, n, "/bricks/a/", "/bricks/b/")
	s.cycles(t, 3)
	if after := sh(t, h, "sha256sum < $0; sha256sum < $1", a, b); after != before {
		t.Error("something was written to disks that are each in the place of another")
	}
	sh(t, h, swap, a, b)
	s.restart(t, n)
	s.bricksDown(t, v, n)
}

// emptied lets a disk with a brick be empty when its pod starts again, and then
// puts back what was on it. The file system is shut down first: it would write
// when it is unmounted.
func emptied(t *testing.T, s *Site, v *v1alpha1.GlusterVolume, n *v1alpha1.GlusterNode, h *cluster.Node) {
	t.Helper()
	disk, kept := n.Spec.Storage[0].Device, "/var/tmp/"+n.Namespace
	_, err := s.In(t.Context(), n.Namespace, n.Name, "xfs_io", "-x", "-c", "shutdown -f", "/bricks/a")
	must(t, err)
	sh(t, h, `dd if="$0" of="$1" bs=1M count=1 status=none; dd if=/dev/zero of="$0" bs=1M count=1 conv=notrunc,fsync status=none`, disk, kept)
	s.restart(t, n)
	blocked(t, s, n, v1alpha1.ReasonBrickDirNotMounted, "/bricks/a", "holds nothing, and was")
	before := sh(t, h, "sha256sum < $0", disk)
	s.bricksDown(t, v, n, "/bricks/a/")
	s.cycles(t, 3)
	if after := sh(t, h, "sha256sum < $0", disk); after != before {
		t.Error("something was written to a disk that was emptied")
	}
	if out, err := s.In(t.Context(), n.Namespace, n.Name, "find", "/", "-xdev", "-maxdepth", "3", "-path", "/bricks/a/*"); err != nil || out != "" {
		t.Errorf("below the mount point of the emptied disk there is %q (%v)", out, err)
	}
	sh(t, h, `dd if="$1" of="$0" bs=1M count=1 conv=notrunc,fsync status=none; rm "$1"`, disk, kept)
	s.restart(t, n)
	s.bricksDown(t, v, n)
}

// wrote writes files through a mount and returns their checksums.
func wrote(t *testing.T, s *Site, c *Client) string {
	t.Helper()
	_, err := s.Env.Exec(t.Context(), c.ref, "/bin/sh", "-ec", `cd "$0"; for i in $(seq 60); do head -c 20000 /dev/urandom > "file-$i"; done`, mountPoint)
	must(t, err)
	return sums(t, s, c)
}

func sums(t *testing.T, s *Site, c *Client) string {
	t.Helper()
	out, err := s.Env.Exec(t.Context(), c.ref, "/bin/sh", "-ec", `cd "$0"; sha256sum -- *`, mountPoint)
	must(t, err)
	if n := strings.Count(string(out), "\n"); n != 60 {
		t.Errorf("%d files, want 60", n)
	}
	return string(out)
}

// bricksDown waits until exactly the bricks of a node below these directories do
// not serve, and all others do.
func (s *Site) bricksDown(t *testing.T, v *v1alpha1.GlusterVolume, n *v1alpha1.GlusterNode, dirs ...string) {
	t.Helper()
	must(t, s.Await(t.Context(), slow, v, func() string {
		if len(v.Status.Bricks) == 0 {
			return "no bricks"
		}
		for _, b := range v.Status.Bricks {
			down := false
			for _, d := range dirs {
				down = down || b.Node == n.Name && strings.Contains(b.Name, ":"+d)
			}
			if down == (b.State == v1alpha1.BrickOnline) {
				return fmt.Sprintf("brick %s is %s", b.Name, b.State)
			}
		}
		return ""
	}))
}

// restart deletes the pod of a node, as a person or a drained host does, and
// waits until another one serves.
func (s *Site) restart(t *testing.T, n *v1alpha1.GlusterNode) {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = n.Namespace, n.Name+"-0"
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	was := pod.UID
	must(t, s.Client.Delete(t.Context(), pod))
	must(t, s.Await(t.Context(), slow, pod, func() string {
		if pod.UID == was {
			return "the old pod is still there"
		}
		return notReady(pod)
	}))
}

// joined waits until so many nodes have joined a cluster.
func joined(t *testing.T, s *Site, c *v1alpha1.GlusterCluster, nodes int32) {
	t.Helper()
	must(t, s.Await(t.Context(), slow, c, func() string {
		if n := c.Status.Nodes; n == nil || n.Joined != nodes {
			return fmt.Sprintf("nodes are %+v", n)
		}
		return ""
	}))
}

// blocked waits until an object is blocked for a reason, and the message has all
// of these words.
func blocked(t *testing.T, s *Site, o client.Object, reason string, words ...string) {
	t.Helper()
	must(t, s.Await(t.Context(), slow, o, func() string {
		message := rig.Message(o, v1alpha1.ConditionBlocked)
		for _, w := range words {
			if !strings.Contains(message, w) {
				return fmt.Sprintf("blocked: %q, without %q", message, w)
			}
		}
		return rig.Is(o, v1alpha1.ConditionBlocked, metav1.ConditionTrue, reason)
	}))
}

// cycles waits until the operator has looked at clusters so many times more.
func (s *Site) cycles(t *testing.T, n float64) {
	t.Helper()
	begun := s.looked(t)
	must(t, s.AwaitThat(t.Context(), slow, fmt.Sprintf("%v more cycles", n), func() string {
		if done := s.looked(t) - begun; done < n {
			return fmt.Sprintf("%v so far", done)
		}
		return ""
	}))
}

func (s *Site) looked(t *testing.T) float64 {
	t.Helper()
	n, err := s.Operator.Metric(t.Context(), "controller_runtime_reconcile_total", `controller="cluster"`)
	must(t, err)
	return n
}
