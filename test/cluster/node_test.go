package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/image"
)

// testNodeCutOff has a node that cannot be reached, nor its pods, and comes
// back with its pods as they were.
func testNodeCutOff(t *testing.T, env *Env) {
	ns := namespace(t, env, "cut")
	n := env.Node(3)
	p := pod(t, env, ns, "stays", n, nil, "glusterd", "-N")
	runs(t, env, p)
	before := restarts(t, env, p)
	must(t, n.Cut(t.Context()))
	must(t, n.AwaitNotReady(t.Context()))
	ip := podIP(t, env, p)
	if conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip, "24007"), time.Second); err == nil {
		conn.Close()
		t.Error("a pod of a node that is cut off is reached")
	}
	if got := strings.Join(sickParts(t.Context(), env), "\n"); got != n.Name()+": cut off from the network" {
		t.Errorf("status says %q", got)
	}
	must(t, n.Restore(t.Context()))
	runs(t, env, p)
	if after := restarts(t, env, p); after != before {
		t.Errorf("the pod was restarted: %d, then %d", before, after)
	}
}

// testKubeletStopped has a node without a kubelet, whose containers go on.
func testKubeletStopped(t *testing.T, env *Env) {
	ns := namespace(t, env, "stopped")
	n := env.Node(1)
	p := pod(t, env, ns, "stays", n, nil, "glusterd", "-N")
	runs(t, env, p)
	must(t, n.Stop(t.Context()))
	must(t, n.AwaitNotReady(t.Context()))
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(podIP(t, env, p), "24007"), 5*time.Second)
	if err != nil {
		t.Errorf("a container does not serve without a kubelet: %v", err)
	} else {
		conn.Close()
	}
	must(t, n.Restore(t.Context()))
	runs(t, env, p)
}

// testNodeKilled pulls a node's plug. What was on its disks is there afterwards,
// and its pod runs again.
func testNodeKilled(t *testing.T, env *Env) {
	ns := namespace(t, env, "killed")
	n := env.Node(2)
	for name, mode := range map[string]corev1.PersistentVolumeMode{"kept": corev1.PersistentVolumeFilesystem, "block": corev1.PersistentVolumeBlock} {
		d, err := n.AddDevice(name, 310)
		must(t, err)
		v, err := d.PersistentVolume(t.Context(), mode)
		must(t, err)
		t.Cleanup(func() {
			must(t, env.Client().CoreV1().PersistentVolumes().Delete(context.Background(), v.Name, metav1.DeleteOptions{}))
		})
	}
	volumes := []corev1.Volume{
		claim(t, env, ns, "kept", ClassXFS, corev1.PersistentVolumeFilesystem, "310Mi"),
		claim(t, env, ns, "block", ClassBlock, corev1.PersistentVolumeBlock, "310Mi"),
	}
	p := pod(t, env, ns, "back", nil, func(s *corev1.PodSpec) {
		s.Volumes = volumes
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "kept", MountPath: "/data"}}
		s.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "block", DevicePath: "/dev/block0"}}
	}, "sleep", "infinity")
	runs(t, env, p)
	_, err := env.Exec(t.Context(), p, "cp", "/etc/os-release", "/data/file")
	must(t, err)
	_, err = env.Exec(t.Context(), p, "mkfs.xfs", "-q", "-L", "marked", "/dev/block0")
	must(t, err)
	_, err = env.Exec(t.Context(), p, "sync")
	must(t, err)
	before := restarts(t, env, p)

	must(t, n.Kill(t.Context()))
	if groups, err := hostCgroups.named(n.Name()); err != nil || len(groups) > 0 {
		t.Errorf("control groups of a killed node: %q, %v", groups, err)
	}
	must(t, n.AwaitNotReady(t.Context()))
	must(t, n.Restore(t.Context()))
	must(t, await.Until(t.Context(), 90*time.Second, "the pod was started again", "", func(context.Context) error {
		if now := restarts(t, env, p); now <= before {
			return fmt.Errorf("%d restarts", now)
		}
		return nil
	}))
	runs(t, env, p)
	_, err = env.Exec(t.Context(), p, "cmp", "/etc/os-release", "/data/file")
	must(t, err)
	out, err := env.Exec(t.Context(), p, "xfs_admin", "-l", "/dev/block0")
	if err != nil || !strings.Contains(string(out), "marked") {
		t.Errorf("the block device has %q, %v; want the label it got", out, err)
	}
}

// testRights: a kubelet may change its own node and no other.
func testRights(t *testing.T, env *Env) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(env.Node(1).guest.Root(), kubeconfigOf(kubeletName)))
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	patch := []byte(`{"metadata":{"annotations":{"anthill.gluster.org/test":"x"}}}`)
	_, err = client.CoreV1().Nodes().Patch(t.Context(), env.Node(1).Name(), "application/merge-patch+json", patch, metav1.PatchOptions{})
	must(t, err)
	_, err = client.CoreV1().Nodes().Patch(t.Context(), env.Node(2).Name(), "application/merge-patch+json", patch, metav1.PatchOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a kubelet changes another node: %v, want forbidden", err)
	}
	if _, err = client.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a kubelet lists secrets: %v, want forbidden", err)
	}
	writes, err := env.Local().APIServer.Writes()
	must(t, err)
	refused := false
	for _, w := range writes {
		refused = refused || w.User == "system:node:"+env.Node(1).Name() && w.Object == env.Node(2).Name() && w.Code == 403
	}
	if !refused {
		t.Error("the audit log does not have the refused write")
	}
	// Built in: a namespace can ask for restricted pods.
	ns := namespace(t, env, "restricted")
	_, err = env.Client().CoreV1().Namespaces().Patch(t.Context(), ns, "application/merge-patch+json",
		[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`), metav1.PatchOptions{})
	must(t, err)
	privileged := true
	_, err = env.Client().CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "x"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "x", Image: env.NodeImage(env.cfg.Suites[0]), SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
		}}},
	}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a privileged pod in a restricted namespace: %v, want forbidden", err)
	}
}

// testBounds: what the pods of a node may use together is bounded, and measured.
func testBounds(t *testing.T, env *Env) {
	groups, err := hostCgroups.named(env.Node(1).Name())
	must(t, err)
	want := strconv.Itoa(env.cfg.MemoryMiB << 20)
	found := false
	for _, g := range groups {
		for _, file := range []string{"memory.limit_in_bytes", "memory.max"} {
			data, err := os.ReadFile(filepath.Join(g, file))
			found = found || err == nil && strings.TrimSpace(string(data)) == want
		}
	}
	if !found {
		t.Errorf("no group of %q bounds memory to %s", groups, want)
	}
	// What the kubelet needs to know before it evicts anybody.
	var stats struct {
		Node struct{ Fs, Memory map[string]any }
	}
	must(t, await.Until(t.Context(), 30*time.Second, "the kubelet measures its node", env.Node(1).logFile(kubeletName), func(ctx context.Context) error {
		data, err := env.Client().CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes", env.Node(1).Name(), "proxy/stats/summary").DoRaw(ctx)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &stats); err != nil {
			return err
		}
		if stats.Node.Fs["capacityBytes"] == nil || stats.Node.Memory["usageBytes"] == nil {
			return fmt.Errorf("it says %s", data)
		}
		return nil
	}))
}

// testAPIServerKilled: a new API server serves nodes as the old one did.
func testAPIServerKilled(t *testing.T, env *Env) {
	must(t, env.Local().APIServer.Kill(t.Context()))
	again(t, env)
	for _, n := range env.Nodes() {
		must(t, n.AwaitReady(t.Context()))
	}
	ns := namespace(t, env, "reborn")
	p := pod(t, env, ns, "x", env.Node(1), nil, "sleep", "infinity")
	runs(t, env, p)
	_, err := env.Exec(t.Context(), p, "true")
	must(t, err)
}

// testStatus has each part fail alone and be named.
func testStatus(t *testing.T, env *Env) {
	if got := sickParts(t.Context(), env); len(got) > 0 {
		t.Fatalf("unhealthy: %q", got)
	}
	n := env.Node(1)
	must(t, n.kill(t.Context(), proxyName))
	must(t, env.local.Component(schedulerName).Kill(t.Context()))
	got := strings.Join(sickParts(t.Context(), env), "\n")
	for _, want := range []string{schedulerName + ": not running", n.Name() + ": " + proxyName + " is not running"} {
		if !strings.Contains(got, want) {
			t.Errorf("status says %q, want %q", got, want)
		}
	}
	again(t, env)
	if got := sickParts(t.Context(), env); len(got) > 0 {
		t.Errorf("unhealthy after Up(): %q", got)
	}
	scheduler := env.local.Component(schedulerName)
	must(t, scheduler.Kill(t.Context()))
	keeping, stop := context.WithCancel(t.Context())
	var kept sync.WaitGroup
	kept.Go(func() { env.Keep(keeping) })
	must(t, await.Until(t.Context(), controlReadyMax, "the scheduler is started again", "", func(context.Context) error {
		if !scheduler.Running() {
			return errors.New("it is not")
		}
		return nil
	}))
	stop()
	kept.Wait()
	again(t, env) // it may have been stopped before it served
	files := env.LogFiles()
	for _, name := range []string{"etcd", "kube-apiserver", schedulerName, "n1", "n3"} {
		if len(files[name]) == 0 {
			t.Errorf("no logs of %s", name)
		}
	}
}

// again calls Up for what runs.
func again(t *testing.T, env *Env) {
	t.Helper()
	cfg := env.cfg
	cfg.Fresh = false
	_, err := Up(t.Context(), cfg)
	must(t, err)
}

// testUpAgain: what runs is not touched.
func testUpAgain(t *testing.T, env *Env) {
	pids := func() map[string]int {
		out := map[string]int{}
		for _, n := range env.Nodes() {
			all, err := n.guest.Processes()
			must(t, err)
			for _, p := range all {
				for _, part := range n.parts() {
					if n.isPart(part.name)(p) {
						out[n.Name()+" "+part.name] = p.PID
					}
				}
			}
		}
		return out
	}
	before := pids()
	again(t, env)
	after := pids()
	if len(before) != 3*len(env.Nodes()) {
		t.Errorf("parts that run: %v", before)
	}
	for name, pid := range before {
		if after[name] != pid {
			t.Errorf("%s was process %d, then %d", name, pid, after[name])
		}
	}
	opened, err := Open(Config{Checkout: env.cfg.Checkout, Instance: env.cfg.Instance})
	must(t, err)
	if len(opened.Nodes()) != len(env.Nodes()) {
		t.Errorf("Open() sees %d nodes", len(opened.Nodes()))
	}
}

// testVersions has both versions of GlusterFS beside each other.
func testVersions(t *testing.T, env *Env) {
	must(t, env.LoadImages(t.Context(), image.Gluster10, image.Gluster11))
	ns := namespace(t, env, "versions")
	for suite, want := range map[string]string{image.Gluster10: "glusterfs 10.", image.Gluster11: "glusterfs 11."} {
		p := pod(t, env, ns, suite, nil, func(s *corev1.PodSpec) { s.Containers[0].Image = env.NodeImage(suite) }, "glusterd", "-N")
		runs(t, env, p)
		if out, err := env.Exec(t.Context(), p, "gluster", "--version"); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s has %q, %v; want %s", suite, out, err, want)
		}
	}
	opened, err := Open(Config{Checkout: env.cfg.Checkout, Instance: env.cfg.Instance})
	must(t, err)
	if len(opened.cfg.Suites) != 2 {
		t.Errorf("who opens the cluster knows of suites %q", opened.cfg.Suites)
	}
}

// testImagesAgain: what did not change is not loaded again.
func testImagesAgain(t *testing.T, env *Env) {
	n := env.Node(1)
	before := n.loaded()
	must(t, env.LoadImages(t.Context()))
	for name, id := range n.loaded() {
		if before[name] != id {
			t.Errorf("image %q was %s, is %s: equal sources must give equal images", name, before[name], id)
		}
	}
	out, err := n.ctr(t.Context(), "images", "ls", "-q")
	must(t, err)
	for name := range before {
		if !strings.Contains(string(out), name) {
			t.Errorf("containerd does not know %q:\n%s", name, out)
		}
	}
}

func restarts(t *testing.T, env *Env, in PodRef) int32 {
	t.Helper()
	p, err := env.Client().CoreV1().Pods(in.Namespace).Get(t.Context(), in.Pod, metav1.GetOptions{})
	must(t, err)
	if len(p.Status.ContainerStatuses) == 0 {
		t.Fatal(errors.New("the pod has no container yet"))
	}
	return p.Status.ContainerStatuses[0].RestartCount
}

func podIP(t *testing.T, env *Env, in PodRef) string {
	t.Helper()
	p, err := env.Client().CoreV1().Pods(in.Namespace).Get(t.Context(), in.Pod, metav1.GetOptions{})
	must(t, err)
	return p.Status.PodIP
}
