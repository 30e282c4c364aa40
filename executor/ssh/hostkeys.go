package ssh

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what OpenSSH hashes host names with, a format and no protection here
	"encoding/base64"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// hostKeys are the keys one server may show.
type hostKeys struct {
	want    []ssh.PublicKey
	revoked []ssh.PublicKey
}

const hostKeyLinesMax = 1024

// parseHostKeys reads the lines that speak of host and port. A known_hosts line
// counts if one of its patterns fits, an authorized_keys line ("type base64")
// always. Certificates are refused: nothing here could revoke one.
func parseHostKeys(lines []string, host string, port int) (hostKeys, error) {
	var hk hostKeys
	bad := func(format string, args ...any) (hostKeys, error) {
		return hostKeys{}, &KeyError{What: "host keys", Text: fmt.Sprintf(format, args...)}
	}
	n := 0
	for _, text := range lines {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if n++; n > hostKeyLinesMax {
				return bad("more than %d lines", hostKeyLinesMax)
			}
			if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil && strings.HasPrefix(line, key.Type()+" ") {
				hk.want = append(hk.want, key)
				continue
			}
			marker, hosts, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
			if err != nil {
				return bad("line %d is neither a known_hosts nor an authorized_keys line", n)
			}
			if !hostFits(hosts, host, port) {
				continue
			}
			switch marker {
			case "":
				hk.want = append(hk.want, key)
			case "revoked":
				hk.revoked = append(hk.revoked, key)
			default:
				return bad("line %d: marker @%s is not supported, give the host's own key", n, marker)
			}
		}
	}
	if len(hk.want) == 0 {
		return bad("none is given for %s, and none is trusted on first use; ssh-keyscan on a safe network prints them", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	return hk, nil
}

// hostFits matches the patterns of a known_hosts line: plain, [host]:port,
// hashed, wildcards and negation, as sshd(8) has them.
func hostFits(patterns []string, host string, port int) bool {
	name := strings.ToLower(host)
	if port != 22 {
		name = fmt.Sprintf("[%s]:%d", name, port)
	}
	fits := false
	for _, p := range patterns {
		negated := strings.HasPrefix(p, "!")
		p = strings.TrimPrefix(p, "!")
		if !patternFits(p, name) {
			continue
		}
		if negated {
			return false
		}
		fits = true
	}
	return fits
}

func patternFits(p, name string) bool {
	if strings.HasPrefix(p, "|1|") {
		f := strings.Split(p, "|")
		if len(f) != 4 {
			return false
		}
		salt, err1 := base64.StdEncoding.DecodeString(f[2])
		sum, err2 := base64.StdEncoding.DecodeString(f[3])
		if err1 != nil || err2 != nil {
			return false
		}
		h := hmac.New(sha1.New, salt)
		h.Write([]byte(name))
		return hmac.Equal(h.Sum(nil), sum)
	}
	p = strings.ToLower(p)
	if p == name {
		return true
	}
	// Brackets are part of the name here, not a class of characters.
	glob := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(p)
	ok, err := path.Match(glob, name)
	return err == nil && ok
}

// algorithms are those the server may prove itself with: without them it would
// pick a type of key we do not have, and a right server would look wrong.
func (hk hostKeys) algorithms() []string {
	var out []string
	for _, k := range hk.want {
		add := []string{k.Type()}
		if k.Type() == ssh.KeyAlgoRSA {
			add = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		}
		for _, a := range add {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// check compares the key shown at addr.
func (hk hostKeys) check(addr string, key ssh.PublicKey) error {
	same := func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) }
	e := &HostKeyError{Addr: addr, Want: hk.fingerprints(), Got: ssh.FingerprintSHA256(key), Type: key.Type()}
	if slices.ContainsFunc(hk.revoked, same) {
		e.Text = "the key is marked as revoked"
		return e
	}
	if slices.ContainsFunc(hk.want, same) {
		return nil
	}
	return e
}

func (hk hostKeys) fingerprints() []string {
	var out []string
	for _, k := range hk.want {
		out = append(out, ssh.FingerprintSHA256(k))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
