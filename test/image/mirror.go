package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// mirrorMax bounds asking apt what it is configured to use.
const mirrorMax = 30 * time.Second

// errNoMirror is returned on a machine that is no Debian, or whose lists of
// packages were never fetched.
var errNoMirror = errors.New("apt knows no Debian mirror with section main: run apt-get update")

// mirror is the address from which this machine gets Debian's packages.
func mirror(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mirrorMax, fmt.Errorf("not within %v", mirrorMax))
	defer cancel()
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets",
		"--format", "$(LABEL) $(COMPONENT) $(REPO_URI)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("asking apt for the mirror: %w", errors.Join(err, context.Cause(ctx)))
	}
	return pickMirror(out)
}

// pickMirror picks the first main archive of Debian: not its updates for
// security, which are an archive of their own, and not other people's.
func pickMirror(targets []byte) (string, error) {
	for line := range bytes.Lines(targets) {
		if f := strings.Fields(string(line)); len(f) == 3 && f[0] == "Debian" && f[1] == "main" {
			return f[2], nil
		}
	}
	return "", errNoMirror
}
