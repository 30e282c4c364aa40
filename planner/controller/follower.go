package controller

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A Follower reads the journal from where it ended when the Follower was made,
// each event once. It wakes the cluster an event is about, and tells people of
// operations that began or ended. It is the controller's source of changes in
// the journal.
type Follower struct {
	r     *Reconciler
	next  atomic.Uint64 // number of the first event not handled
	queue queue
}

// queue is what a Follower needs of the controller's.
type queue interface {
	Add(item reconcile.Request)
	AddAfter(item reconcile.Request, d time.Duration)
}

var _ source.Source = (*Follower)(nil)

// NewFollower makes a Follower that starts behind the present head.
func NewFollower(r *Reconciler) *Follower {
	f := &Follower{r: r}
	f.next.Store(uint64(r.journal.Head().Seq) + 1)
	return f
}

// Seen is the number of the last event that has been handled.
func (f *Follower) Seen() journal.Seq { return journal.Seq(f.next.Load() - 1) }

// Start follows until ctx ends. It does not block; a controller calls it once.
func (f *Follower) Start(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	f.queue = q
	changed, stop := f.r.journal.Watch()
	go func() {
		defer stop()
		f.follow(ctx, changed)
	}()
	return nil
}

const (
	// pageMax is how many events are read at a time.
	pageMax = 256
	// settle is how long steps may follow each other before their cluster is
	// looked at: an operation that goes on is no news, one that ends is.
	settle = 2 * time.Second
	// reread is when a journal that could not be read is tried again.
	reread = 5 * time.Second
)

func (f *Follower) follow(ctx context.Context, changed <-chan struct{}) {
	for {
		events, err := f.r.journal.Read(f.Seen()+1, pageMax)
		if err != nil {
			log.FromContext(ctx).Error(err, "following the journal failed", "seq", uint64(f.Seen())+1)
			if !sleep(ctx, reread) {
				return
			}
			continue
		}
		for i := range events {
			f.handle(ctx, &events[i])
			f.next.Store(uint64(events[i].Seq) + 1)
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (f *Follower) handle(ctx context.Context, ev *journal.Event) {
	if ev.Op == (journal.OpID{}) {
		if ev.Type == journal.IntentReleased {
			f.wakeAll() // which pool it belongs to is not in the event
		}
		return
	}
	op, err := f.r.view.Op(ev.Op)
	if err != nil {
		log.FromContext(ctx).Error(err, "following the journal: operation not readable", "operation", ev.Op, "seq", uint64(ev.Seq))
		return
	}
	// What the planner wrote it knows already.
	if key, ok := f.r.scopes.get(op.Plan.Scope); ok && ev.Actor != actor {
		f.wake(key, ev.Type)
	}
	f.tell(ctx, ev, op)
}

func (f *Follower) wake(key types.NamespacedName, t journal.Type) {
	req := reconcile.Request{NamespacedName: key}
	switch t {
	case journal.OpStarted, journal.StepStarted, journal.StepReceipt, journal.StepProgress, journal.StepSucceeded,
		journal.StepFailed, journal.StepUnknown, journal.StepResolved, journal.StepCompensated:
		f.queue.AddAfter(req, settle)
	default:
		f.queue.Add(req)
	}
}

func (f *Follower) wakeAll() {
	for _, key := range f.r.scopes.all() {
		f.queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// tell records what became of an operation with the object it is for; with its
// cluster, if the object is no longer there.
func (f *Follower) tell(ctx context.Context, ev *journal.Event, op *view.Op) {
	news := newsOf(ev, op)
	if len(news) == 0 {
		return
	}
	o := f.regarding(ctx, op)
	if o == nil {
		return
	}
	for _, n := range news {
		// The operation makes the action unique: two operations of a kind on one
		// object are two events.
		f.r.tell(o, n.kind, n.reason, op.Plan.Kind+"/"+op.ID.String(), n.note)
	}
}

func (f *Follower) regarding(ctx context.Context, op *view.Op) client.Object {
	kind, key, ok := parseObject(op.Plan.Object)
	if o := newObject(kind); ok && o != nil && f.r.client.Get(ctx, key, o) == nil {
		return o
	}
	if key, ok := f.r.scopes.get(op.Plan.Scope); ok {
		if o := (&v1alpha1.GlusterCluster{}); f.r.client.Get(ctx, key, o) == nil {
			return o
		}
	}
	return nil // nobody is left to be told
}
