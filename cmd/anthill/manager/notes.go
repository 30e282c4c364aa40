package manager

import (
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/controller"
)

// waits shows the executor to the controllers.
type waits struct {
	engine *executor.Engine
	fences *executor.Fences
}

var _ controller.Executor = waits{}

// Notes are what open operations wait for.
func (w waits) Notes() map[journal.OpID]controller.Note {
	notes := w.engine.Notes()
	out := make(map[journal.OpID]controller.Note, len(notes))
	for id, n := range notes {
		out[id] = controller.Note{Reason: n.Reason, Text: n.Text}
	}
	return out
}

// FenceProblem says why a pool must not be changed.
func (w waits) FenceProblem(scope string) (reason, message string) {
	return w.engine.FenceProblem(scope)
}

// Forget lets a pool be tried again: first the fence, then the lane that would
// ask for it.
func (w waits) Forget(scope string) {
	w.fences.Forget(scope)
	w.engine.Forget(scope)
}
