package manager

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// gateName is the program beside this one that is preferred as gate: a small
// one, which is carried to every server.
const gateName = "anthill-gate"

// A GateFile is the program that servers get as their gate. It is read when it
// is needed and not kept in memory; it must not be replaced while the process
// runs, which Binary notices.
type GateFile struct {
	Path   string
	Digest string // SHA-256, in hex
}

// NewGateFile finds the gate's program: path, or when that is empty the default.
func NewGateFile(path string) (*GateFile, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), gateName)
		if _, err := os.Stat(path); err != nil {
			path = self
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the gate's program: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, fmt.Errorf("reading the gate's program %q: %w", path, err)
	}
	return &GateFile{Path: path, Digest: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Binary reads the program.
func (g *GateFile) Binary() ([]byte, error) {
	b, err := os.ReadFile(g.Path)
	if err != nil {
		return nil, fmt.Errorf("reading the gate's program: %w", err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != g.Digest {
		return nil, fmt.Errorf("the gate's program %q was replaced since this process started: restart it", g.Path)
	}
	return b, nil
}
