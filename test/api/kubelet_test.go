package api

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// A process is what runs in the containers of a kubelet.
type process func(argv []string, stdin io.Reader, stdout io.Writer) (exit int)

// kubelet registers a node and answers for it what the API server asks a kubelet
// when somebody wants to run a command: over SPDY, whatever the client speaks.
func kubelet(t *testing.T, node string, run process) {
	t.Helper()
	api, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	// On the API server's own address: it reaches that one, and so do we.
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(api.Hostname(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveExec(w, r, run) }))
	_ = server.Listener.Close()
	server.Listener = ln
	server.StartTLS()
	t.Cleanup(server.Close)

	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{corev1.LabelHostname: node}}}
	made, err := c.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), node, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting node %s: %v", node, err)
		}
	})
	made.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: api.Hostname()}}
	made.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(ln.Addr().(*net.TCPAddr).Port)
	if _, err := c.CoreV1().Nodes().UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func serveExec(w http.ResponseWriter, r *http.Request, run process) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		streams <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	by := map[string]httpstream.Stream{}
	for range 4 {
		select {
		case s := <-streams:
			by[s.Headers().Get(corev1.StreamType)] = s
		case <-time.After(10 * time.Second):
			return
		}
	}
	status := metav1.Status{Status: metav1.StatusSuccess}
	if exit := run(r.URL.Query()["command"], by[corev1.StreamTypeStdin], by[corev1.StreamTypeStdout]); exit != 0 {
		status = metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(exit)}}}}
	}
	_ = json.NewEncoder(by[corev1.StreamTypeError]).Encode(status)
	for _, s := range by {
		_ = s.Close()
	}
	select { // until it was read
	case <-conn.CloseChan():
	case <-time.After(10 * time.Second):
	}
}
