package kube

import (
	"context"

	"github.com/gluster/anthill/executor/gate"
)

// A Server is one server of a pool as the custom resources describe it.
type Server struct {
	Node    string   // name of the GlusterNode
	Address string   // name that peers and bricks use
	Dirs    []string // brick directories
	Pod     bool     // its address does not stay, only its name does
	UUID    string   // glusterd's, from the node's status; empty before it belonged to the pool

	// Gate reaches the server; nil when Problem says why it cannot be tried.
	Gate    gate.Server
	Problem *Problem
}

// A Problem is why a server cannot be reached or used, as a condition shows it.
type Problem struct {
	Reason  string // a condition reason of apis/v1alpha1
	Message string
}

func (p *Problem) Error() string { return p.Message }

// NotStarted is true: nothing was sent.
func (p *Problem) NotStarted() bool { return true }

// Servers lists the servers of a pool, sorted by node name.
type Servers interface {
	// Of returns the servers of the pool with this id. An error means that they
	// are not known now, for example because the cluster is not in the cache yet.
	Of(ctx context.Context, pool string) ([]Server, error)
}
