package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statuses bridges the time between an apply and its showing up in the cache.
// Without it a cycle in between would compare with the old status, date the
// same transition anew and write again. It decides nothing else. Safe for
// concurrent use for different clusters.
type statuses struct {
	mu        sync.Mutex
	byCluster map[types.NamespacedName]map[types.UID]appliedStatus
}

// appliedStatus is what was written over the object in version seen. It counts
// as long as the cache still has that version.
type appliedStatus struct {
	seen   string
	status any
}

func newStatuses() *statuses {
	return &statuses{byCluster: map[types.NamespacedName]map[types.UID]appliedStatus{}}
}

// after is the status that was applied over the version of o that the cache
// still has; nil if there is none.
func (s *statuses) after(key types.NamespacedName, o client.Object) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.byCluster[key][o.GetUID()]; ok && a.seen == o.GetResourceVersion() {
		return a.status
	}
	return nil
}

func (s *statuses) applied(key types.NamespacedName, o client.Object, status any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byCluster[key] == nil {
		s.byCluster[key] = map[types.UID]appliedStatus{}
	}
	s.byCluster[key][o.GetUID()] = appliedStatus{seen: o.GetResourceVersion(), status: status}
}

// keep drops what is remembered of objects that are no longer there.
func (s *statuses) keep(key types.NamespacedName, objects []client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make(map[types.UID]bool, len(objects))
	for _, o := range objects {
		there[o.GetUID()] = true
	}
	for uid := range s.byCluster[key] {
		if !there[uid] {
			delete(s.byCluster[key], uid)
		}
	}
}

func (s *statuses) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byCluster, key)
}
