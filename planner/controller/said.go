package controller

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// saidMax bounds what is remembered per cluster. When it is reached all is
// forgotten, and something may be said a second time.
const saidMax = 512

// said remembers what people were told, so that a fact which is found anew in
// each cycle is told once. Safe for concurrent use.
type said struct {
	mu        sync.Mutex
	byCluster map[types.NamespacedName]map[string]bool
}

func newSaid() *said { return &said{byCluster: map[types.NamespacedName]map[string]bool{}} }

// first reports whether what was not said of the cluster before, and remembers
// it.
func (s *said) first(cluster types.NamespacedName, what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byCluster[cluster]
	if m[what] {
		return false
	}
	if m == nil || len(m) >= saidMax {
		m = map[string]bool{}
		s.byCluster[cluster] = m
	}
	m[what] = true
	return true
}

func (s *said) forget(cluster types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byCluster, cluster)
}

// with lists what follows prefix in what was said of the cluster, sorted.
func (s *said) with(cluster types.NamespacedName, prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for what := range s.byCluster[cluster] {
		if rest, ok := strings.CutPrefix(what, prefix); ok {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}
