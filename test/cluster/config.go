package cluster

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gluster/anthill/test/image"
	"github.com/gluster/anthill/test/local"
)

// Limits of a Config.
const (
	NodesMax  = 16 // as many as the pods' range has parts
	nodesLess = 1
)

// Defaults of a Config.
const (
	nodesDefault     = 3
	memoryMiBDefault = 3072
)

// kubeconfigVariable names the cluster to use instead of one of our own.
const kubeconfigVariable = "KUBECONFIG"

// instancePrefix keeps a cluster and the servers of package local, of one
// checkout and instance, apart.
const instancePrefix = "k-"

// A Config says which cluster is meant and what should run in it.
type Config struct {
	// Checkout is the root of the source tree; found from the working directory
	// when empty. Together with Instance it names the cluster.
	Checkout string
	// Instance tells clusters of one checkout apart: lower-case letters, digits and
	// dashes, at most 18. May be empty.
	Instance string

	Nodes     int // default 3, at most NodesMax
	MemoryMiB int // what the pods of one node may use together, default 3072

	// Suites are the Debians, and so the versions of GlusterFS, of the node images
	// that all nodes get: image.Gluster10 when empty.
	Suites []string

	Servers int // GlusterFS servers outside Kubernetes beside the nodes, default none

	// Fresh takes down what exists first. Without it Up keeps what runs, and brings
	// back what was killed, stopped or cut off.
	Fresh bool
	// KeepFailed leaves a half-failed Up as it is, to be looked at.
	KeepFailed bool

	// Log gets one line per thing done or waited for. Must be safe for concurrent
	// use; nil discards.
	Log func(line string)
}

// errTooMany is returned for what a machine cannot hold.
var errTooMany = errors.New("out of range")

// withDefaults returns c complete and checked.
func (c Config) withDefaults() (Config, error) {
	if c.Nodes == 0 {
		c.Nodes = nodesDefault
	}
	if c.MemoryMiB == 0 {
		c.MemoryMiB = memoryMiBDefault
	}
	if len(c.Suites) == 0 {
		c.Suites = []string{image.Gluster10}
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	if c.Nodes < nodesLess || c.Nodes > NodesMax {
		return c, fmt.Errorf("%d nodes: want %d to %d: %w", c.Nodes, nodesLess, NodesMax, errTooMany)
	}
	return c, nil
}

// local is the configuration of the environment underneath.
func (c Config) local() local.Config {
	return local.Config{
		Checkout: c.Checkout, Instance: instancePrefix + c.Instance, Servers: c.Servers,
		APIServer: true, Audit: true, Kubelets: true, Fresh: c.Fresh, KeepFailed: c.KeepFailed, Log: c.Log,
	}
}

func (c Config) logf(format string, args ...any) { c.Log(fmt.Sprintf(format, args...)) }

// foreign is the kubeconfig of somebody's cluster, if one is given.
func foreign() string { return strings.TrimSpace(os.Getenv(kubeconfigVariable)) }
