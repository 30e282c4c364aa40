package manager

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/observe"
	"github.com/gluster/anthill/executor/steps"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/planner/controller"
)

// A tenure is the time in which this process is the one that acts. It begins
// with the lease and ends with the process.
type tenure struct {
	mgr      ctrl.Manager
	live     client.Client // not served from a cache
	journal  *journal.Journal
	kept     string
	opts     *Options
	gate     *GateFile
	way      Transport
	dialer   kube.Dialer
	metrics  *executor.Metrics
	people   *people
	health   *health
	log      logr.Logger
	library  logr.Logger
	overtake func(error) // another process of this instance has taken over
}

var (
	_ manager.Runnable               = (*tenure)(nil)
	_ manager.LeaderElectionRunnable = (*tenure)(nil)
)

// NeedLeaderElection is true: nothing of this happens without the lease.
func (t *tenure) NeedLeaderElection() bool { return true }

// Start opens the epoch, recovers, and works until ctx ends.
func (t *tenure) Start(ctx context.Context) error {
	host, _ := os.Hostname() // for people only
	epoch, err := t.journal.OpenEpoch(ctx, journal.Opened{Instance: t.opts.Instance, Host: host, PID: os.Getpid()})
	if err != nil {
		return fmt.Errorf("opening an epoch: %w", err)
	}
	tracker, err := view.Track(ctx, t.journal)
	if err != nil {
		return fmt.Errorf("reading open operations: %w", err)
	}
	marked, err := executor.Recover(ctx, t.journal, tracker, epoch)
	if err != nil {
		// An operation that cannot be marked is looked at before it goes on all the
		// same; it is no reason not to start (R22).
		t.log.Error(err, "marking steps in doubt failed")
	}
	picture, err := tracker.Snapshot()
	if err != nil {
		return fmt.Errorf("reading open operations: %w", err)
	}
	t.log.Info("epoch opened", "epoch", uint64(epoch), "journal", t.journal.ID(), "head", uint64(picture.Head.Seq),
		"open", len(picture.Open), "inDoubt", marked, "instance", t.opts.Instance)

	pods, closePods := t.way.Pods(t.mgr.GetConfig(), t.mgr.GetClient())
	defer closePods()
	engine, reconciler, err := t.build(ctx, epoch, tracker, pods)
	if err != nil {
		return err
	}
	if err := controller.SetupWithManager(t.mgr, reconciler); err != nil {
		return err
	}
	t.people.engine.Store(engine)
	t.health.wait("")
	return engine.Run(ctx)
}

func (t *tenure) build(ctx context.Context, epoch journal.Epoch, tracker *view.Tracker, pods kube.PodDialer) (*executor.Engine, *controller.Reconciler, error) {
	roster := &kube.Roster{Cache: t.mgr.GetClient(), Live: t.live, Dialer: t.dialer, Pods: pods}
	observer := &observe.Observer{Roster: roster, Digest: t.gate.Digest,
		Pods: &kube.PodReader{Cache: t.mgr.GetClient(), Live: t.live}, Landscape: &kube.Landscape{Live: t.live}, Ties: &kube.Ties{Live: t.live}}
	clock := executor.WallClock{}
	shared := &observe.Cache{Observer: observer, Max: steps.FreshMax, Now: clock.Now, Ended: lastEnd(tracker)}
	registry, err := steps.Registry(&world{Roster: roster, Cache: shared, gate: t.gate, instance: t.opts.Instance,
		pods: &kube.Pods{Roster: roster, Client: t.live}})
	if err != nil {
		return nil, nil, err
	}
	log := t.log.WithName("executor")
	var reconciler *controller.Reconciler
	fences := &executor.Fences{
		Journal: t.journal, Epoch: epoch, Instance: t.opts.Instance, Clock: clock, Log: log,
		Anchors: &kube.AnchorStore{Roster: roster, Client: t.live},
		Gates:   &kube.Gates{Servers: roster, Instance: t.opts.Instance},
		Rebuilt: func(scope, why string) { reconciler.Rebuilt(ctx, scope, why) },
	}
	engine := executor.New(t.journal, tracker, registry, epoch, executor.Options{
		Clock: clock, Log: log, Fencer: fences, Fatal: t.overtake, Metrics: t.metrics,
		Settled: func(ctx context.Context, scope string) {
			if err := fences.Publish(ctx, scope); err != nil {
				log.Error(err, "publishing the anchor failed", "scope", scope)
			}
		},
	})
	reconciler = controller.NewReconciler(t.mgr.GetClient(), shared, planner.Plan, t.journal, tracker, controller.Options{
		Instance: t.opts.Instance, NodeImage: t.opts.NodeImage, Epoch: epoch, Kept: t.kept, Resync: time.Duration(t.opts.Resync), Log: t.log.WithName("planner"),
		Executor: waits{engine: engine, fences: fences}, Recorder: t.mgr.GetEventRecorder("anthill"),
	})
	return engine, reconciler, nil
}

// lastEnd tells the ends of a pool's operations apart: the number of the event
// that was the last one.
func lastEnd(tracker *view.Tracker) func(pool string) uint64 {
	return func(pool string) uint64 {
		picture, err := tracker.Snapshot()
		if err != nil {
			return 0 // who plans next meets the same error
		}
		for _, op := range slices.Backward(picture.Recent) {
			if op.Plan.Scope == pool {
				return uint64(op.Last)
			}
		}
		return 0
	}
}
