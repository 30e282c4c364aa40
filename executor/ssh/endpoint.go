package ssh

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
)

// An Endpoint is how one server is reached. It is compared by value: a changed
// key or host key means a new connection.
type Endpoint struct {
	Host          string   // name or address
	Port          int      // default 22
	User          string   // default root; the gate needs root
	PrivateKeyPEM []byte   // OpenSSH or PEM, without passphrase; a secret
	HostKeys      []string // known_hosts or authorized_keys lines; at least one must fit the host
}

func (e Endpoint) port() int {
	if e.Port == 0 {
		return 22
	}
	return e.Port
}

func (e Endpoint) user() string {
	if e.User == "" {
		return "root"
	}
	return e.User
}

// addr is what is dialled.
func (e Endpoint) addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.port())) }

// String is user@host:port.
func (e Endpoint) String() string { return e.user() + "@" + e.addr() }

// Format prints String for every verb: %+v and %#v too must not show the key.
func (e Endpoint) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText keeps the key out of structured logs.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// key tells endpoints apart without holding the secret.
func (e Endpoint) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %q %d:", e.Host, e.port(), e.user(), len(e.PrivateKeyPEM))
	h.Write(e.PrivateKeyPEM)
	for _, k := range e.HostKeys {
		fmt.Fprintf(h, " %q", k)
	}
	return hex.EncodeToString(h.Sum(nil))
}
