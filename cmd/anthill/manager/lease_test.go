package manager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// cutLock is a Lease on an API server that stops answering.
type cutLock struct {
	record *resourcelock.LeaderElectionRecord
	cut    <-chan struct{}
	last   time.Time // of a renewal that arrived
}

func (l *cutLock) silent(ctx context.Context) error {
	select {
	case <-l.cut:
		<-ctx.Done()
		return ctx.Err()
	default:
		return nil
	}
}

func (l *cutLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.silent(ctx); err != nil {
		return nil, nil, err
	}
	return l.record, nil, nil
}

func (l *cutLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

func (l *cutLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if err := l.silent(ctx); err != nil {
		return err
	}
	l.record, l.last = &r, time.Now()
	return nil
}

func (*cutLock) RecordEvent(string) {}
func (*cutLock) Identity() string   { return "one" }
func (*cutLock) Describe() string   { return "a lease" }

var _ resourcelock.Interface = (*cutLock)(nil)

// A process that is cut off has ended before anybody else may take its Lease,
// at whatever moment between two renewals that happens.
func TestEndsBeforeTheTermDoes(t *testing.T) {
	for after := time.Second; after < leaseRetry+2*time.Second; after += 100 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			cut := make(chan struct{})
			time.AfterFunc(after, func() { close(cut) })
			lock := &cutLock{record: &resourcelock.LeaderElectionRecord{}, cut: cut}
			var ended time.Time
			e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: leaseTerm, RenewDeadline: leaseRenew, RetryPeriod: leaseRetry, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() { ended = time.Now() },
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			e.Run(t.Context())
			if lock.last.IsZero() || ended.IsZero() {
				t.Fatalf("renewed at last at %v, ended at %v", lock.last, ended)
			}
			if acts := ended.Sub(lock.last); acts >= leaseTerm {
				t.Errorf("cut off after %v it acts for %v after its last renewal, others wait %v", after, acts, leaseTerm)
			}
		})
	}
}
