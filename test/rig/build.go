package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Operators and their gates are built as `make build` does it.
const (
	operatorPackage = "./cmd/anthill"
	gatePackage     = "./executor/gate/cmd/anthill-gate"

	// writerPackage is of the module test.
	writerPackage = "./local/writer/cmd/writer"
)

// Build builds the operator, and beside it the gate it installs on servers,
// into dir, and returns the operator's path. Go's cache makes a second build
// quick.
func Build(ctx context.Context, checkout, dir string) (string, error) {
	if _, err := build(ctx, checkout, gatePackage, dir); err != nil {
		return "", err
	}
	return build(ctx, checkout, operatorPackage, dir)
}

// BuildWriter builds the program that writes and re-reads files on a volume into
// dir and returns its path.
func BuildWriter(ctx context.Context, checkout, dir string) (string, error) {
	return build(ctx, filepath.Join(checkout, "test"), writerPackage, dir)
}

// build builds a command of a module, statically, into dir and returns its
// path.
func build(ctx context.Context, module, pkg, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("building %s: %w", pkg, err)
	}
	out := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", pkg, err, strings.TrimSpace(string(text)))
	}
	return out, nil
}
