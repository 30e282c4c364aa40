// Package gatefirst makes "anthill node gate", and the same binary called
// "gate", serve its one request before the rest of the binary is initialised.
//
// The gate is started for every look at a server. The Kubernetes libraries the
// manager needs take several times as long to initialise as the gate takes to
// answer, and a binary cannot leave parts of itself out. But Go initialises
// packages in the order of their import paths, each as soon as its imports
// are, and this package imports nothing but the gate; its path comes before
// those of the libraries. So it takes over in its own init.
//
// A test asserts that none of those libraries was initialised.
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
