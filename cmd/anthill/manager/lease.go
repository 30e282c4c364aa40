package manager

import (
	"fmt"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is the lock that the manager waits for. Its holder is the journal, not
// the process: a process that follows a killed one over the same journal, which
// it alone has open, goes on at once instead of waiting for the dead holder's
// term to end. A copy of a journal elsewhere is no matter of the lease: fences
// keep it from doing anything.
func lease(cfg *rest.Config, namespace, journalID string) (resourcelock.Interface, error) {
	core, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the lease's client: %w", err)
	}
	coordination, err := coordinationv1.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the lease's client: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, namespace, leaseName, core, coordination,
		resourcelock.ResourceLockConfig{Identity: "journal-" + journalID})
}
