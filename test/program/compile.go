package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gluster/anthill/test/await"
)

// compileKube builds a package in the module test/kube.
func (p Program) compileKube(ctx context.Context, version, pkg, into string) error {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	// kubectl refuses a server that does not know its own version.
	const at = " -X k8s.io/component-base/version."
	ldflags := "-s -w" + at + "gitVersion=" + version + at + "gitMajor=" + major + at + "gitMinor=" + minor
	return p.run(ctx, into, "build", "-C", filepath.Join(p.checkout, "test/kube"),
		"-ldflags", ldflags, "-o", filepath.Join(into, p.Name), pkg)
}

// install builds a package of a module as that module's own go.mod says.
func (p Program) install(ctx context.Context, version, pkg, into string) error {
	ldflags, tags := "-s -w", p.tags
	if p.cgo {
		// The C library of the machine that builds is not there where it runs.
		ldflags, tags = ldflags+" -extldflags -static", strings.TrimSpace(tags+" netgo osusergo")
	}
	return p.run(ctx, into, "install", "-ldflags", ldflags, "-tags", tags, pkg+"@"+version)
}

// run calls go outside of any module's folder but the one that -C names.
func (p Program) run(ctx context.Context, into string, args ...string) error {
	cgo := "CGO_ENABLED=0"
	if p.cgo {
		cgo = "CGO_ENABLED=1"
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = into
	cmd.Env = append(os.Environ(), cgo, "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOBIN="+into)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, context.Cause(ctx)), await.LastLines(string(out), await.TailLines))
	}
	return nil
}
