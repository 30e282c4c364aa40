package local

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/gluster/anthill/test/atomicfile"
)

// sshdConfig is the configuration of each server's sshd. A server's /etc has no
// PAM; its names come from the hosts file.
const sshdConfig = `Port 22
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PidFile none
UsePAM no
UseDNS no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
LogLevel VERBOSE
`

// SSHKey is the private key that all servers accept for root, PEM.
func (e *Env) SSHKey() ([]byte, error) {
	data, err := os.ReadFile(e.SSHKeyFile())
	if err != nil {
		return nil, fmt.Errorf("reading the ssh key: %w", err)
	}
	return data, nil
}

// SSHKeyFile is the file with that key, for ssh -i.
func (e *Env) SSHKeyFile() string { return filepath.Join(e.dir, "ssh", "id_ed25519") }

// configureSSH gives the server its host key and the environment's key.
func (s *Server) configureSSH() error {
	dir := filepath.Join(s.Root(), "etc/ssh")
	if err := makeKeyPair(filepath.Join(dir, "ssh_host_ed25519_key")); err != nil {
		return fmt.Errorf("configuring sshd of %s: %w", s.name, err)
	}
	public, err := os.ReadFile(s.env.SSHKeyFile() + ".pub")
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, "authorized_keys"), append([]byte("restrict "), public...), 0o600)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, "sshd_config"), []byte(sshdConfig), 0o644)
	}
	if err != nil {
		return fmt.Errorf("configuring sshd of %s: %w", s.name, err)
	}
	return nil
}

// makeKeyPair writes an ed25519 key in OpenSSH's form to file and file.pub,
// unless it is there.
func makeKeyPair(file string) error {
	if _, err := os.Stat(file + ".pub"); err == nil {
		return nil
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("making key %q: %w", file, err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return fmt.Errorf("making key %q: %w", file, err)
	}
	line, err := ssh.NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("making key %q: %w", file, err)
	}
	text := append(bytes.TrimSpace(ssh.MarshalAuthorizedKey(line)), '\n')
	// The public half last: it says that the pair is complete.
	return errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		atomicfile.Write(file, pem.EncodeToMemory(block), 0o600),
		atomicfile.Write(file+".pub", text, 0o644),
	)
}
