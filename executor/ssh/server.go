package ssh

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

// stdoutMax leaves room for what a login shell prints before a reply.
const stdoutMax = gate.ReplyBytesMax + 512<<10

// A server is one endpoint's gate.
type server struct {
	pool *Pool
	ep   Endpoint
}

var _ gate.Server = (*server)(nil)

// Do implements gate.Transport.
func (s *server) Do(ctx context.Context, req gate.Request) (gate.Reply, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return gate.Reply{}, fmt.Errorf("%w: encoding the request: %w", gate.ErrNotStarted, err)
	}
	if len(b) > gate.RequestBytesMax {
		return gate.Reply{}, fmt.Errorf("%w: the request of %d bytes is larger than %d", gate.ErrNotStarted, len(b), gate.RequestBytesMax)
	}
	res, err := s.pool.run(ctx, s.ep, &exchange{command: gate.BinaryPath, input: b, outMax: stdoutMax})
	if err != nil {
		return gate.Reply{}, err
	}
	rep, err := gate.Decode(bytes.NewReader(res.stdout))
	switch {
	case err == nil:
		return rep, nil
	case res.exit == exitNotFound || res.exit == exitNotExecutable:
		return gate.Reply{}, fmt.Errorf("%s: %w", s.ep.addr(), gate.ErrNotInstalled)
	case !res.sent:
		// The gate does nothing on half a request.
		return gate.Reply{}, &UnreachableError{Addr: s.ep.addr(), Err: fmt.Errorf("sending the request: %w", res.why())}
	}
	return gate.Reply{}, fmt.Errorf("reading the reply of %s: %w: %w", s.ep.addr(), err, res.why())
}

// why says how the command ended, for a reply that did not come.
func (r result) why() error {
	if r.err != nil {
		return r.err
	}
	return fmt.Errorf("the command ended with %d%s", r.exit, said(r.stderr))
}

// installCommand runs in a plain shell whatever the login shell is.
var installCommand = gate.ShellLine(gate.InstallArgv())

// Install implements gate.Installer. The error is a gate.InstallError when the
// installer itself failed.
func (s *server) Install(ctx context.Context, binary []byte) error {
	if err := gate.CheckBinary(binary); err != nil {
		return fmt.Errorf("installing the gate on %s: %w", s.ep.addr(), err)
	}
	res, err := s.pool.run(ctx, s.ep, &exchange{
		command: installCommand, input: gate.InstallInput(binary), outMax: 64 << 10, abort: true,
	})
	if err != nil {
		return fmt.Errorf("installing the gate: %w", err)
	}
	if res.exit > 0 {
		return &gate.InstallError{Addr: s.ep.addr(), Exit: res.exit, Text: gate.LastLine(res.stderr)}
	}
	if res.exit != 0 || !res.sent || !gate.InstalledIn(res.stdout) {
		return fmt.Errorf("installing the gate on %s: no confirmation: %w", s.ep.addr(), res.why())
	}
	return nil
}

var installingCommand = gate.ShellLine(gate.InstallingArgv())

var _ gate.Watcher = (*server)(nil)

// Installing implements gate.Watcher.
func (s *server) Installing(ctx context.Context) (bool, error) {
	res, err := s.pool.run(ctx, s.ep, &exchange{command: installingCommand, outMax: 64 << 10, abort: true})
	if err != nil {
		return false, fmt.Errorf("asking for an installation: %w", err)
	}
	underWay, ok := gate.InstallingIn(res.stdout)
	if !ok {
		return false, fmt.Errorf("asking %s for an installation: no answer: %w", s.ep.addr(), res.why())
	}
	return underWay, nil
}

// said is the last line of an error output, with ": " before it.
func said(b []byte) string {
	if line := gate.LastLine(b); line != "" {
		return ": " + line
	}
	return ""
}
