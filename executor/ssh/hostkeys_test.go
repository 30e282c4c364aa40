package ssh

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

func TestParseHostKeys(t *testing.T) {
	a, b := newKey(t), newKey(t)
	cases := map[string]struct {
		reason string
		lines  []string
		host   string
		port   int
		want   []keyPair
		err    bool
	}{
		"Authorized":   {"a bare key is for the host it is given for", []string{a.line}, "n1", 22, []keyPair{a}, false},
		"Comment":      {"with a comment, and empty lines", []string{"# ours\n\n" + a.line + " root@n1\n"}, "n1", 22, []keyPair{a}, false},
		"Known":        {"a known_hosts line", []string{"n1 " + a.line}, "n1", 22, []keyPair{a}, false},
		"KnownMany":    {"several names and files", []string{"n0,n1,10.0.0.1 " + a.line + "\nn1 " + b.line}, "n1", 22, []keyPair{a, b}, false},
		"KnownCase":    {"names have no case", []string{"N1.Example " + a.line}, "n1.example", 22, []keyPair{a}, false},
		"KnownPort":    {"another port is another name", []string{"[n1]:2222 " + a.line, "n1 " + b.line}, "n1", 2222, []keyPair{a}, false},
		"KnownPortNot": {"and the other way round", []string{"[n1]:2222 " + a.line, "n1 " + b.line}, "n1", 22, []keyPair{b}, false},
		"Hashed":       {"hashed names", []string{knownhosts.HashHostname("n1") + " " + a.line}, "n1", 22, []keyPair{a}, false},
		"HashedOther":  {"of another host", []string{knownhosts.HashHostname("n2") + " " + a.line}, "n1", 22, nil, true},
		"Wildcard":     {"patterns", []string{"n?.example,*.test " + a.line}, "n1.example", 22, []keyPair{a}, false},
		"Negated":      {"a negation wins", []string{"*.example,!n1.example " + a.line}, "n1.example", 22, nil, true},
		"OtherHost":    {"nothing for this host is no trust", []string{"n2 " + a.line}, "n1", 22, nil, true},
		"None":         {"never trust on first use", nil, "n1", 22, nil, true},
		"Garbage":      {"a line that says nothing is a mistake", []string{a.line, "n1 ssh-ed25519"}, "n1", 22, nil, true},
		"Authority":    {"certificates are not supported", []string{"@cert-authority n1 " + a.line}, "n1", 22, nil, true},
		"AuthorityOther": {"but those of others do not matter", []string{"@cert-authority *.other " + a.line, "n1 " + b.line}, "n1", 22,
			[]keyPair{b}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseHostKeys(tc.lines, tc.host, tc.port)
			if (err != nil) != tc.err {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var ke *KeyError
			if err != nil && !errors.As(err, &ke) {
				t.Errorf("%s: %T", tc.reason, err)
			}
			var want []string
			for _, k := range tc.want {
				want = append(want, ssh.FingerprintSHA256(k.pub))
			}
			slices.Sort(want)
			if f := got.fingerprints(); !slices.Equal(f, want) {
				t.Errorf("%s: %v, want %v", tc.reason, f, want)
			}
		})
	}
	many := strings.Repeat(a.line+"\n", hostKeyLinesMax+1)
	if _, err := parseHostKeys([]string{many}, "n1", 22); err == nil {
		t.Error("endless host keys: accepted")
	}
}

func TestRevokedHostKey(t *testing.T) {
	a, b := newKey(t), newKey(t)
	hk, err := parseHostKeys([]string{a.line, b.line, "@revoked * " + a.line}, "n1", 22)
	if err != nil {
		t.Fatal(err)
	}
	var e *HostKeyError
	if err := hk.check("n1:22", a.pub); !errors.As(err, &e) || e.Text == "" {
		t.Errorf("revoked: %v", err)
	}
	if err := hk.check("n1:22", b.pub); err != nil {
		t.Errorf("not revoked: %v", err)
	}
}

func TestAlgorithmsFollowTheKeys(t *testing.T) {
	const rsa = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQDGmMnuGLoSTaLiGc2ZMnSs9yrpwtBmp1dTGGKlXyS4BTyLTOhnhGAOKJKsJU+m3eyhsBe8CzEgaRHNrRrYbZFb"
	hk, err := parseHostKeys([]string{rsa, newKey(t).line, newKey(t).line}, "n1", 22)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoED25519}
	if got := hk.algorithms(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
