package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/podexec"
)

// container behaves as the shell of a pod does: with a gate, or without.
func container(installed *bool) process {
	return func(argv []string, stdin io.Reader, stdout io.Writer) int {
		script := argv[len(argv)-1]
		switch {
		case strings.Contains(script, "anthill-gate-installed"):
			raw, err := io.ReadAll(stdin)
			if err != nil || len(raw) < 1<<20 {
				return 1
			}
			*installed = true
			_, _ = io.WriteString(stdout, "anthill-gate-installed\n")
			return 0
		case strings.Contains(script, "anthill-gate-at-rest"):
			_, _ = io.WriteString(stdout, "anthill-gate-at-rest\n")
			return 0
		}
		_, _ = io.WriteString(stdout, "anthill-exec-begins\n")
		if !*installed {
			return 127
		}
		raw, err := io.ReadAll(stdin)
		var req gate.Request
		if err != nil || json.Unmarshal(raw, &req) != nil {
			return 2
		}
		if req.Verb == gate.Observe {
			time.Sleep(5 * time.Second)
		}
		_ = gate.Encode(stdout, gate.Reply{Version: gate.ProtocolVersion, Digest: "from the pod"})
		return 0
	}
}

// The gate in a pod is reached through a real API server, with the operator's
// rights, by both protocols.
func TestExec(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	operator := asOperator()
	pods := &kube.Pods{Client: typedClient(t, operator)}
	installed := false
	kubelet(t, "exec-host", container(&installed))
	pod := madePod(t, admin, pods, ns)
	node := &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "n1"}, Spec: v1alpha1.GlusterNodeSpec{Cluster: "c1"}}
	pool := podexec.NewPool(operator, podexec.Options{})
	defer pool.Close()
	way := kube.Exec{Pool: pool, Cache: pods.Client}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	if _, err := way.Pod(ctx, node); kube.ProblemOf(err) == nil || kube.ProblemOf(err).Reason != v1alpha1.ReasonPodNotReady {
		t.Errorf("a pod without a host: %v", err)
	}
	// Nobody but us would notice: what the API server says of it is an answer too.
	direct := pool.Server(podexec.Target{Namespace: ns, Pod: pod.Name, Container: v1alpha1.ContainerName})
	if _, err := direct.Do(ctx, hello); !gate.NotStarted(err) {
		t.Errorf("a pod without a host: %v", err)
	}
	runs(t, admin.SubResource("binding").Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "exec-host"}}))
	runs(t, admin.Get(ctx, kclient.ObjectKeyFromObject(pod), pod))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1alpha1.ContainerName, Image: "i:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	runs(t, admin.Status().Update(ctx, pod))

	server, err := way.Pod(ctx, node)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Do(ctx, hello); !errors.Is(err, gate.ErrNotInstalled) {
		t.Errorf("before it is installed: %v", err)
	}
	if err := server.Install(ctx, bytes.Repeat([]byte("gate"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if yes, err := server.(gate.Watcher).Installing(ctx); yes || err != nil {
		t.Errorf("installing: %v, %v", yes, err)
	}
	if rep, err := server.Do(ctx, hello); err != nil || rep.Digest != "from the pod" {
		t.Errorf("%+v, %v", rep, err)
	}
	short, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	begun := time.Now()
	if _, err := server.Do(short, gate.Request{Version: gate.ProtocolVersion, Verb: gate.Observe}); !errors.Is(err, context.DeadlineExceeded) || gate.NotStarted(err) {
		t.Errorf("a gate that takes too long: %v", err)
	}
	if d := time.Since(begun); d > 4*time.Second {
		t.Errorf("a deadline of a second took %s", d)
	}
	runs(t, admin.Delete(ctx, pod))
	if _, err := server.Do(ctx, hello); !gate.NotStarted(err) {
		t.Errorf("a pod that is going: %v", err)
	}
}

// A kubelet that is away: the request did not leave, whatever was upgraded.
func TestExecWithoutKubelet(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	operator := asOperator()
	pods := &kube.Pods{Client: typedClient(t, operator)}
	host := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "dead-host"}}
	runs(t, admin.Create(t.Context(), host))
	t.Cleanup(func() { runs(t, admin.Delete(background, host)) })
	host.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	host.Status.DaemonEndpoints.KubeletEndpoint.Port = 1
	runs(t, admin.Status().Update(t.Context(), host))
	pod := madePod(t, admin, pods, ns)
	runs(t, admin.SubResource("binding").Create(t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "dead-host"}}))
	pool := podexec.NewPool(operator, podexec.Options{})
	defer pool.Close()
	_, err := pool.Server(podexec.Target{Namespace: ns, Pod: pod.Name, Container: v1alpha1.ContainerName}).Do(t.Context(), hello)
	if !gate.NotStarted(err) {
		t.Errorf("it may have started: %v", err)
	}
	t.Log(err)
}

// Somebody who may not run commands is told so, by an error that nothing followed.
func TestExecForbidden(t *testing.T) {
	stranger := rest.CopyConfig(config)
	stranger.Impersonate = rest.ImpersonationConfig{UserName: "stranger", Groups: []string{"system:authenticated"}}
	pool := podexec.NewPool(stranger, podexec.Options{})
	defer pool.Close()
	_, err := pool.Server(podexec.Target{Namespace: namespace, Pod: "n1-0", Container: v1alpha1.ContainerName}).Do(t.Context(), hello)
	if !gate.NotStarted(err) || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("%v", err)
	}
}

var hello = gate.Request{Version: gate.ProtocolVersion, Verb: gate.Hello}

func runs(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
