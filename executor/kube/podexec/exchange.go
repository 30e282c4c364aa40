package podexec

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream" // whose errors client-go returns; those of the package of this name in apimachinery are others

	"github.com/gluster/anthill/executor/gate"
)

// An exchange is one command in a container: input in, output and exit code out.
type exchange struct {
	argv   []string
	input  []byte
	outMax int
	// mark, if set, is what the command writes when it runs; the input is held
	// back until then.
	mark string
}

// A result is how an exchange went. Without begun not all of the input left,
// without sent the command may have got less.
type result struct {
	stdout, stderr []byte
	exit           int // -1: none was told
	begun, sent    bool
	err            error // of the streams, if the command's end was not seen
}

// why says how the command ended, for a reply that did not come.
func (r result) why() error {
	if r.err != nil {
		return r.err
	}
	if line := gate.LastLine(r.stderr); line != "" {
		return fmt.Errorf("the command ended with %d: %s", r.exit, line)
	}
	return fmt.Errorf("the command ended with %d", r.exit)
}

const stderrMax = 4 << 10

// run carries x out. The error is that nothing was begun, typed; everything
// later is in the result. It returns as soon as ctx ends.
func (p *Pool) run(ctx context.Context, t Target, x exchange) (result, error) {
	if t.Check != nil {
		if err := t.Check(ctx); err != nil {
			return result{}, err
		}
	}
	release, err := p.slot(ctx, t.name())
	if err != nil {
		return result{}, err
	}
	in := newInput(x.input, x.mark != "")
	got := make(chan result, 1)
	if !p.spawn(func() {
		// The slot is free when the streams are, not when the caller has left.
		defer release()
		got <- p.stream(ctx, t, x, in)
	}) {
		release()
		return result{}, &UnreachableError{Pod: t.name(), Err: errClosed}
	}
	res := result{exit: -1}
	select {
	case res = <-got:
	case <-ctx.Done():
		res.err = ctx.Err()
	}
	res.begun, res.sent = in.abandon()
	if !res.begun && res.exit < 0 {
		return result{}, &UnreachableError{Pod: t.name(), Err: res.why()}
	}
	return res, nil
}

func (p *Pool) stream(ctx context.Context, t Target, x exchange, in *input) result {
	// What goes wrong is in the result; the library would log it as well.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	stdout := &output{w: gate.Window{Max: x.outMax}}
	if x.mark != "" {
		stdout.mark, stdout.marked = []byte(x.mark), in.release
	}
	stderr := &output{w: gate.Window{Max: stderrMax, Last: true}}
	executor, err := p.executor(t, x.argv)
	if err == nil {
		err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: stdout, Stderr: stderr})
	}
	res := result{exit: -1, stdout: stdout.bytes(), stderr: stderr.bytes()}
	var exit exec.CodeExitError
	switch {
	case err == nil:
		res.exit = 0
	case errors.As(err, &exit):
		res.exit = exit.Code
	default:
		res.err = oneLine(err)
	}
	return res
}

// executor speaks to the API server. It serves one exchange.
func (p *Pool) executor(t Target, argv []string) (remotecommand.Executor, error) {
	u, _, err := rest.DefaultServerUrlFor(p.cfg)
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	u = u.JoinPath("api", "v1", "namespaces", t.Namespace, "pods", t.Pod, "exec")
	u.RawQuery = url.Values{"container": {t.Container}, "command": argv, "stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"}}.Encode()
	socket, err := remotecommand.NewWebSocketExecutor(p.cfg, "GET", u.String())
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(p.cfg, "POST", u)
	if err != nil {
		return nil, err
	}
	// Nothing was sent over a connection that was not upgraded.
	return remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}

// oneLine bounds an error's text, which may hold a whole response.
func oneLine(err error) error {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if len(s) > 512 {
		s = s[:512] + "..."
	}
	if s == err.Error() {
		return err
	}
	return &shortError{s, err}
}

type shortError struct {
	text string
	err  error
}

func (e *shortError) Error() string { return e.text }
func (e *shortError) Unwrap() error { return e.err }
