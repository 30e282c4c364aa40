package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner/controller"
)

const (
	// graceMax is how long a stopping process waits for what is under way.
	graceMax = 20 * time.Second
	// closeMax is how long it waits for the journal after that.
	closeMax = 5 * time.Second
	// retryWait is between tries to reach the API server.
	retryWait = 2 * time.Second
)

// An endedError is why the process ended by itself.
type endedError struct{ error }

func (e *endedError) Unwrap() error { return e.error }

// Run is the manager, until ctx ends or something ends it. logTo gets the log.
// build is the release, for the journal. It may be called once per process. A
// nil error means that ctx ended and that what was under way has returned.
func Run(ctx context.Context, o *Options, build string, logTo io.Writer) error {
	if err := crash.Arm(); err != nil {
		return err
	}
	l, err := newLog(logTo, o.LogLevel.Value, o.LogFormat.Value)
	if err != nil {
		return err
	}
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = run(own, cancel, o, build, l)
	var ended *endedError
	switch {
	case errors.As(context.Cause(own), &ended):
		return ended // whatever else went wrong followed from it
	case ctx.Err() != nil:
		l.own.Info("stopped", "reason", context.Cause(ctx).Error(), "state", fmt.Sprint(err))
		return nil
	}
	return err
}

func run(ctx context.Context, cancel context.CancelCauseFunc, o *Options, build string, l *logs) error {
	log := l.own
	h := newHealth()
	stop, err := h.serve(ctx, o.HealthAddress)
	if err != nil {
		return err
	}
	defer stop()
	gate, err := NewGateFile(o.GateBinary)
	if err != nil {
		return err
	}
	open := &opener{path: o.Journal, log: log, health: h, now: time.Now, opts: journal.Options{Build: build,
		CrashPoint: func(name string) { crash.Here(name) }, Logger: l.slog,
		Fatal: func(err error) { fatal(log, err) }}}
	j, kept, err := open.open(ctx)
	if err != nil {
		return err
	}
	defer closeJournal(log, j)
	for _, f := range j.Repaired() {
		log.Info("journal repaired", "seq", uint64(f.Seq), "key", f.Key, "what", f.What)
	}
	end := func(err error) { cancel(&endedError{err}) }
	return serve(ctx, end, &tenure{journal: j, kept: kept, opts: o, gate: gate, metrics: executor.NewMetrics(),
		people: &people{}, health: h, log: log, library: l.library,
		overtake: func(err error) { end(fmt.Errorf("another process of this instance has taken over: %w", err)) }})
}

// serve runs the manager around a tenure whose journal is open.
func serve(ctx context.Context, end func(error), t *tenure) error {
	served := make(chan struct{})
	serving, stop := context.WithCancel(ctx)
	go func() {
		defer close(served)
		if err := journal.Serve(serving, t.journal, journal.SocketPath(t.opts.Journal), t.people); err != nil && serving.Err() == nil {
			end(fmt.Errorf("serving the journal: %w", err))
		}
	}()
	defer func() { stop(); <-served }()

	var err error
	if t.way, err = ParseTransport(t.opts.GateTransport); err != nil {
		return err
	}
	var closeAll func()
	t.dialer, closeAll = t.way.Dialer()
	defer closeAll()

	if err := registerMetrics(t); err != nil {
		return err
	}
	if t.mgr, t.live, err = connect(ctx, t); err != nil {
		return err
	}
	if err := t.mgr.Add(t); err != nil {
		return err
	}
	if t.opts.LeaderElect {
		t.log.Info("waiting for the lease", "namespace", t.opts.LeaseNamespace, "name", leaseName)
	}
	t.health.wait("waiting for the lease")
	err = t.mgr.Start(ctx)
	t.health.wait("stopping")
	if err != nil {
		return fmt.Errorf("the manager ended: %w", err) // a lost lease is one of the reasons
	}
	return nil
}

func registerMetrics(t *tenure) error {
	if err := t.metrics.Register(metrics.Registry); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := metrics.Registry.Register(newJournalMetrics(t.journal.Stats)); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	return nil
}

// Scheme knows our kinds and those of Kubernetes that are read.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(v1alpha1.AddToScheme(s), corev1.AddToScheme(s), appsv1.AddToScheme(s))
}

// RestConfig says how the API server is reached: by the file at path, or if
// that is empty by $KUBECONFIG, ~/.kube/config or the pod's own account.
func RestConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	cfg.UserAgent = "anthill"
	cfg.QPS, cfg.Burst = 50, 100
	return cfg, nil
}

// connect makes the manager and a client that is not served from a cache. It
// tries, as long as ctx lasts, until the API server answers and knows our kinds.
func connect(ctx context.Context, t *tenure) (ctrl.Manager, client.Client, error) {
	cfg, err := RestConfig(t.opts.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	for said := ""; ; {
		mgr, live, err := newManager(ctx, cfg, t.opts, t.journal.ID(), t.library)
		if err == nil {
			return mgr, live, nil
		}
		if text := err.Error(); text != said {
			said = text
			t.log.Info("waiting for the API server", "reason", text)
			t.health.wait("waiting for the API server: " + text)
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("waiting for the API server: %w", context.Cause(ctx))
		case <-time.After(retryWait):
		}
	}
}

func newManager(ctx context.Context, cfg *rest.Config, o *Options, journalID string, library logr.Logger) (ctrl.Manager, client.Client, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, nil, err
	}
	told := &leaseEvents{}
	lock, err := lease(cfg, o.LeaseNamespace, journalID, told)
	if err != nil {
		return nil, nil, err
	}
	grace, term, renew, retry := graceMax, leaseTerm, leaseRenew, leaseRetry
	opts := ctrl.Options{
		Scheme: scheme, Logger: library,
		Metrics:                             metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:              "0", // served since before there was a journal
		LeaderElection:                      o.LeaderElect,
		LeaderElectionResourceLockInterface: lock,
		LeaseDuration:                       &term,
		RenewDeadline:                       &renew,
		RetryPeriod:                         &retry,
		// The process ends right after the manager has stopped.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &grace,
		// Secrets are read one at a time, when a node names them: RBAC permits no more.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	}
	if opts.Cache.ByObject, err = Cached(); err != nil {
		return nil, nil, err
	}
	if len(o.Namespaces) > 0 {
		opts.Cache.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range o.Namespaces {
			opts.Cache.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	mgr, err := ctrl.NewManager(cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	told.set(mgr.GetEventRecorder("anthill"))
	live, err := client.New(cfg, client.Options{Scheme: scheme, Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return nil, nil, err
	}
	return mgr, live, controller.Index(ctx, mgr.GetFieldIndexer())
}

// closeJournal ends the epoch in good order. It waits a bounded time: the next
// process finds out as well from an epoch that was not closed.
func closeJournal(log logr.Logger, j *journal.Journal) {
	done := make(chan error, 1)
	go func() { done <- j.Close() }()
	select {
	case err := <-done:
		if err != nil {
			log.Error(err, "closing the journal failed")
		}
	case <-time.After(closeMax):
		log.Info("the journal was not closed in time", "after", closeMax.String())
	}
}
