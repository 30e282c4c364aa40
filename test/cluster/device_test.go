package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claim makes a claim and returns the volume for a pod.
func claim(t *testing.T, env *Env, ns, name, class string, mode corev1.PersistentVolumeMode, size string) corev1.Volume {
	t.Helper()
	_, err := env.Client().CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, VolumeMode: &mode, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}
}

// testDevices uses one disk of a node as it is, and another as the file system
// that the kubelet makes on it.
func testDevices(t *testing.T, env *Env) {
	ns := namespace(t, env, "devices")
	n := env.Node(2)
	raw, err := n.AddDevice("raw", 320)
	must(t, err)
	xfs, err := n.AddDevice("xfs", 400)
	must(t, err)
	for d, mode := range map[*Device]corev1.PersistentVolumeMode{raw: corev1.PersistentVolumeBlock, xfs: corev1.PersistentVolumeFilesystem} {
		v, err := d.PersistentVolume(t.Context(), mode)
		must(t, err)
		t.Cleanup(func() {
			must(t, env.Client().CoreV1().PersistentVolumes().Delete(context.Background(), v.Name, metav1.DeleteOptions{}))
		})
	}
	volumes := []corev1.Volume{
		claim(t, env, ns, "raw", ClassBlock, corev1.PersistentVolumeBlock, "320Mi"),
		claim(t, env, ns, "xfs", ClassXFS, corev1.PersistentVolumeFilesystem, "400Mi"),
	}
	// Not told where: the volumes say it.
	p := pod(t, env, ns, "user", nil, func(s *corev1.PodSpec) {
		s.Volumes = volumes
		s.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "raw", DevicePath: "/dev/raw0"}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "xfs", MountPath: "/data"}}
	}, "sleep", "infinity")
	runs(t, env, p)
	got, err := env.Client().CoreV1().Pods(ns).Get(t.Context(), p.Pod, metav1.GetOptions{})
	must(t, err)
	if got.Spec.NodeName != n.Name() {
		t.Errorf("the pod runs on %s, its devices are on %s", got.Spec.NodeName, n.Name())
	}
	out, err := env.Exec(t.Context(), p, "blockdev", "--getsize64", "/dev/raw0")
	must(t, err)
	if size := strings.TrimSpace(string(out)); size != fmt.Sprint(320<<20) {
		t.Errorf("the block device has %s bytes, want %d", size, 320<<20)
	}
	out, err = env.Exec(t.Context(), p, "stat", "-f", "-c", "%T", "/data")
	must(t, err)
	if kind := strings.TrimSpace(string(out)); kind != "xfs" {
		t.Errorf("the file system is %q, want xfs", kind)
	}
	_, err = env.Exec(t.Context(), p, "mkfs.xfs", "-q", "/dev/raw0")
	must(t, err)

	if again, err := n.AddDevice("raw", 320); err != nil || again.Path() != raw.Path() {
		t.Errorf("AddDevice() of one that is there: %+v, %v", again, err)
	}
	for name, tc := range map[string]struct {
		device string
		size   int
		want   error
	}{
		"Name": {"../x", 320, errDeviceName},
		"Size": {"small", 1, errDeviceSize},
	} {
		if _, err := n.AddDevice(tc.device, tc.size); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// testMovableClaim writes on one node and reads on another.
func testMovableClaim(t *testing.T, env *Env) {
	ns := namespace(t, env, "movable")
	volume := claim(t, env, ns, "data", ClassMovable, corev1.PersistentVolumeFilesystem, "1Gi")
	mounted := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{volume}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	first := pod(t, env, ns, "first", env.Node(1), mounted, "sleep", "infinity")
	runs(t, env, first)
	_, err := env.Exec(t.Context(), first, "cp", "/etc/os-release", "/data/file")
	must(t, err)
	second := pod(t, env, ns, "second", env.Node(3), mounted, "sleep", "infinity")
	runs(t, env, second)
	_, err = env.Exec(t.Context(), second, "cmp", "/etc/os-release", "/data/file")
	must(t, err)
	out, err := env.Exec(t.Context(), second, "stat", "-f", "-c", "%T", "/data")
	must(t, err)
	if kind := strings.TrimSpace(string(out)); kind != "xfs" {
		t.Errorf("the claim lies on %q, want a file system of its own", kind)
	}
	pv, err := env.Client().CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	dirs := 0
	for _, v := range pv.Items {
		if v.Spec.StorageClassName == ClassMovable && strings.HasPrefix(v.Spec.HostPath.Path, movableDir+"/") {
			dirs++
		}
	}
	if dirs != 1 {
		t.Errorf("%d volumes of class %s, want 1", dirs, ClassMovable)
	}
}
