package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// Options of a Reconciler. The zero value of each field has a working default.
type Options struct {
	// Instance is this operator's name among operators. Default: empty.
	Instance string
	// NodeImage is what pods run unless a cluster says. Default: empty.
	NodeImage string
	// Epoch that is open; every append is guarded by it. 0 guards nothing.
	Epoch journal.Epoch
	// Kept is the file a damaged journal was moved to when this process started.
	// Default: empty, there was none.
	Kept string
	// Resync is how long a cluster is left alone when nothing tells of a change.
	// Default 30 s.
	Resync time.Duration
	// Busy is the same while an operation of the pool is open, so that status
	// shows what it waits for. Default 5 s, never more than Resync.
	Busy time.Duration
	// Deadline bounds one cycle. Default 2 min.
	Deadline time.Duration
	// Executor says what operations wait for. Default: they wait for nothing.
	Executor Executor
	// IDs makes identities. Default RandomIDs.
	IDs IDs
	// Recorder gets Kubernetes events. Default: they are dropped.
	Recorder Recorder
	// Log gets what the controllers do. Default: that of the context.
	Log logr.Logger
	// Clock dates condition transitions. Default time.Now.
	Clock Clock
}

func (o *Options) defaults() {
	if o.Resync == 0 {
		o.Resync = 30 * time.Second
	}
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	o.Busy = min(o.Busy, o.Resync)
	if o.Deadline == 0 {
		o.Deadline = 2 * time.Minute
	}
	if o.Executor == nil {
		o.Executor = nobody{}
	}
	if o.IDs == nil {
		o.IDs = RandomIDs{}
	}
	if o.Recorder == nil {
		o.Recorder = silence{}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
}

// A Reconciler looks after one GlusterCluster per call, with the GlusterNodes
// and GlusterVolumes that name it. Safe for concurrent use for different
// clusters.
type Reconciler struct {
	client   client.Client // reads come from a cache and may be old
	observer Observer
	plan     func(planner.Snapshot) planner.Decision
	journal  Journal
	view     View
	opts     Options

	scopes *scopes
	said   *said
	status *statuses
	guests guests
}

// NewReconciler makes a Reconciler that decides with plan, which is
// planner.Plan and must be pure. c must have the indexes of Index.
func NewReconciler(c client.Client, o Observer, plan func(planner.Snapshot) planner.Decision, j Journal, v View, opts Options) *Reconciler {
	opts.defaults()
	return &Reconciler{client: c, observer: o, plan: plan, journal: j, view: v, opts: opts,
		scopes: newScopes(), said: newSaid(), status: newStatuses()}
}

// A cycle is what one Reconcile has found out so far.
type cycle struct {
	key      types.NamespacedName
	cluster  *v1alpha1.GlusterCluster
	nodes    []v1alpha1.GlusterNode
	volumes  []v1alpha1.GlusterVolume
	snapshot planner.Snapshot
	decision planner.Decision
	open     []*view.Op // of the pool, after the append
	notes    map[journal.OpID]Note
	full     bool // the journal takes no new plans
}

// errAgain ends a cycle whose picture turned out to be old: the next one starts
// with a newer one.
var errAgain = errors.New("the picture was old")

// again waits for the caches to catch up.
const again = 200 * time.Millisecond

// Reconcile runs one cycle for a cluster.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Deadline)
	defer cancel()

	c := &cycle{key: req.NamespacedName, cluster: &v1alpha1.GlusterCluster{}}
	if err := r.client.Get(ctx, c.key, c.cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.scopes.forget(c.key)
			r.said.forget(c.key)
			r.status.forget(c.key)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading cluster %q: %w", c.key, err)
	}
	err := r.run(ctx, c)
	switch {
	case errors.Is(err, errAgain) || apierrors.IsConflict(err):
		log.FromContext(ctx).V(1).Info("looking again", "reason", err.Error())
		return ctrl.Result{RequeueAfter: again}, nil
	case err != nil:
		return ctrl.Result{}, err
	case len(c.open) > 0:
		return ctrl.Result{RequeueAfter: r.opts.Busy}, nil
	}
	return ctrl.Result{RequeueAfter: r.opts.Resync}, nil
}

// run is the order of a cycle: what must be durable before something else comes
// before it.
func (r *Reconciler) run(ctx context.Context, c *cycle) error {
	if err := r.children(ctx, c); err != nil {
		return err
	}
	if err := r.protect(ctx, c); err != nil {
		return err
	}
	r.checkAnchor(ctx, c)
	if err := r.gather(ctx, c); err != nil {
		return err
	}
	c.decision = r.plan(c.snapshot)
	if err := r.identify(ctx, c); err != nil {
		return err
	}
	appendErr := r.record(ctx, c)
	if errors.Is(appendErr, errAgain) {
		return appendErr
	}
	c.full = journal.IsFull(appendErr)
	var failed failures
	failed.add(appendErr)
	if err := r.refresh(c); err != nil {
		failed.add(err)
		return failed.err()
	}
	failed.add(r.templates(ctx, c))
	// Status is written even when the plan could not be: it is how a person
	// learns of it.
	failed.add(r.release(ctx, c), r.report(ctx, c))
	return failed.err()
}
