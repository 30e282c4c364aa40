package ssh

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// A conn is one connection that is logged in.
type conn struct {
	addr   string
	raw    *countingConn
	client *ssh.Client
	slots  chan struct{} // one per open session
	done   chan struct{} // closed when the connection is gone

	// Guarded by Pool.mu.
	users int
	used  time.Time
}

// cut ends the connection and everything that waits on it. Closing the ssh
// layer would wait for a server that may be gone; closing TCP does not.
func (c *conn) cut() { _ = c.raw.Close() }

// answers asks the server for a sign of life and waits for one: the answer, or
// anything else, for an answer stands in line behind an upload.
func (c *conn) answers(wait time.Duration) bool {
	replied := make(chan error, 1)
	go func() {
		// sshd does not know the request and says so, which is all we want.
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		replied <- err
	}()
	for seen := c.raw.reads.Load(); ; {
		select {
		case err := <-replied:
			return err == nil
		case <-time.After(wait):
			now := c.raw.reads.Load()
			if now == seen {
				return false
			}
			seen = now
		}
	}
}

// A countingConn counts the reads that brought something.
type countingConn struct {
	net.Conn
	reads atomic.Uint64
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.reads.Add(1)
	}
	return n, err
}

// dial connects and logs in. The error is one of the typed ones.
func dial(ctx context.Context, ep Endpoint, o Options) (*conn, error) {
	signer, err := parseKey(ep.PrivateKeyPEM)
	if err != nil {
		return nil, err
	}
	keys, err := parseHostKeys(ep.HostKeys, ep.Host, ep.port())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.DialWait)
	defer cancel()
	tcp, err := o.Dial(ctx, "tcp", ep.addr())
	if err != nil {
		return nil, &UnreachableError{Addr: ep.addr(), Err: err}
	}
	raw := &countingConn{Conn: tcp}
	// The handshake knows no context: closing the connection ends it.
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()

	var shown error
	trusted := false
	sc, chans, reqs, err := ssh.NewClientConn(raw, ep.addr(), &ssh.ClientConfig{
		User:              ep.user(),
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyAlgorithms: keys.algorithms(),
		ClientVersion:     "SSH-2.0-anthill",
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			shown = keys.check(ep.addr(), key)
			trusted = shown == nil
			return shown
		},
	})
	if err == nil && !stop() {
		err = ctx.Err() // the deadline came in just now and closed it
	}
	if err != nil {
		raw.Close()
		return nil, handshakeError(ctx, err, shown, trusted, ep, keys, signer)
	}
	return &conn{
		addr: ep.addr(), raw: raw, client: ssh.NewClient(sc, chans, reqs),
		slots: make(chan struct{}, o.Sessions), done: make(chan struct{}), used: time.Now(),
	}, nil
}

// handshakeError says at which gatepost the handshake failed: the host key, the
// login, or the connection itself.
func handshakeError(ctx context.Context, err, shown error, trusted bool, ep Endpoint, keys hostKeys, s ssh.Signer) error {
	if shown != nil {
		return shown
	}
	var algo *ssh.AlgorithmNegotiationError
	if errors.As(err, &algo) && algo.What == "host key" {
		return &HostKeyError{Addr: ep.addr(), Want: keys.fingerprints()}
	}
	if ctx.Err() != nil {
		return &UnreachableError{Addr: ep.addr(), Err: ctx.Err()}
	}
	if trusted && !lostConnection(err) {
		return &LoginError{User: ep.user(), Addr: ep.addr(), Key: ssh.FingerprintSHA256(s.PublicKey()), Err: err}
	}
	return &UnreachableError{Addr: ep.addr(), Err: err}
}

func lostConnection(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &ne)
}

// parseKey reads a private key. Parser texts are not passed on: they may quote
// what they read.
func parseKey(pem []byte) (ssh.Signer, error) {
	s, err := ssh.ParsePrivateKey(pem)
	if err == nil {
		return s, nil
	}
	text := "it is not a private key in OpenSSH or PEM form"
	var locked *ssh.PassphraseMissingError
	switch {
	case len(pem) == 0:
		text = "it is empty"
	case errors.As(err, &locked):
		text = "it is locked with a passphrase"
	}
	return nil, &KeyError{What: "private key", Text: text}
}
