package ssh

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the installer
	"encoding/json"
	"fmt"
	"strings"

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

// installScript is constant; the digest and the gate arrive on its input.
//
//go:embed install.sh
var installScript string

// installCommand runs the script in a plain shell whatever the login shell is:
// the script has no single quote.
var installCommand = "exec /bin/sh -c '" + installScript + "'"

// Install implements gate.Installer: it puts the gate at gate.BinaryPath and
// makes gate.StateDir, both by root. The file is complete and synced before it
// gets its name; an upload that breaks off leaves nothing, as soon as the server
// has noticed. The error is an
// InstallError when the installer itself failed.
func (s *server) Install(ctx context.Context, binary []byte) error {
	if len(binary) == 0 || len(binary) > gate.BinaryBytesMax {
		return fmt.Errorf("installing the gate on %s: %w: %d bytes are not within 1 and %d", s.ep.addr(), gate.ErrNotStarted, len(binary), gate.BinaryBytesMax)
	}
	input := fmt.Appendf(nil, "%x\n", sha256.Sum256(binary))
	res, err := s.pool.run(ctx, s.ep, &exchange{
		command: installCommand, input: append(input, binary...), outMax: 64 << 10, abort: true,
	})
	if err != nil {
		return fmt.Errorf("installing the gate: %w", err)
	}
	if res.exit > 0 {
		return &InstallError{Addr: s.ep.addr(), Exit: res.exit, Text: strings.TrimPrefix(said(res.stderr), ": ")}
	}
	if res.exit != 0 || !res.sent || !bytes.Contains(res.stdout, []byte("anthill-gate-installed")) {
		return fmt.Errorf("installing the gate on %s: no confirmation: %w", s.ep.addr(), res.why())
	}
	return nil
}

// installingScript is constant.
//
//go:embed installing.sh
var installingScript string

var installingCommand = "exec /bin/sh -c '" + installingScript + "'"

var _ gate.Watcher = (*server)(nil)

// Installing implements gate.Watcher.
func (s *server) Installing(ctx context.Context) (bool, error) {
	res, err := s.pool.run(ctx, s.ep, &exchange{command: installingCommand, outMax: 64 << 10, abort: true})
	switch {
	case err != nil:
		return false, fmt.Errorf("asking for an installation: %w", err)
	case bytes.Contains(res.stdout, []byte("anthill-gate-under-way")):
		return true, nil
	case bytes.Contains(res.stdout, []byte("anthill-gate-at-rest")):
		return false, nil
	}
	return false, fmt.Errorf("asking %s for an installation: no answer: %w", s.ep.addr(), res.why())
}

// said is the last line of an error output, bounded, with ": " before it.
func said(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	line := strings.Join(strings.Fields(lines[len(lines)-1]), " ")
	if line == "" {
		return ""
	}
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return ": " + line
}
