package kube

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/ssh"
)

// SSH reaches servers over ssh.
type SSH struct{ Pool *ssh.Pool }

var (
	_ Dialer = SSH{}
	_ Dialer = Unix{}
)

// NeedsLogin is true.
func (SSH) NeedsLogin() bool { return true }

// Server makes an endpoint of the node's spec and its Secret.
func (d SSH) Server(n *v1alpha1.GlusterNode, login *Login) (gate.Server, error) {
	e := n.Spec.External
	keys := make([]string, 0, len(e.SSH.HostKeys)+4)
	for _, k := range e.SSH.HostKeys {
		keys = append(keys, string(k))
	}
	for line := range strings.Lines(string(login.KnownHosts)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	if len(keys) == 0 {
		return nil, &Problem{v1alpha1.ReasonHostKeyMissing,
			"no host key is given for the server: add one to spec.external.ssh.hostKeys, or known_hosts to the Secret"}
	}
	return d.Pool.Server(ssh.Endpoint{
		Host: e.SSHHost(), Port: int(e.SSHPort()), User: e.SSHUser(), PrivateKeyPEM: login.PrivateKey, HostKeys: keys,
	}), nil
}

// Unix reaches each server's gate on a unix socket Dir/<address>.sock. It is
// for an operator on the same machine as its servers, and for tests.
type Unix struct{ Dir string }

// NeedsLogin is false: who may open the socket may speak to the gate.
func (Unix) NeedsLogin() bool { return false }

// Server names the socket.
func (d Unix) Server(n *v1alpha1.GlusterNode, _ *Login) (gate.Server, error) {
	return gate.DialUnix(filepath.Join(d.Dir, n.Address()+".sock")), nil
}

// ProblemOf names an error of reaching a server as a condition does.
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	reason := v1alpha1.ReasonServerUnreachable
	var (
		hostKey *ssh.HostKeyError
		login   *ssh.LoginError
		key     *ssh.KeyError
		install *gate.InstallError
		fenced  *gate.FencedError
	)
	switch {
	case errors.As(err, &hostKey):
		reason = v1alpha1.ReasonHostKeyMismatch
	case errors.As(err, &login):
		reason = v1alpha1.ReasonLoginRefused
	case errors.As(err, &key):
		reason = v1alpha1.ReasonSecretInvalid
		if key.What == "host keys" {
			reason = v1alpha1.ReasonHostKeyMissing
		}
	case errors.As(err, &install):
		reason = v1alpha1.ReasonGateFailed
	case errors.As(err, &fenced) && fenced.Reason == gate.ReasonForeignPool:
		reason = v1alpha1.ReasonServerClaimed
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{reason, "the server did not answer in time"}
	}
	return &Problem{reason, err.Error()}
}
