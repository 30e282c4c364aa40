package ssh

import (
	"fmt"
	"strings"
)

// An UnreachableError: no ssh server answered at the address, or the
// connection was lost before the login was through.
type UnreachableError struct {
	Addr string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("reaching %s by ssh: %v", e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// NotStarted is true.
func (e *UnreachableError) NotStarted() bool { return true }

// A HostKeyError: the server shows another host key than the ones given. It is
// either another machine or one that was installed anew.
type HostKeyError struct {
	Addr string
	Want []string // fingerprints of the given keys, SHA256:...
	Got  string   // fingerprint of what was shown; empty: none of the wanted types
	Type string   // of the key shown
	Text string   // a particular reason, such as a revoked key
}

func (e *HostKeyError) Error() string {
	got := "no host key of a wanted type"
	if e.Got != "" {
		got = e.Type + " " + e.Got
	}
	s := fmt.Sprintf("host key of %s: shows %s, wanted %s", e.Addr, got, strings.Join(e.Want, " or "))
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// NotStarted is true.
func (e *HostKeyError) NotStarted() bool { return true }

// A LoginError: the server refuses the user, or the key for that user.
type LoginError struct {
	User, Addr string
	Key        string // fingerprint of our public key
	Err        error
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("logging in at %s as %s with key %s: refused", e.Addr, e.User, e.Key)
}

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// NotStarted is true.
func (e *LoginError) NotStarted() bool { return true }

// A KeyError: the private key or the host keys of an endpoint are of no use.
// Nobody was contacted.
type KeyError struct {
	What string // "private key" or "host keys"
	Text string // never holds key material
}

func (e *KeyError) Error() string { return fmt.Sprintf("reading the %s: %s", e.What, e.Text) }

// NotStarted is true.
func (e *KeyError) NotStarted() bool { return true }
