package controller

import (
	"context"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// An Observer looks at the servers of a pool. It never fails as a whole: what
// could not be seen says so in its place. It returns soon after ctx ends, and
// is called for several clusters at once.
type Observer interface {
	Pool(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed
	// Leaving tells what in Kubernetes the cluster, or volumes of it, depend on
	// that are being deleted. It is asked only when something is.
	Leaving(ctx context.Context, cluster *v1alpha1.GlusterCluster) *planner.Leaving
}

// An ObserverFunc is a function that is an Observer.
type ObserverFunc func(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed

// Pool calls f.
func (f ObserverFunc) Pool(ctx context.Context, cluster *v1alpha1.GlusterCluster, nodes []v1alpha1.GlusterNode) planner.Observed {
	return f(ctx, cluster, nodes)
}

// Leaving is nothing.
func (ObserverFunc) Leaving(context.Context, *v1alpha1.GlusterCluster) *planner.Leaving {
	return &planner.Leaving{}
}

// A Journal takes plans and tells what became of them. *journal.Journal is one.
// Append returns only after the events are durable; its errors are those of
// package journal, of which ErrConflict means: look again.
type Journal interface {
	ID() string
	Head() journal.Head
	Append(ctx context.Context, g journal.Guard, events ...journal.Event) (journal.Seq, error)
	Read(from journal.Seq, max int) ([]journal.Event, error)
	Watch() (<-chan struct{}, func())
}

// A View is the fold of the journal. *view.Tracker is one. What it returns
// includes every append that returned before the call, is shared, and must not
// be changed.
type View interface {
	Snapshot() (view.Picture, error)
	Op(id journal.OpID) (*view.Op, error)
}

// An Executor says why open operations are not moving. Safe for concurrent use.
type Executor interface {
	// Notes are what open operations wait for at this moment.
	Notes() map[journal.OpID]Note
	// FenceProblem says why a pool must not be changed by this operator; both
	// are empty when nothing is known against it.
	FenceProblem(scope string) (reason, message string)
	// Forget lets a pool that belonged to another operator instance be tried
	// again, after a person allowed to take it over.
	Forget(scope string)
}

// A Note is what an operation waits for.
type Note struct {
	Reason string // CamelCase
	Text   string // one stable line
}

// Reasons of notes that mean that the operation waits for its turn.
const (
	noteWaitingForLock      = "WaitingForLock"
	noteWaitingForOperation = "WaitingForOperation"
)

// IDs makes identities.
type IDs interface {
	// Op names an operation: a version 7 UUID.
	Op() (journal.OpID, error)
	// Pool and Volume name what lasts: random UUIDs, in their text form.
	Pool() (string, error)
	Volume() (string, error)
}

// RandomIDs makes real ones.
type RandomIDs struct{}

var _ IDs = RandomIDs{}

// Op is a version 7 UUID, so that ids sort by the time they were made.
func (RandomIDs) Op() (journal.OpID, error) { return uuid.NewV7() }

// Pool is a random UUID.
func (RandomIDs) Pool() (string, error) { return random() }

// Volume is a random UUID.
func (RandomIDs) Volume() (string, error) { return random() }

func random() (string, error) {
	id, err := uuid.NewRandom()
	return id.String(), err
}

// nobody is the Executor of a process without one: nothing waits.
type nobody struct{}

func (nobody) Notes() map[journal.OpID]Note         { return nil }
func (nobody) FenceProblem(string) (string, string) { return "", "" }
func (nobody) Forget(string)                        {}

// A Recorder records a Kubernetes event. An events.EventRecorder of
// events.k8s.io is one. It does not block.
type Recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Clock tells the time of day, for condition transitions only.
type Clock func() time.Time
