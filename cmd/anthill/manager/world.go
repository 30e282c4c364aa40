package manager

import (
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/observe"
	"github.com/gluster/anthill/executor/steps"
)

// world is what the steps act upon.
type world struct {
	*kube.Roster
	*observe.Cache
	gate     *GateFile
	pods     *kube.Pods
	instance string
}

var _ steps.World = (*world)(nil)

// GateBinary reads the gate's program.
func (w *world) GateBinary() ([]byte, string, error) {
	b, err := w.gate.Binary()
	return b, w.gate.Digest, err
}

// Instance is this operator's name.
func (w *world) Instance() string { return w.instance }

// Pods is what nodes that are pods consist of.
func (w *world) Pods() steps.Pods { return w.pods }
