package kube

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube/kubetest"
	"github.com/gluster/anthill/executor/kube/podexec"
)

func podNode() v1alpha1.GlusterNode {
	n := v1alpha1.GlusterNode{}
	n.Namespace, n.Name, n.Spec.Cluster = "ns", "n1", "c1"
	n.Spec.Storage = []v1alpha1.Storage{{Name: "d1", PVCName: "n1-d1"}}
	return n
}

// Each node is reached in its way, and a pod that does not run says why.
func TestReachPods(t *testing.T) {
	cases := map[string]struct {
		reason string
		pod    *corev1.Pod
		want   string // reason of the problem
	}{
		"Runs":     {"commands can be sent", testPod(same), ""},
		"NotReady": {"as soon as the container runs: the gate comes before glusterd serves", testPod(notReady(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})), ""},
		"NoPod":    {"there is none", nil, v1alpha1.ReasonPodNotReady},
		"Starting": {"its container does not run yet", testPod(notReady(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}})), v1alpha1.ReasonPodNotReady},
		"Foreign":  {"it is somebody else's", testPod(func(p *corev1.Pod) { p.Labels = nil }), v1alpha1.ReasonNameTaken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := kubetest.New()
			if err != nil {
				t.Fatal(err)
			}
			if tc.pod != nil {
				if err := c.Plain().Create(t.Context(), tc.pod); err != nil {
					t.Fatal(err)
				}
			}
			pool := podexec.NewPool(&rest.Config{Host: "http://127.0.0.1:1"}, podexec.Options{})
			defer pool.Close()
			d := keyDialer{used: map[string]string{}}
			r := &Roster{Live: &secrets{keys: map[string]string{"a": "key"}}, Dialer: d, Pods: Exec{Pool: pool, Cache: c.Plain()}}
			s := r.Reach(t.Context(), []v1alpha1.GlusterNode{podNode(), node("n0", "a")})
			if s[0].Node != "n0" || s[0].Problem != nil || d.used["n0"] != "key" || d.used["n1"] != "" {
				t.Errorf("the server outside Kubernetes: %+v, reached by %v", s[0], d.used)
			}
			got := ""
			if s[1].Problem != nil {
				got = s[1].Problem.Reason
			}
			if got != tc.want || (s[1].Gate == nil) != (tc.want != "") {
				t.Errorf("%s: problem %+v", tc.reason, s[1].Problem)
			}
		})
	}
}

// What was meant for one pod is not sent to the one that took its place.
func TestExecIsForOnePod(t *testing.T) {
	c, err := kubetest.New(testPod(same))
	if err != nil {
		t.Fatal(err)
	}
	pool := podexec.NewPool(&rest.Config{Host: "http://127.0.0.1:1"}, podexec.Options{})
	defer pool.Close()
	n := podNode()
	server, err := Exec{Pool: pool, Cache: c.Plain()}.Pod(t.Context(), &n)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *Problem {
		_, err := server.Do(t.Context(), gate.Request{Version: gate.ProtocolVersion, Verb: gate.Hello})
		if !gate.NotStarted(err) {
			t.Errorf("it may have started: %v", err)
		}
		return ProblemOf(err)
	}
	if p := ask(); p.Reason != v1alpha1.ReasonServerUnreachable {
		t.Errorf("with no API server: %+v", p)
	}
	if err := c.Plain().Delete(context.Background(), testPod(same)); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p.Reason != v1alpha1.ReasonPodNotReady {
		t.Errorf("with no pod: %+v", p)
	}
	if err := c.Plain().Create(context.Background(), testPod(func(p *corev1.Pod) { p.UID = "another" })); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p.Reason != v1alpha1.ReasonPodNotReady {
		t.Errorf("with another pod: %+v", p)
	}
}

// An operator that has no way into pods says so.
func TestReachWithoutExec(t *testing.T) {
	r := &Roster{Dialer: keyDialer{used: map[string]string{}}}
	if s := r.Reach(t.Context(), []v1alpha1.GlusterNode{podNode()}); s[0].Problem == nil || s[0].Gate != nil {
		t.Errorf("%+v", s[0])
	}
	unix := &Roster{Dialer: Unix{Dir: "/nowhere"}}
	if s := unix.Reach(t.Context(), []v1alpha1.GlusterNode{podNode()}); s[0].Problem != nil || s[0].Gate == nil {
		t.Errorf("by socket: %+v", s[0])
	}
}
