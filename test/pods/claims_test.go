package pods

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// claim makes a claim, as a person does. volume names the PersistentVolume that
// is meant, empty: any.
func claim(t *testing.T, s *Site, ns, name, class, volume string, block bool) {
	t.Helper()
	mode := corev1.PersistentVolumeFilesystem
	if block {
		mode = corev1.PersistentVolumeBlock
	}
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name = ns, name
	c.Spec = corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, VolumeMode: &mode, VolumeName: volume,
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dMi", diskMiB))}},
	}
	create(t, s, c)
}

// blockClaim gives a node of ours a disk, fills it, and claims it.
func blockClaim(t *testing.T, s *Site, ns, name string, h *cluster.Node, fill string) v1alpha1.Storage {
	t.Helper()
	d, err := h.AddDevice(named(ns+"-"+name), diskMiB)
	must(t, err)
	if fill != "" {
		sh(t, h, fill, d.Path(), "/mnt/"+ns+"-"+name)
	}
	volume, err := d.PersistentVolume(t.Context(), corev1.PersistentVolumeBlock)
	must(t, err)
	claim(t, s, ns, name, cluster.ClassBlock, volume.Name, true)
	return v1alpha1.Storage{Name: name, PVCName: name}
}

// onClaims describes a node on claims; that of its state can move.
func onClaims(t *testing.T, s *Site, ns, clusterName, name string, storage ...v1alpha1.Storage) *v1alpha1.GlusterNode {
	t.Helper()
	claim(t, s, ns, name+"-state", cluster.ClassMovable, "", false)
	n := &v1alpha1.GlusterNode{}
	n.Namespace, n.Name = ns, name
	n.Spec = v1alpha1.GlusterNodeSpec{Cluster: clusterName, Storage: storage, State: &v1alpha1.NodeState{PVCName: name + "-state"}}
	return n
}

// oldBrick makes what is left of another volume: its file system, with the mark
// of a brick and a file. $1 is where it is mounted meanwhile.
const oldBrick = `mkfs.xfs -q "$0"; mkdir -p "$1"; mount "$0" "$1"
mkdir -p "$1/brick/.glusterfs/indices"
setfattr -n trusted.glusterfs.volume-id -v 0x0123456789abcdef0123456789abcdef "$1/brick"
echo precious > "$1/brick/file"; umount "$1"; rmdir "$1"`

// S4, R48: claims of disks that hold something, in a node that has a blank one
// too. The node says which disk and what was found, uses the blank one, and the
// pool goes on; none of the others is written to. Once a person has wiped them,
// each is used, without another word. One whose mount vanishes is mounted again.
func TestDisksThatHoldSomething(t *testing.T) {
	t.Parallel()
	const name = "wary"
	ns := named("something")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	h := s.Env.Nodes()
	full := onClaims(t, s, ns, name, "full",
		blockClaim(t, s, ns, "ext4", h[1], `mkfs.ext4 -q "$0"`),
		blockClaim(t, s, ns, "foreign", h[1], `mkfs.xfs -q -L elsewhere "$0"`),
		blockClaim(t, s, ns, "old", h[1], oldBrick),
		blockClaim(t, s, ns, "blank", h[1], ""))
	other := onClaims(t, s, ns, name, "other", blockClaim(t, s, ns, "fine", h[2], ""))
	c := rig.Cluster(ns, name)
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = ns, "rest"
	v.Spec.Cluster = name
	v.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 2}
	create(t, s, c, full, other, v)

	held := map[string]string{"ext4": "holds ext4", "foreign": `holds xfs labelled "elsewhere"`, "old": "holds xfs"}
	joined(t, s, c, 2)
	for device, finding := range held {
		blocked(t, s, full, v1alpha1.ReasonDeviceNotEmpty, device+": the device "+finding)
	}
	before := contents(t, s, full, held)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	s.cycles(t, 3)
	if after := contents(t, s, full, held); after != before {
		t.Errorf("disks that hold something are\n%s, they were\n%s", after, before)
	}
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(v), v))
	for _, b := range v.Status.Bricks {
		if !strings.Contains(b.Name, ":/bricks/blank/") && !strings.Contains(b.Name, ":/bricks/fine/") {
			t.Errorf("brick %s is on a disk that holds something", b.Name)
		}
	}

	// A person looks, and decides.
	for device := range held {
		_, err := s.In(t.Context(), ns, full.Name, "wipefs", "--all", "--quiet", "/dev/anthill/"+device)
		must(t, err)
	}
	must(t, s.AwaitCondition(t.Context(), slow, full, v1alpha1.ConditionBlocked, metav1.ConditionFalse, ""))
	must(t, s.Await(t.Context(), slow, full, func() string {
		for _, d := range full.Status.BrickDirs {
			if d.State != v1alpha1.BrickDirReady {
				return fmt.Sprintf("%s is %s", d.Path, d.State)
			}
		}
		return ""
	}))
	vanished(t, s, full, "blank")
	must(t, s.AwaitConverged(t.Context(), slow, v))
	s.tidy(t, ns)
}

// vanished takes away the mount of a disk with a brick and waits until it is
// mounted again: the same file system, with what was on it.
func vanished(t *testing.T, s *Site, n *v1alpha1.GlusterNode, device string) {
	t.Helper()
	dir := "/bricks/" + device
	look := func() string {
		out, err := s.In(t.Context(), n.Namespace, n.Name, "/bin/sh", "-ec",
			`blkid -p -o value -s UUID "$0"; find "$1" -path '*/.glusterfs/*' -prune -o -print | sort`, "/dev/anthill/"+device, dir)
		must(t, err)
		return out
	}
	before := look()
	if !strings.Contains(before, dir+"/") {
		t.Fatalf("there is no brick in %s: %q", dir, before)
	}
	_, err := s.In(t.Context(), n.Namespace, n.Name, "umount", "--lazy", dir)
	must(t, err)
	must(t, s.AwaitThat(t.Context(), slow, dir+" is mounted again", func() string {
		if _, err := s.In(t.Context(), n.Namespace, n.Name, "mountpoint", "--quiet", dir); err != nil {
			return err.Error()
		}
		return ""
	}))
	if after := look(); after != before {
		t.Errorf("%s holds\n%s, it held\n%s", dir, after, before)
	}
}

// contents are checksums of whole disks, as the pod sees them.
func contents(t *testing.T, s *Site, n *v1alpha1.GlusterNode, disks map[string]string) string {
	t.Helper()
	argv := []string{"sha256sum"}
	for _, st := range n.Spec.Storage {
		if disks[st.Name] != "" {
			argv = append(argv, "/dev/anthill/"+st.Name)
		}
	}
	out, err := s.In(t.Context(), n.Namespace, n.Name, argv...)
	must(t, err)
	return out
}
