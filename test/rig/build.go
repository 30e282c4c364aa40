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

// build builds a command of the checkout, statically, into dir and returns its
// path.
func build(ctx context.Context, checkout, pkg, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("building %s: %w", pkg, err)
	}
	out := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", pkg, err, strings.TrimSpace(string(text)))
	}
	return out, nil
}
