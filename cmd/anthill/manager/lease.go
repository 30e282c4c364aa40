package manager

import (
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The lease's term. Who cannot renew it tries for leaseRenew, then tries for as
// long to give it back, and only then ends. Another operator must not begin
// before that: the term is longer than all of it.
const (
	leaseTerm  = 25 * time.Second
	leaseRenew = 10 * time.Second
	leaseRetry = 2 * time.Second
)

// lease is the lock that the manager waits for. Its holder is the journal, not
// the process: a process that follows a killed one over the same journal, which
// it alone has open, goes on at once instead of waiting for the dead holder's
// term to end. A copy of a journal elsewhere is no matter of the lease: fences
// keep it from doing anything.
func lease(cfg *rest.Config, namespace, journalID string, told *leaseEvents) (resourcelock.Interface, error) {
	client, err := coordinationv1.NewForConfig(rest.AddUserAgent(cfg, "lease"))
	if err != nil {
		return nil, fmt.Errorf("making the lease's client: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: leaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: "journal-" + journalID, EventRecorder: told},
	}, nil
}

// leaseEvents tells who became the active one, in events.k8s.io as all our
// events: there is no right to write others. The recorder comes later than the
// lease it is for. Safe for concurrent use.
type leaseEvents struct {
	to atomic.Pointer[events.EventRecorder]
}

var _ resourcelock.EventRecorder = (*leaseEvents)(nil)

func (l *leaseEvents) set(r events.EventRecorder) { l.to.Store(&r) }

// Eventf records an event.
func (l *leaseEvents) Eventf(o runtime.Object, kind, reason, message string, args ...any) {
	if r := l.to.Load(); r != nil {
		(*r).Eventf(o, nil, kind, reason, reason, message, args...)
	}
}
