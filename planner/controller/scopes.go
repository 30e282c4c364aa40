package controller

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// scopes knows which cluster a pool belongs to: what the journal tells of a
// pool wakes its cluster. A pool that is not known yet needs no waking, its
// cluster has not been looked at once. Safe for concurrent use.
type scopes struct {
	mu       sync.Mutex
	clusters map[string]types.NamespacedName
}

func newScopes() *scopes { return &scopes{clusters: map[string]types.NamespacedName{}} }

func (s *scopes) set(scope string, key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters[scope] = key
}

func (s *scopes) get(scope string) (types.NamespacedName, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.clusters[scope]
	return key, ok
}

func (s *scopes) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for scope, k := range s.clusters {
		if k == key {
			delete(s.clusters, scope)
		}
	}
}

// all lists the clusters that are known, in no order.
func (s *scopes) all() []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.clusters))
}
