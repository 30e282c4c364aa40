// Package journaltest gives tests a journal that must verify when they end.
package journaltest

import (
	"path/filepath"
	"testing"

	"github.com/gluster/anthill/journal"
)

// Open opens a fresh journal in t.TempDir() with an epoch of its own. When the
// test ends the journal is closed and its file must verify.
func Open(t testing.TB, opts ...func(*journal.Options)) *journal.Journal {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "journal.db"), opts...)
}

// OpenAt is Open for the file at path, which may exist.
func OpenAt(t testing.TB, path string, opts ...func(*journal.Options)) *journal.Journal {
	t.Helper()
	var o journal.Options
	for _, opt := range opts {
		opt(&o)
	}
	j, err := journal.Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("opening journal: %v", err)
	}
	return j
}
