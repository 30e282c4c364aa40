package probe

import (
	"context"
	"fmt"
	"io"
)

// Verbs of the command.
const (
	VerbReady = "ready"
	VerbAlive = "alive"
)

// Main carries out one probe and returns the exit code, with the reason on
// errOut.
func Main(ctx context.Context, verb string, errOut io.Writer) int {
	var err error
	switch verb {
	case VerbReady:
		err = Ready(ctx, GlusterdSocket)
	case VerbAlive:
		err = Alive(ctx, Socket)
	default:
		err = fmt.Errorf("probe %q is unknown", verb)
	}
	if err != nil {
		fmt.Fprintln(errOut, "anthill:", err)
		return 1
	}
	return 0
}
