package probe

import (
	"context"
	"fmt"
	"io"
)

// Verb of the command that carries out a liveness probe.
const Verb = "alive"

// Main carries out a liveness probe and returns the exit code, with the reason on
// errOut.
func Main(ctx context.Context, errOut io.Writer) int {
	if err := Alive(ctx, Socket); err != nil {
		fmt.Fprintln(errOut, "anthill:", err)
		return 1
	}
	return 0
}
