package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/test/await"
)

// testGluster has a glusterd on each node, whose pods find each other by the
// names that a headless service gives them.
func testGluster(t *testing.T, env *Env) {
	ns := namespace(t, env, "gluster")
	headless(t, env, ns)
	pods := make([]PodRef, 0, len(env.Nodes()))
	for i, n := range env.Nodes() {
		pods = append(pods, pod(t, env, ns, fmt.Sprintf("g%d", i+1), n, nil, "glusterd", "-N"))
	}
	for _, p := range pods {
		runs(t, env, p)
	}
	for _, p := range pods[1:] {
		name := fmt.Sprintf("%s.%s.%s.svc.%s", p.Pod, ns, ns, clusterDomain)
		must(t, await.Until(t.Context(), 60*time.Second, "a peer is probed by its name", "", func(ctx context.Context) error {
			_, err := env.Exec(ctx, pods[0], "gluster", "--mode=script", "peer", "probe", name)
			return err
		}))
	}
	for _, p := range pods {
		must(t, await.Until(t.Context(), 30*time.Second, p.Pod+" sees all peers connected", "", func(ctx context.Context) error {
			out, err := env.Exec(ctx, p, "gluster", "pool", "list")
			if err == nil && strings.Count(string(out), "Connected") != len(pods) {
				err = fmt.Errorf("it sees:\n%s", out)
			}
			return err
		}))
	}
	out, err := env.Exec(t.Context(), pods[0], "gluster", "pool", "list")
	must(t, err)
	for _, p := range pods[1:] {
		if name := p.Pod + "." + ns + "."; !strings.Contains(string(out), name) {
			t.Errorf("the pool knows no peer %q:\n%s", name, out)
		}
	}
	_, err = env.Exec(t.Context(), pods[0], "gluster", "--mode=script", "peer", "probe", "nobody."+ns)
	if exit := (*ExitError)(nil); !errors.As(err, &exit) || exit.Code != 1 {
		t.Errorf("probing a name that does not exist: %v, want exit code 1", err)
	}
	if log, err := env.Logs(t.Context(), pods[0], 5); err != nil {
		t.Errorf("Logs() = %q, %v", log, err)
	}
}

// testVolume has a volume with a copy on each node, on disks of the nodes' own,
// mounted and written in one of the pods. gluster is not forced to anything.
func testVolume(t *testing.T, env *Env) {
	ns := namespace(t, env, "volume")
	headless(t, env, ns)
	var pods []PodRef
	argv := []string{"gluster", "--mode=script", "volume", "create", "data", "replica", "3"}
	for i, n := range env.Nodes() {
		d, err := n.AddDevice("brick", 400)
		must(t, err)
		v, err := d.PersistentVolume(t.Context(), corev1.PersistentVolumeFilesystem)
		must(t, err)
		t.Cleanup(func() {
			must(t, env.Client().CoreV1().PersistentVolumes().Delete(context.Background(), v.Name, metav1.DeleteOptions{}))
		})
		name := fmt.Sprintf("g%d", i+1)
		// One claim binds before the next is made: each has a disk of another node.
		volume := claim(t, env, ns, name, ClassXFS, corev1.PersistentVolumeFilesystem, "400Mi")
		p := pod(t, env, ns, name, n, func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{volume}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: name, MountPath: "/bricks/1"}}
		}, "glusterd", "-N")
		runs(t, env, p)
		pods = append(pods, p)
		argv = append(argv, fmt.Sprintf("%s.%s:/bricks/1/brick", name, ns))
	}
	eventually := func(what string, argv ...string) {
		t.Helper()
		must(t, await.Until(t.Context(), 60*time.Second, what, "", func(ctx context.Context) error {
			_, err := env.Exec(ctx, pods[0], argv...)
			return err
		}))
	}
	for _, p := range pods[1:] {
		eventually("a peer is probed", "gluster", "--mode=script", "peer", "probe", p.Pod+"."+ns)
	}
	eventually("the volume is made", argv...)
	_, err := env.Exec(t.Context(), pods[0], "gluster", "--mode=script", "volume", "start", "data")
	must(t, err)
	// The daemon that stays keeps what it inherits.
	eventually("the volume is mounted", "bash", "-c",
		"mkdir -p /mnt/data && exec glusterfs --volfile-server=localhost --volfile-id=data /mnt/data </dev/null >/dev/null 2>&1")
	eventually("the mount serves", "cp", "/etc/os-release", "/mnt/data/file")
	for _, p := range pods {
		_, err := env.Exec(t.Context(), p, "cmp", "/etc/os-release", "/bricks/1/brick/file")
		must(t, err)
	}
}

// headless makes a headless service of the namespace's name for pods of its
// label.
func headless(t *testing.T, env *Env, ns string) {
	t.Helper()
	_, err := env.Client().CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true,
			Selector: map[string]string{"app": ns}, Ports: []corev1.ServicePort{{Port: 24007}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
}

// testServices reaches a pod under a service's address from its own node and
// from another, and the API server as every pod does.
func testServices(t *testing.T, env *Env) {
	ns := namespace(t, env, "services")
	_, err := env.Client().CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"role": "server"}, Ports: []corev1.ServicePort{{Port: 24007}}},
	}, metav1.CreateOptions{})
	must(t, err)
	server := pod(t, env, ns, "server", env.Node(1), nil, "glusterd", "-N")
	_, err = env.Client().CoreV1().Pods(ns).Patch(t.Context(), server.Pod, "application/merge-patch+json",
		[]byte(`{"metadata":{"labels":{"role":"server"}}}`), metav1.PatchOptions{})
	must(t, err)
	runs(t, env, server)
	for i, n := range env.Nodes()[:2] {
		client := pod(t, env, ns, fmt.Sprintf("client%d", i), n, nil, "sleep", "infinity")
		runs(t, env, client)
		for _, target := range []string{"/dev/tcp/one/24007", "/dev/tcp/kubernetes.default/443"} {
			must(t, await.Until(t.Context(), 30*time.Second, client.Pod+" reaches "+target, "", func(ctx context.Context) error {
				_, err := env.Exec(ctx, client, "timeout", "5", "bash", "-c", "<"+target)
				return err
			}))
		}
	}
}
