package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/gluster/anthill/test/local"
)

// execMax is the deadline of a command whose context has none.
const execMax = 2 * time.Minute

// logMax bounds what is read of a log.
const logMax = 4 << 20

// A PodRef says which container is meant; Container may be empty in a pod with one.
type PodRef struct{ Namespace, Pod, Container string }

// String is namespace/pod.
func (r PodRef) String() string { return r.Namespace + "/" + r.Pod }

// An ExitError says that a command ran in a container and failed.
type ExitError struct {
	Pod    PodRef
	Argv   []string
	Code   int
	Stderr []byte
}

// Error is one line with the command, its exit code and what it said last.
func (e *ExitError) Error() string {
	said := bytes.TrimSpace(e.Stderr)
	return fmt.Sprintf("%q in %s: exit code %d: %s", strings.Join(e.Argv, " "), e.Pod, e.Code, said[bytes.LastIndexByte(said, '\n')+1:])
}

// Exec runs argv in a container, never through a shell, and returns its
// standard output, at most 4 MiB. A command that fails gives an *ExitError.
//
// A command that leaves a daemon behind keeps the streams open: let it redirect
// all three.
func (e *Env) Exec(ctx context.Context, in PodRef, argv ...string) ([]byte, error) {
	return e.ExecWith(ctx, in, nil, argv...)
}

// ExecWith is Exec with a standard input, unless it is nil.
func (e *Env) ExecWith(ctx context.Context, in PodRef, stdin io.Reader, argv ...string) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, execMax, fmt.Errorf("not within %v", execMax))
		defer cancel()
	}
	request := e.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(in.Namespace).Name(in.Pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: in.Container, Command: argv, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	stream, err := remotecommand.NewWebSocketExecutor(e.config, "GET", request.URL().String())
	if err != nil {
		return nil, fmt.Errorf("running %q in %s: %w", strings.Join(argv, " "), in, err)
	}
	var stdout, stderr local.Bounded
	err = stream.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: &stdout, Stderr: &stderr})
	var exit utilexec.CodeExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case errors.As(err, &exit):
		return stdout.Bytes(), &ExitError{Pod: in, Argv: argv, Code: exit.Code, Stderr: stderr.Bytes()}
	default:
		return stdout.Bytes(), fmt.Errorf("running %q in %s: %w", strings.Join(argv, " "), in, errors.Join(err, context.Cause(ctx)))
	}
}

// Logs returns the last lines of a container's log.
func (e *Env) Logs(ctx context.Context, in PodRef, lines int64) (string, error) {
	limit := int64(logMax)
	data, err := e.client.CoreV1().Pods(in.Namespace).GetLogs(in.Pod, &corev1.PodLogOptions{
		Container: in.Container, TailLines: &lines, LimitBytes: &limit,
	}).DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the log of %s: %w", in, err)
	}
	return string(data), nil
}

// KillContainer ends the first process of a container with SIGKILL: nothing in it
// has a chance to put anything in order, which the API never allows. The kubelet
// starts the container again.
func (e *Env) KillContainer(ctx context.Context, in PodRef) error {
	pod, err := e.client.CoreV1().Pods(in.Namespace).Get(ctx, in.Pod, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("killing %s: %w", in, err)
	}
	node := e.NodeNamed(pod.Spec.NodeName)
	if node == nil {
		return fmt.Errorf("killing %s on %s: %w", in, pod.Spec.NodeName, ErrNotOurs)
	}
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.Name != in.Container && (in.Container != "" || len(pod.Status.ContainerStatuses) != 1) {
			continue
		}
		_, id, ok := strings.Cut(c.ContainerID, "://")
		if !ok || c.State.Running == nil {
			break
		}
		if _, err := node.ctr(ctx, "tasks", "kill", "--signal", "SIGKILL", id); err != nil {
			return fmt.Errorf("killing %s: %w", in, err)
		}
		return nil
	}
	return fmt.Errorf("killing %s: no such container runs", in)
}
