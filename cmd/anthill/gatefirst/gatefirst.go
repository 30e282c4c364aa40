// Package gatefirst makes "anthill node gate", and the same binary called
// "gate", serve its one request before the rest of the binary is initialised.
//
// The gate is started for every look at a server, and initialising the
// Kubernetes libraries the manager needs takes several times as long as the
// gate itself; a binary cannot leave parts of itself out. But Go initialises
// the packages that are ready in the order of their import paths. This one
// imports nothing but the gate, so it is ready as soon as the standard library
// is, long before the schemes, clients and metrics that cost the time. So it
// takes over in its own init.
//
// A test asserts that none of the expensive packages was initialised.
package gatefirst

import (
	"os"
	"path/filepath"

	"github.com/gluster/anthill/executor/gate"
)

func init() {
	if Wanted(os.Args) {
		os.Exit(gate.Main())
	}
}

// Wanted reports whether a command line asks for the gate and nothing else:
// "anthill node gate", or the binary under the gate's own name without
// arguments. Anything more, --help for one, is for the ordinary command line.
func Wanted(args []string) bool {
	switch len(args) {
	case 1:
		return filepath.Base(args[0]) == filepath.Base(gate.BinaryPath)
	case 3:
		return args[1] == "node" && args[2] == "gate"
	}
	return false
}
