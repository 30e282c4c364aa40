// Package probefirst makes "anthill node ready" and "anthill node alive" answer
// before the rest of the binary is initialised, in the way and for the reason
// that package gatefirst says: a kubelet asks every few seconds.
package probefirst

import (
	"context"
	"os"

	"github.com/gluster/anthill/executor/node/probe"
)

func init() {
	if verb := Wanted(os.Args); verb != "" {
		os.Exit(probe.Main(context.Background(), verb, os.Stderr))
	}
}

// Wanted is the probe that a command line asks for, if it asks for nothing else;
// empty otherwise.
func Wanted(args []string) string {
	if len(args) != 3 || args[1] != "node" {
		return ""
	}
	switch args[2] {
	case probe.VerbReady, probe.VerbAlive:
		return args[2]
	}
	return ""
}
