package podexec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/executor/gate"
)

// Exit codes of a shell that could not run the command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// stdoutMax leaves room for the mark, and whatever else precedes a reply.
const stdoutMax = gate.ReplyBytesMax + 512<<10

// begins is what the shell says before it becomes the gate.
const begins = "anthill-exec-begins"

// gateArgv is constant. Through a shell, a gate that is missing is exit 127 and
// not an error of the container's runtime, of which nobody knows the text.
func gateArgv() []string {
	return []string{"/bin/sh", "-c", "echo " + begins + "; exec " + gate.BinaryPath}
}

// A server is the gate in one container.
type server struct {
	pool   *Pool
	target Target
}

var (
	_ gate.Server  = (*server)(nil)
	_ gate.Watcher = (*server)(nil)
)

// Do implements gate.Transport.
func (s *server) Do(ctx context.Context, req gate.Request) (gate.Reply, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return gate.Reply{}, fmt.Errorf("%w: encoding the request: %w", gate.ErrNotStarted, err)
	}
	if len(b) > gate.RequestBytesMax {
		return gate.Reply{}, fmt.Errorf("%w: the request of %d bytes is larger than %d", gate.ErrNotStarted, len(b), gate.RequestBytesMax)
	}
	res, err := s.pool.run(ctx, s.target, exchange{argv: gateArgv(), input: b, outMax: stdoutMax, mark: begins})
	if err != nil {
		return gate.Reply{}, err
	}
	rep, err := gate.Decode(bytes.NewReader(res.stdout))
	switch {
	case err == nil:
		return rep, nil
	case res.exit == exitNotFound || res.exit == exitNotExecutable:
		return gate.Reply{}, fmt.Errorf("pod %s: %w", s.target.name(), gate.ErrNotInstalled)
	case !res.begun:
		// The gate does nothing on half a request.
		return gate.Reply{}, &UnreachableError{Pod: s.target.name(), Err: res.why()}
	}
	return gate.Reply{}, fmt.Errorf("reading the reply of pod %s: %w: %w", s.target.name(), err, res.why())
}

// Install implements gate.Installer. The error is a gate.InstallError when the
// installer itself failed.
func (s *server) Install(ctx context.Context, binary []byte) error {
	if err := gate.CheckBinary(binary); err != nil {
		return fmt.Errorf("installing the gate in pod %s: %w", s.target.name(), err)
	}
	res, err := s.pool.run(ctx, s.target, exchange{argv: gate.InstallArgv(), input: gate.InstallInput(binary), outMax: 64 << 10})
	if err != nil {
		return fmt.Errorf("installing the gate: %w", err)
	}
	if res.exit > 0 {
		return &gate.InstallError{Addr: "pod " + s.target.name(), Exit: res.exit, Text: gate.LastLine(res.stderr)}
	}
	if res.exit != 0 || !res.sent || !gate.InstalledIn(res.stdout) {
		return fmt.Errorf("installing the gate in pod %s: no confirmation: %w", s.target.name(), res.why())
	}
	return nil
}

// Installing implements gate.Watcher.
func (s *server) Installing(ctx context.Context) (bool, error) {
	res, err := s.pool.run(ctx, s.target, exchange{argv: gate.InstallingArgv(), outMax: 64 << 10})
	if err != nil {
		return false, fmt.Errorf("asking for an installation: %w", err)
	}
	underWay, ok := gate.InstallingIn(res.stdout)
	if !ok {
		return false, fmt.Errorf("asking pod %s for an installation: no answer: %w", s.target.name(), res.why())
	}
	return underWay, nil
}
