// Command anthill-gate is the gate on its own, small enough to be carried to
// every server: one request on standard input, one reply on standard output.
package main

import (
	"os"

	"github.com/gluster/anthill/executor/gate"
)

func main() { os.Exit(gate.Main()) }
