package podexec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// spdy runs a command by the protocol v4.channel.k8s.io over SPDY.
func (a *apiServer) spdy(w http.ResponseWriter, r *http.Request) {
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
	argv := a.argv(r)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-conn.CloseChan()
		cancel()
	}()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = by[corev1.StreamTypeStdout], by[corev1.StreamTypeStderr]
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	go func() {
		_, _ = io.Copy(in, by[corev1.StreamTypeStdin])
		_ = in.Close()
	}()
	status := metav1.Status{Status: metav1.StatusSuccess}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok {
		status = metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: itoa(exit.ExitCode())}}}}
	}
	_ = json.NewEncoder(by[corev1.StreamTypeError]).Encode(status)
	for _, s := range by {
		_ = s.Close()
	}
	select { // until the client has read it
	case <-conn.CloseChan():
	case <-time.After(10 * time.Second):
	}
}
